package system_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/system"
	"github.com/troupe-go/troupe/messages"
)

// A panic in a lifecycle message restarts an actor that was told to stop, or
// hangs its parent, when nobody recovers it.
func TestPanicWhileEnding(t *testing.T) {
	cases := map[string]func(msg any) bool{
		"in Stopping": func(msg any) bool { _, ok := msg.(*actor.Stopping); return ok },
		"in Stopped":  func(msg any) bool { _, ok := msg.(*actor.Stopped); return ok },
		"in both": func(msg any) bool {
			_, stopping := msg.(*actor.Stopping)
			_, stopped := msg.(*actor.Stopped)
			return stopping || stopped
		},
		"in a child's Terminated": func(msg any) bool { _, ok := msg.(*actor.Terminated); return ok },
	}
	for name, panics := range cases {
		t.Run(name, func(t *testing.T) {
			b := setup(t)
			var starts atomic.Int32
			ready := make(chan struct{})
			grandchild := b.props(func(actor.Context) {})
			child := b.props(func(ctx actor.Context) {
				if panics(ctx.Message()) {
					panic("on purpose")
				}
				if _, ok := ctx.Message().(*actor.Started); ok {
					ctx.Spawn(grandchild)
					if starts.Add(1) == 1 {
						close(ready)
					}
				}
			})
			parent := b.spawn(func(ctx actor.Context) {
				if _, ok := ctx.Message().(*actor.Started); ok {
					ctx.Spawn(child)
				}
			})
			await(b, ready)
			b.stopped(parent)
			require.EqualValues(t, 1, starts.Load(), "restarted instead of stopped")
			require.Contains(t, b.logs.String(), "an ending actor panicked")
			require.Contains(t, b.logs.String(), "guard_test.go", "the log has the stack")
		})
	}
}

func TestPanicInRestartingStillRestarts(t *testing.T) {
	b := setup(t)
	var starts atomic.Int32
	pid := b.spawn(func(ctx actor.Context) {
		switch msg := ctx.Message().(type) {
		case *actor.Started:
			starts.Add(1)
		case *actor.Restarting:
			panic("again")
		case string:
			if msg == "panic" {
				panic("first")
			}
			ctx.Respond(int(starts.Load()))
		}
	})
	b.Root().Send(pid, "panic")
	got, err := system.Ask[int](b.ctx, b.System, pid, "starts?")
	require.NoError(t, err)
	require.Equal(t, 2, got)
}

// A restart that comes after a stop makes protoactor forget the stop: the
// parent waits for ever.
func TestRestartDoesNotUndoAStop(t *testing.T) {
	b := setup(t)
	var starts atomic.Int32
	entered, leave := make(chan struct{}), make(chan struct{})
	grandchild := b.props(func(ctx actor.Context) {
		if ctx.Message() == "block" {
			close(entered)
			<-leave
		}
	})
	pids := make(chan *actor.PID, 4)
	stopping, gone := make(chan struct{}), make(chan struct{})
	child := b.props(func(ctx actor.Context) {
		switch ctx.Message().(type) {
		case *actor.Started:
			starts.Add(1)
			pids <- ctx.Self()
			pids <- ctx.Spawn(grandchild)
		case *actor.Stopping:
			close(stopping)
		}
	})
	parent := b.spawn(func(ctx actor.Context) {
		switch ctx.Message().(type) {
		case *actor.Started:
			ctx.Spawn(child)
		case *actor.Stopped:
			close(gone)
		}
	})
	childPID, grandchildPID := await(b, pids), await(b, pids)
	b.Root().Send(grandchildPID, "block")
	await(b, entered)

	b.Root().Stop(parent)
	await(b, stopping)
	b.restart(childPID)
	close(leave)
	await(b, gone)
	require.EqualValues(t, 1, starts.Load())
}

// A restart queued behind a stop makes protoactor start an incarnation that
// nobody knows.
func TestRestartBehindAStopStartsNobody(t *testing.T) {
	b := setup(t)
	var starts atomic.Int32
	entered, leave := make(chan struct{}), make(chan struct{})
	pid := b.spawn(func(ctx actor.Context) {
		switch msg := ctx.Message().(type) {
		case *actor.Started:
			starts.Add(1)
		case string:
			if msg == "block" {
				close(entered)
				<-leave
			}
		}
	})
	b.Root().Send(pid, "block")
	await(b, entered)
	process, ok := b.Actors().ProcessRegistry.Get(pid)
	require.True(t, ok)
	b.Root().Stop(pid)
	process.SendSystemMessage(pid, &actor.Restart{})
	probe := make(chan struct{})
	watcher := b.spawn(func(ctx actor.Context) {
		if _, ok := ctx.Message().(*actor.Terminated); ok {
			close(probe)
		}
	})
	// Behind both: who is told of the end by this Watch knows that both are done.
	process.SendSystemMessage(pid, &actor.Watch{Watcher: watcher})
	close(leave)
	await(b, probe)
	require.EqualValues(t, 1, starts.Load())
}

func explode() { panic(errors.New("the reason")) }

func TestStopFailed(t *testing.T) {
	b := setup(t)
	type report struct {
		child *actor.PID
		f     *system.Failure
	}
	reports, gone := make(chan report, 1), make(chan *actor.PID, 1)
	var starts atomic.Int32
	child := b.props(func(ctx actor.Context) {
		switch ctx.Message().(type) {
		case *actor.Started:
			starts.Add(1)
		case *messages.CancelCall:
			explode()
		}
	})
	started := make(chan *actor.PID, 1)
	parent := b.spawn(func(ctx actor.Context) {
		switch msg := ctx.Message().(type) {
		case *actor.Started:
			started <- ctx.Spawn(child)
		case *actor.Terminated:
			gone <- msg.Who
		}
	}, actor.WithSupervisor(system.StopFailed(func(child *actor.PID, f *system.Failure) {
		reports <- report{child, f}
	})))
	pid := await(b, started)
	b.Root().Send(pid, &messages.CancelCall{ID: "the content"})

	got := await(b, reports)
	require.True(t, got.child.Equal(pid))
	require.EqualError(t, got.f.Reason.(error), "the reason")
	require.Contains(t, string(got.f.Stack), "explode", "the stack shows where")
	require.Equal(t, &messages.CancelCall{ID: "the content"}, got.f.Message)
	require.Equal(t, "panic while handling *messages.CancelCall: the reason", got.f.String())
	require.True(t, await(b, gone).Equal(pid))
	require.EqualValues(t, 1, starts.Load(), "it must not restart")
	require.NotContains(t, b.logs.String(), "the content")
	b.stopped(parent)
}

func TestFailureOf(t *testing.T) {
	require.Nil(t, system.FailureOf(nil))
	f := &system.Failure{Reason: "r"}
	require.Same(t, f, system.FailureOf(f))
	require.Equal(t, "panic: bare", system.FailureOf("bare").String())
}

// supervisorActor is its own strategy.
type supervisorActor struct {
	child   *actor.Props
	handled chan any
	spawned chan *actor.PID
}

func (a *supervisorActor) Receive(ctx actor.Context) {
	if _, ok := ctx.Message().(*actor.Started); ok {
		a.spawned <- ctx.Spawn(a.child)
	}
}

func (a *supervisorActor) HandleFailure(_ *actor.ActorSystem, s actor.Supervisor, child *actor.PID, _ *actor.RestartStatistics, reason, _ any) {
	s.StopChildren(child)
	a.handled <- reason
}

func TestAnActorMayBeItsOwnStrategy(t *testing.T) {
	b := setup(t)
	a := &supervisorActor{
		child: b.props(func(ctx actor.Context) {
			if ctx.Message() == "panic" {
				panic("mine")
			}
		}),
		handled: make(chan any, 1), spawned: make(chan *actor.PID, 1),
	}
	parent := b.Root().Spawn(b.Props(func() actor.Actor { return a }))
	b.Root().Send(await(b, a.spawned), "panic")
	require.Equal(t, "mine", system.FailureOf(await(b, a.handled)).Reason)
	b.stopped(parent)
}

// protoactor's default stops an actor silently at the eleventh panic in ten
// seconds, root actors included.
func TestDefaultStrategyNeverStopsAnActor(t *testing.T) {
	const panics = 25
	b := setup(t)
	behave := func(ctx actor.Context) {
		switch ctx.Message() {
		case "panic":
			panic("again")
		case "ping":
			ctx.Respond("pong")
		}
	}
	root := b.spawn(behave)
	spawned := make(chan *actor.PID, 1)
	b.spawn(func(ctx actor.Context) {
		if _, ok := ctx.Message().(*actor.Started); ok {
			spawned <- ctx.Spawn(b.props(behave))
		}
	})
	for name, pid := range map[string]*actor.PID{"root": root, "child": await(b, spawned)} {
		t.Run(name, func(t *testing.T) {
			var waited time.Duration
			for i := range panics {
				b.Root().Send(pid, "panic")
				if i >= 10 { // from here on it waits before it restarts
					require.NoError(t, b.world.BlockUntil(b.ctx, 1))
					wait := b.world.Pending()[0]
					waited = max(waited, wait)
					b.world.Advance(wait)
				}
				got, err := system.Ask[string](b.ctx, b.System, pid, "ping")
				require.NoError(t, err)
				require.Equal(t, "pong", got)
			}
			require.Greater(t, waited, 10*time.Second, "the wait must grow")
			require.LessOrEqual(t, waited, 30*time.Second)
		})
	}
	require.Equal(t, 2*panics, strings.Count(b.logs.String(), "an actor panicked and is restarted"), "each is said")
}

func TestLogsShowTypesOnly(t *testing.T) {
	b := setup(t)
	dead := b.spawn(func(actor.Context) {})
	b.stopped(dead)
	b.Root().Send(dead, &messages.RunAgent{Query: "the content"})
	require.Contains(t, b.logs.String(), "actor system started", "protoactor logs to our logger")
	require.Contains(t, b.logs.String(), `msg="dead letter"`)
	require.Contains(t, b.logs.String(), "*messages.RunAgent")
	require.NotContains(t, b.logs.String(), "the content")
	require.NotContains(t, b.logs.String(), "[DeadLetter]")
}
