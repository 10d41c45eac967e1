package system

import (
	"runtime"
	"sync"

	"github.com/asynkron/protoactor-go/actor"
)

// keepMessages is the room for messages that a mailbox keeps when it is empty.
const keepMessages = 64

// mailbox holds an actor's messages and hands them to it, one at a time:
// system messages before all others, the others only while it is not
// suspended. It behaves as protoactor's unbounded mailbox does, but for
// MessageBatch, which nobody here sends, and costs no allocation a message or
// an activation. What protoactor gets wrong at an actor's end is mended here
// as well.
type mailbox struct {
	s          *System
	dispatcher actor.Dispatcher
	actor      actor.MessageInvoker
	ctx        actor.Context // the actor's for as long as it lives; used in its turns only
	process    func()        // handle, bound once

	mu        sync.Mutex
	system    queue[any]
	user      queue[any]
	running   bool // a goroutine handles messages, or is about to
	suspended bool // the actor failed: its supervisor decides

	drained bool // opened for good after the actor's end; used in its turns only
}

func (s *System) newMailbox() actor.Mailbox {
	m := &mailbox{s: s}
	m.process = m.handle
	return m
}

// RegisterHandlers implements actor.Mailbox.
func (m *mailbox) RegisterHandlers(a actor.MessageInvoker, d actor.Dispatcher) {
	m.actor, m.dispatcher = a, d
	m.ctx, _ = a.(actor.Context)
}

// Start implements actor.Mailbox.
func (m *mailbox) Start() {}

// UserMessageCount implements actor.Mailbox.
func (m *mailbox) UserMessageCount() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.user.n
}

// PostUserMessage implements actor.Mailbox.
func (m *mailbox) PostUserMessage(msg any) {
	m.mu.Lock()
	m.user.push(msg)
	idle := !m.running && !m.suspended
	m.running = m.running || idle
	m.mu.Unlock()
	if idle {
		m.dispatcher.Schedule(m.process)
	}
}

// PostSystemMessage implements actor.Mailbox.
func (m *mailbox) PostSystemMessage(msg any) {
	m.mu.Lock()
	m.system.push(msg)
	idle := !m.running
	m.running = true
	m.mu.Unlock()
	if idle {
		m.dispatcher.Schedule(m.process)
	}
}

// kind tells messages apart.
type kind uint8

const (
	noMessage kind = iota
	systemMessage
	userMessage
)

// take gives the next message. When there is none the mailbox is idle: the
// next message is another activation's.
func (m *mailbox) take() (any, kind) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for m.system.n > 0 {
		msg := m.system.pop()
		m.system.trim(0) // rare once an actor has started
		switch msg.(type) {
		case *actor.SuspendMailbox:
			m.suspended = true
		case *actor.ResumeMailbox:
			m.suspended = false
		default:
			return msg, systemMessage
		}
	}
	if m.suspended || m.user.n == 0 {
		m.user.trim(keepMessages)
		m.running = false
		return nil, noMessage
	}
	return m.user.pop(), userMessage
}

// handle is one activation.
func (m *mailbox) handle() {
	for m.turns() {
	}
}

// turns hands over messages until there are none, or one makes the actor
// panic: then it reports true, for what its supervisor says is a message too.
func (m *mailbox) turns() (failed bool) {
	var msg any
	defer func() {
		if r := recover(); r != nil {
			failed = true
			m.actor.EscalateFailure(r, msg)
		}
	}()
	for n := 1; ; n++ {
		if n%(m.dispatcher.Throughput()+1) == 0 {
			runtime.Gosched()
		}
		var k kind
		switch msg, k = m.take(); k {
		case systemMessage:
			m.invokeSystem(msg)
		case userMessage:
			m.invokeUser(msg)
		default:
			return false
		}
	}
}

// invokeUser makes a dead letter of what comes after the actor stopped;
// protoactor drops it, and who asked would wait in vain.
func (m *mailbox) invokeUser(msg any) {
	if m.phase() == stopped {
		m.s.actors.DeadLetter.SendUserMessage(m.ctx.Self(), msg)
		return
	}
	m.actor.InvokeUserMessage(msg)
}

// invokeSystem keeps a restart from undoing a stop that came first:
// protoactor would start a new incarnation, which its parent waits for in
// vain, or which nobody knows. It also opens the mailbox of an actor that has
// just stopped: one that stopped because it failed would stay suspended, with
// all it holds.
func (m *mailbox) invokeSystem(msg any) {
	if _, restart := msg.(*actor.Restart); restart && m.phase() >= stopping {
		return
	}
	m.actor.InvokeSystemMessage(msg)
	if !m.drained && m.phase() == stopped {
		m.drained = true
		m.PostSystemMessage(&actor.ResumeMailbox{})
	}
}

func (m *mailbox) phase() phase {
	if m.ctx == nil {
		return alive
	}
	if g, ok := m.ctx.Actor().(phaser); ok {
		return g.phaseNow()
	}
	return alive
}
