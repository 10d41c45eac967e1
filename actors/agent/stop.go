package agent

import (
	"cmp"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/troupe-go/troupe/actors/system"
	"github.com/troupe-go/troupe/messages"
	"github.com/troupe-go/troupe/messages/fact"
)

// stopGrace is how long a stop `now` waits for what it cancelled to say so.
// What is silent longer is reported as abandoned, and the run ends.
const stopGrace = 800 * time.Millisecond

// stopGraceOver tells the agent that the grace of its stop is over.
type stopGraceOver struct{}

// deadlineDue tells the agent that its deadline has come.
type deadlineDue struct{}

// stopping is a stop that is wanted and not yet done; nil: none. The loop asks
// it before anything starts, and when something has ended.
type stopping struct {
	after    messages.StopAfter
	deadline bool // the deadline wants it: the run ends with status budget
	parts    []messages.StoppedPart
	pending  map[string]messages.StoppedPart // cancelled, not yet acknowledged
	grace    system.Timer
}

func (s *stopping) now() bool { return s != nil && s.after == messages.StopNow }

// beforeCode reports whether code that was just written must not run.
func (s *stopping) beforeCode() bool { return s != nil && s.after != messages.StopStep }

// refusesCalls reports whether running code may start no further calls.
func (s *stopping) refusesCalls() bool {
	return s != nil && (s.after == messages.StopTool || s.after == messages.StopNow)
}

// onStop takes a stop. A stronger form overrides a pending weaker one. Nobody
// is answered here: InvocationEnded says what was ended, and the root of the
// node answers whoever asked.
func (a *Agent) onStop(ctx actor.Context, m *messages.Stop) {
	after := cmp.Or(m.After, messages.StopStep)
	if a.state == closing || a.state == ended || a.stop != nil && !after.Stronger(a.stop.after) {
		return
	}
	if a.stop == nil {
		a.stop = &stopping{}
	}
	a.stop.after = after
	a.record(ctx, &fact.StopRequested{After: after, Reason: m.Reason, User: m.User, RequestID: m.RequestID}, nil, nil)
	a.obey(ctx)
}

// obey does what the pending stop asks for at this moment; the rest is done
// where the loop looks at it.
func (a *Agent) obey(ctx actor.Context) {
	switch {
	case a.stop.now():
		a.cancelAll(ctx)
	case a.stop.after == messages.StopTool:
		a.stop.calls(ctx, a)
	}
}

// onDeadline ends the run at its deadline, as a stop `now` whose end says so.
func (a *Agent) onDeadline(ctx actor.Context) {
	if a.state == ended || a.state == closing || a.stop.now() {
		return
	}
	if a.stop == nil {
		a.stop = &stopping{}
	}
	a.stop.deadline = true
	a.stop.after = messages.StopNow
	a.cancelAll(ctx)
}

// cancelAll cancels what runs and waits, briefly, for each to say so.
func (a *Agent) cancelAll(ctx actor.Context) {
	s := a.stop
	s.pending = map[string]messages.StoppedPart{}
	switch a.state {
	case thinking:
		s.pending["model"] = messages.StoppedPart{Actor: "model", What: notes.endedModel.in(a.lang())}
		ctx.Request(a.modelActor(ctx), &messages.CancelThink{ID: a.thinkID})
	case acting:
		s.pending["python"] = messages.StoppedPart{Actor: "python", What: notes.endedCode.in(a.lang())}
		ctx.Request(a.executorActor(ctx), &messages.CancelExecute{ID: a.blockID})
		for ordinal, c := range a.calls {
			if c.tool == nil || c.returned { // it never begins, or has ended: nobody would say so
				delete(a.calls, ordinal)
				continue
			}
			s.pending["tool:"+c.msg.ID] = messages.StoppedPart{Actor: "tool:" + c.msg.Tool, What: notes.endedCall.in(a.lang()), ID: c.msg.ID}
			ctx.Request(c.tool, &messages.CancelCall{ID: c.msg.ID})
		}
	default: // a fact is on its way, or nothing has begun: the loop stops there
		return
	}
	self, root := ctx.Self(), a.cfg.System.Root()
	s.grace = a.cfg.System.World().AfterFunc(stopGrace, func() { root.Send(self, &stopGraceOver{}) })
}

// cancelled takes an acknowledgement; the last one ends the run. It reports
// whether one was awaited.
func (s *stopping) cancelled(ctx actor.Context, a *Agent, what string) bool {
	if s == nil {
		return false
	}
	part, ok := s.pending[what]
	if !ok {
		return false
	}
	delete(s.pending, what)
	s.parts = append(s.parts, part)
	if len(s.pending) == 0 {
		a.finishStopped(ctx)
	}
	return true
}

// calls ends the block of a stop `tool` when no call runs any more.
func (s *stopping) calls(ctx actor.Context, a *Agent) {
	if s != nil && s.after == messages.StopTool && a.state == acting && len(a.calls) == 0 {
		s.after = messages.StopNow
		a.cancelAll(ctx)
	}
}

func (a *Agent) onThinkCancelled(ctx actor.Context, m *messages.ThinkCancelled) {
	if a.stop != nil && m.ID == a.thinkID {
		a.stop.cancelled(ctx, a, "model")
	}
}

// onStopGraceOver ends the run although something does not answer its cancel.
func (a *Agent) onStopGraceOver(ctx actor.Context) {
	if a.stop == nil || len(a.stop.pending) == 0 || a.state == closing || a.state == ended {
		return
	}
	for _, part := range a.stop.pending {
		part.What = notes.endedAbandoned.in(a.lang())
		a.stop.parts = append(a.stop.parts, part)
		a.warn(ctx, "abandoned", notes.abandoned.in(a.lang(), part.Actor))
	}
	a.stop.pending = nil
	a.finishStopped(ctx)
}

func (a *Agent) armDeadline() {
	due := a.cfg.Start.Deadline
	if due.IsZero() {
		return
	}
	self, root, world := a.self, a.cfg.System.Root(), a.cfg.System.World()
	a.deadline = world.AfterFunc(due.Sub(world.Now()), func() { root.Send(self, &deadlineDue{}) })
}
