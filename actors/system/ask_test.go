package system_test

import (
	"context"
	"errors"
	"testing"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/system"
	"github.com/troupe-go/troupe/messages"
)

func TestAskTakesTheFirstReply(t *testing.T) {
	b := setup(t)
	twice := b.spawn(func(ctx actor.Context) {
		if n, ok := ctx.Message().(int); ok {
			ctx.Respond(n)
			ctx.Respond(-n)
		}
	})
	for n := 1; n <= 2000; n++ {
		got, err := system.Ask[int](b.ctx, b.System, twice, n)
		require.NoError(t, err)
		require.Equal(t, n, got)
	}
}

func TestAskLeavesNothingBehind(t *testing.T) {
	b := setup(t)
	asked := make(chan struct{}, 1)
	silent := b.spawn(func(ctx actor.Context) {
		if ctx.Message() == "?" {
			asked <- struct{}{}
		}
	})
	before := b.registered()

	t.Run("cancelled while it waits", func(t *testing.T) {
		ctx, cancel := context.WithCancel(b.ctx)
		failed := make(chan error, 1)
		b.Go(func() {
			_, err := b.Ask(ctx, silent, "?")
			failed <- err
		})
		await(b, asked)
		require.Equal(t, before+1, b.registered())
		cancel()
		err := await(b, failed)
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorContains(t, err, silent.Id)
	})
	t.Run("cancelled before", func(t *testing.T) {
		ctx, cancel := context.WithCancel(b.ctx)
		cancel()
		_, err := b.Ask(ctx, silent, "?")
		require.ErrorIs(t, err, context.Canceled)
		require.Empty(t, asked)
	})
	require.Equal(t, before, b.registered())
}

func TestAskOfNobody(t *testing.T) {
	b := setup(t)
	dead := b.spawn(func(actor.Context) {})
	b.stopped(dead)
	for name, pid := range map[string]*actor.PID{
		"stopped":      dead,
		"never was":    actor.NewPID(dead.Address, "nobody"),
		"unknown node": actor.NewPID("elsewhere", "somebody"),
		"nil":          nil,
	} {
		t.Run(name, func(t *testing.T) {
			_, err := b.Ask(b.ctx, pid, "?")
			require.ErrorIs(t, err, system.ErrDeadLetter)
			var dl *system.DeadLetterError
			require.ErrorAs(t, err, &dl)
			require.Equal(t, pid, dl.Target)
			require.NotEmpty(t, err.Error())
		})
	}
}

func TestAskIsToldWhenTheActorStopsFirst(t *testing.T) {
	// protoactor drops what is queued behind a stop, without a dead letter.
	// Two requests are queued while the actor is busy; then it ends.
	ends := map[string]func(b *bundle, busy *actor.PID){
		"stopped": func(b *bundle, busy *actor.PID) { b.Root().Stop(busy) },
		"failed":  func(b *bundle, busy *actor.PID) { b.Root().Send(busy, "panic") },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			b := setup(t)
			entered, leave := make(chan struct{}), make(chan struct{})
			busy := b.props(func(ctx actor.Context) {
				switch ctx.Message() {
				case "block":
					close(entered)
					<-leave
				case "panic":
					panic("no")
				case "?":
					ctx.Respond("an answer that nobody may get")
				}
			})
			ready := make(chan *actor.PID, 1)
			b.spawn(func(ctx actor.Context) {
				if _, ok := ctx.Message().(*actor.Started); ok {
					ready <- ctx.Spawn(busy)
				}
			}, actor.WithSupervisor(system.StopFailed(nil)))
			pid := await(b, ready)
			replies := make(chan any, 2)
			probe := b.spawn(func(ctx actor.Context) {
				if _, ok := ctx.Message().(*actor.DeadLetterResponse); ok || ctx.Message() == "an answer that nobody may get" {
					replies <- ctx.Message()
				}
			})

			b.Root().Send(pid, "block")
			await(b, entered)
			end(b, pid)
			b.Root().RequestWithCustomSender(pid, "?", probe)
			b.Root().RequestWithCustomSender(pid, "?", probe)
			close(leave)
			require.IsType(t, &actor.DeadLetterResponse{}, await(b, replies))
			require.IsType(t, &actor.DeadLetterResponse{}, await(b, replies))
		})
	}
}

func TestTypedAsk(t *testing.T) {
	b := setup(t)
	echo := b.spawn(func(ctx actor.Context) {
		if ctx.Sender() != nil {
			ctx.Respond(ctx.Message())
		}
	})
	t.Run("reply", func(t *testing.T) {
		got, err := system.Ask[*messages.Stop](b.ctx, b.System, echo, &messages.Stop{Run: "r"})
		require.NoError(t, err)
		require.Equal(t, "r", got.Run)
	})
	t.Run("error", func(t *testing.T) {
		sent := errors.New("no")
		_, err := system.Ask[string](b.ctx, b.System, echo, sent)
		require.Equal(t, sent, err)
	})
	t.Run("fault", func(t *testing.T) {
		_, err := system.Ask[string](b.ctx, b.System, echo, messages.ErrBusy.With(errors.New("full")))
		require.ErrorIs(t, err, messages.ErrBusy)
	})
	t.Run("error though anything goes", func(t *testing.T) {
		_, err := system.Ask[any](b.ctx, b.System, echo, messages.ErrBusy)
		require.ErrorIs(t, err, messages.ErrBusy)
	})
	t.Run("other type", func(t *testing.T) {
		_, err := system.Ask[*messages.Stopped](b.ctx, b.System, echo, &messages.Stop{})
		require.ErrorIs(t, err, system.ErrUnexpectedReply)
		var unexpected *system.UnexpectedReplyError
		require.ErrorAs(t, err, &unexpected)
		require.Equal(t, "*messages.Stopped", unexpected.Want)
		require.Equal(t, "*messages.Stop", unexpected.Got)
		require.ErrorContains(t, err, "*messages.Stopped")
	})
}

func TestUnknownMessage(t *testing.T) {
	b := setup(t)
	pid := b.spawn(func(ctx actor.Context) { system.Unknown(ctx) })
	_, err := system.Ask[string](b.ctx, b.System, pid, &messages.CancelCall{ID: "the content"})
	var unknown *system.ErrUnknownMessage
	require.ErrorAs(t, err, &unknown)
	require.Equal(t, "*messages.CancelCall", unknown.Type)
	require.Equal(t, pid.Id, unknown.Actor)
	require.NotContains(t, b.logs.String(), "unknown message", "lifecycle messages are known, and the sender was told")
}

func TestUnknownMessageWithoutSenderIsLogged(t *testing.T) {
	b := setup(t)
	pid := b.spawn(func(ctx actor.Context) { system.Unknown(ctx) })
	b.Root().Send(pid, &messages.CancelCall{ID: "the content"})
	_, err := b.Ask(b.ctx, pid, "a second message, so that the first is done")
	require.NoError(t, err)
	require.Contains(t, b.logs.String(), `level=WARN msg="unknown message"`)
	require.Contains(t, b.logs.String(), "*messages.CancelCall")
	require.NotContains(t, b.logs.String(), "the content")
}
