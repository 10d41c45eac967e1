package system

import (
	"runtime/debug"

	"github.com/asynkron/protoactor-go/actor"
)

// guarded stands before one incarnation of an actor. It is an actor rather
// than a receiver middleware: a middleware costs an envelope a message and a
// few hundred bytes an actor.
type guarded struct {
	s     *System
	inner actor.Actor
	phase phase
}

// phase is how far an incarnation has come; it only grows.
type phase int

const (
	alive      phase = iota
	restarting       // Restarting came
	stopping         // Stopping came
	stopped          // Stopped came: what follows is a dead letter
)

// guardedSupervisor is guarded for an actor that is its own strategy.
type guardedSupervisor struct {
	*guarded
	actor.SupervisorStrategy
}

// phaser is either form of guard.
type phaser interface{ phaseNow() phase }

func (g *guarded) phaseNow() phase { return g.phase }

func guard(s *System, inner actor.Actor) actor.Actor {
	g := &guarded{s: s, inner: inner}
	if strategy, ok := inner.(actor.SupervisorStrategy); ok {
		return &guardedSupervisor{g, strategy}
	}
	return g
}

// Receive hands the message on and deals with a panic.
func (g *guarded) Receive(ctx actor.Context) {
	switch ctx.Message().(type) {
	case *actor.Restarting:
		g.phase = restarting
	case *actor.Stopping:
		g.phase = stopping
	case *actor.Stopped:
		g.phase = stopped
	}
	defer g.recover(ctx)
	g.inner.Receive(ctx)
}

// recover keeps a panic's stack for the strategy, or, when the actor is
// ending anyway, logs it and lets the end go on.
func (g *guarded) recover(ctx actor.Context) {
	r := recover()
	if r == nil {
		return
	}
	f := &Failure{Reason: r, Stack: debug.Stack(), Message: ctx.Message()}
	if g.phase == alive {
		panic(f)
	}
	g.s.log.Error("an ending actor panicked", "actor", ctx.Self().GetId(), "failure", f, "stack", string(f.Stack))
}
