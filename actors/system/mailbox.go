package system

import "github.com/asynkron/protoactor-go/actor"

// mailbox is protoactor's unbounded mailbox with our invoker before the actor.
type mailbox struct {
	actor.Mailbox
	s *System
}

func (s *System) newMailbox() actor.Mailbox { return &mailbox{Mailbox: unbounded(), s: s} }

var unbounded = actor.Unbounded()

// RegisterHandlers puts our invoker before the actor's.
func (m *mailbox) RegisterHandlers(next actor.MessageInvoker, d actor.Dispatcher) {
	if ctx, ok := next.(actor.Context); ok {
		next = &invoker{MessageInvoker: next, ctx: ctx, box: m}
	}
	m.Mailbox.RegisterHandlers(next, d)
}

// invoker mends what protoactor does at an actor's end. It is called in the
// actor's turns only.
type invoker struct {
	actor.MessageInvoker
	ctx     actor.Context // the actor's for as long as it lives; used in its turns only
	box     *mailbox
	drained bool
}

// InvokeUserMessage makes a dead letter of what comes after the actor stopped;
// protoactor drops it, and who asked would wait in vain.
func (in *invoker) InvokeUserMessage(msg any) {
	if in.phase() == stopped {
		in.box.s.actors.DeadLetter.SendUserMessage(in.ctx.Self(), msg)
		return
	}
	in.MessageInvoker.InvokeUserMessage(msg)
}

// InvokeSystemMessage keeps a restart from undoing a stop that came first:
// protoactor would start a new incarnation, which its parent waits for in
// vain, or which nobody knows. It also opens the mailbox of an actor that has
// just stopped: one that stopped because it failed would stay suspended, with
// all it holds.
func (in *invoker) InvokeSystemMessage(msg any) {
	if _, restart := msg.(*actor.Restart); restart && in.phase() >= stopping {
		return
	}
	in.MessageInvoker.InvokeSystemMessage(msg)
	if !in.drained && in.phase() == stopped {
		in.drained = true
		in.box.PostSystemMessage(&actor.ResumeMailbox{})
	}
}

func (in *invoker) phase() phase {
	if g, ok := in.ctx.Actor().(phaser); ok {
		return g.phaseNow()
	}
	return alive
}
