package model

import (
	"context"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/troupe-go/troupe/actors/system"
	"github.com/troupe-go/troupe/messages"
)

// Config is what an invocation's model actor works with.
type Config struct {
	Chain    []Model        // tried in order; the first is the agent's model
	Observer *actor.PID     // gets attempts and warnings; required
	System   *system.System // required
	Lang     string         // of warnings: zh | en
	Retry    Retry          // zero: the defaults
}

// Producer makes model actors. One is spawned by the agent of an invocation as
// its child.
//
// It takes *messages.Think and *messages.CancelThink, from its parent, and
// answers its parent: a Think by exactly one *messages.Thought or
// *messages.ThinkFailed, a CancelThink by *messages.ThinkCancelled, after which
// the Think gets no answer any more. A CancelThink that crosses the answer, or
// that names no Think, is acknowledged as well. While a call runs the observer
// gets, in order and for each attempt, *messages.AttemptBegin,
// *messages.AttemptDelta and then *messages.AttemptEnd or
// *messages.AttemptRollback; and a WARNING for each failure that leads to
// another attempt.
//
// Each Think is one goroutine with one cancel, which the actor owns: stopping
// or restarting the actor cancels all of them and rolls their text back.
func Producer(cfg Config) actor.Producer {
	cfg.Retry = cfg.Retry.withDefaults()
	return func() actor.Actor {
		return &modelActor{cfg: cfg, calls: map[uint64]*call{}, plain: make(samplingRefused, len(cfg.Chain))}
	}
}

type modelActor struct {
	cfg   Config
	calls map[uint64]*call // running, by Think.ID
	plain samplingRefused
}

// ended tells the actor that a call's goroutine is done with it.
type ended struct{ call *call }

// Receive implements actor.Actor.
func (a *modelActor) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *messages.Think:
		a.think(ctx, m)
	case *messages.CancelThink:
		a.cancel(ctx, m)
	case ended:
		delete(a.calls, m.call.think.ID)
	case *actor.Stopping, *actor.Restarting:
		a.cancelAll()
	default:
		system.Unknown(ctx)
	}
}

// think starts a call. A Think that is repeated while it runs changes nothing:
// its answer is on the way.
func (a *modelActor) think(ctx actor.Context, m *messages.Think) {
	if _, running := a.calls[m.ID]; running {
		return
	}
	run, cancel := context.WithCancel(context.Background())
	c := &call{
		cfg:   a.cfg,
		plain: a.plain,
		think: m,
		gate:  gate{root: ctx.ActorSystem().Root, observer: a.cfg.Observer, owner: ctx.Parent(), id: m.ID, stop: cancel},
	}
	a.calls[m.ID] = c
	self, root := ctx.Self(), ctx.ActorSystem().Root
	a.cfg.System.Go(func() {
		defer root.Send(self, ended{c})
		defer cancel()
		c.run(run)
	})
}

func (a *modelActor) cancel(ctx actor.Context, m *messages.CancelThink) {
	name := ""
	if c, running := a.calls[m.ID]; running {
		name = c.gate.abort()
	}
	ctx.Send(ctx.Parent(), &messages.ThinkCancelled{ID: m.ID, Model: name})
}

func (a *modelActor) cancelAll() {
	for _, c := range a.calls {
		c.gate.abort()
	}
}
