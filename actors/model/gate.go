package model

import (
	"context"
	"sync"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/troupe-go/troupe/messages"
)

// gate is the one door through which a call speaks to the observer and to the
// agent. Its goroutine speaks, the actor may shut it at any time: from then on
// nothing of the call gets out, so a cancel takes effect at once even when a
// client is slow to return, and no text follows its own rollback.
type gate struct {
	root     *actor.RootContext
	observer *actor.PID
	owner    *actor.PID
	id       uint64
	stop     context.CancelFunc

	mu      sync.Mutex
	shut    bool
	model   string                 // cite_name being asked
	attempt *messages.AttemptBegin // the open one; nil between attempts
}

// begin opens an attempt of a model.
func (g *gate) begin(model string, a *messages.AttemptBegin) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.model = model
	if g.shut {
		return
	}
	g.attempt = a
	g.root.Send(g.observer, a)
}

// delta passes a piece of the open attempt's text on.
func (g *gate) delta(d Delta) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut || g.attempt == nil {
		return
	}
	g.root.Send(g.observer, &messages.AttemptDelta{AttemptID: g.attempt.AttemptID, Content: d.Content, Reasoning: d.Reasoning})
}

// rollback withdraws the open attempt.
func (g *gate) rollback() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.withdraw()
}

// emit publishes an event.
func (g *gate) emit(ev messages.Event) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.shut {
		g.root.Send(g.observer, &messages.Emit{Event: ev})
	}
}

// succeed ends the open attempt and answers the agent; the gate is shut then.
func (g *gate) succeed(t *messages.Thought) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut {
		return
	}
	g.shut = true
	g.root.Send(g.observer, &messages.AttemptEnd{AttemptID: t.AttemptID})
	g.root.Send(g.owner, t)
}

// fail answers the agent; the gate is shut then.
func (g *gate) fail(f *messages.Fault, attempts int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut {
		return
	}
	g.withdraw()
	g.shut = true
	g.root.Send(g.owner, &messages.ThinkFailed{ID: g.id, Fault: f, Attempts: attempts})
}

// abort withdraws the open attempt, shuts the gate and cancels the call. It
// names the model that was being asked.
func (g *gate) abort() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.withdraw()
	g.shut = true
	g.stop()
	return g.model
}

// withdraw needs g.mu.
func (g *gate) withdraw() {
	if g.shut || g.attempt == nil {
		return
	}
	g.root.Send(g.observer, &messages.AttemptRollback{AttemptID: g.attempt.AttemptID, Attempt: g.attempt.Attempt})
	g.attempt = nil
}
