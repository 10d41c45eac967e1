package system_test

import (
	"context"
	"sync"
	"testing"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/troupe-go/troupe/actors/system"
)

// The benchmarks compare the same actors on our pool and on protoactor's
// dispatcher, which starts a goroutine for each activation.
var dispatchers = map[string][]actor.PropsOption{
	"pooled":  nil,
	"default": {actor.WithDispatcher(actor.NewDefaultDispatcher(300))},
}

func benchmarkWith(b *testing.B, f func(b *testing.B, s *system.System, opts []actor.PropsOption)) {
	for _, name := range []string{"pooled", "default"} {
		b.Run("dispatcher="+name, func(b *testing.B) {
			s := system.New(system.Config{})
			defer s.Close()
			b.ReportAllocs()
			f(b, s, dispatchers[name])
		})
	}
}

func receive(s *system.System, opts []actor.PropsOption, f actor.ReceiveFunc) *actor.Props {
	return s.Props(func() actor.Actor { return f }, opts...)
}

func stopAll(b *testing.B, s *system.System, pids ...*actor.PID) {
	for _, pid := range pids {
		if err := s.Root().StopFuture(pid).Wait(); err != nil {
			b.Fatal(err)
		}
	}
}

func echo(ctx actor.Context) {
	if ctx.Sender() != nil {
		ctx.Respond(ctx.Message())
	}
}

func BenchmarkAsk(b *testing.B) {
	benchmarkWith(b, func(b *testing.B, s *system.System, opts []actor.PropsOption) {
		pid := s.Root().Spawn(receive(s, opts, echo))
		defer stopAll(b, s, pid)
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		msg := any("ping")
		for b.Loop() {
			if _, err := s.Ask(ctx, pid, msg); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkPingPong measures one message between two actors.
func BenchmarkPingPong(b *testing.B) {
	benchmarkWith(b, func(b *testing.B, s *system.System, opts []actor.PropsOption) {
		done := make(chan struct{})
		pong := s.Root().Spawn(receive(s, opts, echo))
		left := b.N
		ping := s.Root().Spawn(receive(s, opts, func(ctx actor.Context) {
			if ctx.Message() != "ball" {
				return
			}
			if left -= 2; left <= 0 {
				close(done)
				return
			}
			ctx.Request(pong, "ball")
		}))
		defer stopAll(b, s, ping, pong)
		b.ResetTimer()
		s.Root().Send(ping, "ball")
		<-done
	})
}

// BenchmarkFanOut measures one message to each of 64 idle actors, all handled.
func BenchmarkFanOut(b *testing.B) {
	const width = 64
	benchmarkWith(b, func(b *testing.B, s *system.System, opts []actor.PropsOption) {
		var handled sync.WaitGroup
		var pids []*actor.PID
		for range width {
			pids = append(pids, s.Root().Spawn(receive(s, opts, func(ctx actor.Context) {
				if ctx.Message() == "work" {
					handled.Done()
				}
			})))
		}
		defer stopAll(b, s, pids...)
		for b.Loop() {
			handled.Add(width)
			for _, pid := range pids {
				s.Root().Send(pid, "work")
			}
			handled.Wait()
		}
	})
}

// BenchmarkSpawnStop measures an actor's whole life.
func BenchmarkSpawnStop(b *testing.B) {
	benchmarkWith(b, func(b *testing.B, s *system.System, opts []actor.PropsOption) {
		stopped := make(chan struct{}, 1)
		props := receive(s, opts, func(ctx actor.Context) {
			if _, ok := ctx.Message().(*actor.Stopped); ok {
				stopped <- struct{}{}
			}
		})
		for b.Loop() {
			s.Root().Stop(s.Root().Spawn(props))
			<-stopped
		}
	})
}
