package bench

import (
	"context"
	"testing"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/system"
)

type ping struct{}

// BenchmarkAsk is one question to an actor and its answer.
func BenchmarkAsk(b *testing.B) {
	sys := system.New(system.Config{})
	b.Cleanup(sys.Close)
	pid := sys.Root().Spawn(sys.Props(func() actor.Actor {
		return actor.ReceiveFunc(func(ctx actor.Context) {
			if m, ok := ctx.Message().(*ping); ok {
				ctx.Respond(m)
			}
		})
	}))
	ctx, msg := context.Background(), &ping{}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := sys.Ask(ctx, pid, msg); err != nil {
			b.Fatal(err)
		}
	}
	require.NoError(b, sys.Root().StopFuture(pid).Wait())
}

// BenchmarkChannel is the floor of BenchmarkAsk: the same question to a
// goroutine, over two channels.
func BenchmarkChannel(b *testing.B) {
	ask, reply := make(chan *ping), make(chan *ping)
	go func() {
		for m := range ask {
			reply <- m
		}
		close(reply)
	}()
	msg := &ping{}
	b.ReportAllocs()
	for b.Loop() {
		ask <- msg
		<-reply
	}
	close(ask)
	<-reply
}
