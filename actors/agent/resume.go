package agent

import (
	"github.com/asynkron/protoactor-go/actor"

	"github.com/troupe-go/troupe/actors/agent/action"
	"github.com/troupe-go/troupe/actors/agent/window"
	"github.com/troupe-go/troupe/actors/observer"
	"github.com/troupe-go/troupe/messages"
	"github.com/troupe-go/troupe/messages/fact"
)

// past is what the facts of earlier owners come to.
type past struct {
	open     *fact.Thought  // accepted, with code that has not ended; nil: none
	parsed   bool           // PARSE of it is settled
	answer   *fact.Thought  // accepted, without code: the answer
	final    *fact.Executed // a block that called final_answer
	stop     *fact.StopRequested
	summary  *fact.Thought // the answer to the max-steps summary
	rejected string        // why the last answer was not accepted; "" when it was
	newRun   bool          // AGENT_NEW_RUN is settled
}

// resume goes on where the last owner was: the window is rebuilt from the
// facts, a block that had not ended is run again, and the loop goes on.
func (a *Agent) resume(ctx actor.Context, b *Begin) {
	p := a.replay()
	if a.otherExecutor() {
		a.dropPast()
	}
	if !p.newRun {
		a.emit(ctx, messages.Event{Type: messages.AgentNewRun, Content: trimmed(a.cfg.Start.Query)})
	}
	if a.cfg.Crash != "" {
		a.warn(ctx, "adopted", notes.adopted.in(a.lang()))
	}
	a.resumeStop(p.stop)
	if b.Stop != nil {
		a.onStop(ctx, b.Stop)
	}
	switch {
	case p.summary != nil:
		a.summarised(ctx, p.summary.Text, p.summary.FinishReason)
	case p.open != nil:
		a.resumeBlock(ctx, p)
	case p.final != nil:
		a.answer(ctx, action.Display(p.final.FinalText))
	case p.answer != nil:
		a.resumeAnswer(ctx, p.answer)
	case a.exhausted() && a.stop == nil:
		a.fail(ctx, errProtocol.Withf(a.rejected, p.rejected))
	default:
		a.think(ctx)
	}
}

// resumeStop obeys a stop that stands on the log.
func (a *Agent) resumeStop(f *fact.StopRequested) {
	if f == nil {
		return
	}
	a.stop = &stopping{after: f.After}
}

// replay folds the records into the agent and returns what is left open.
func (a *Agent) replay() *past {
	p := &past{}
	for _, r := range a.cfg.Records {
		for i := range r.Settles {
			a.replayEvent(p, &r.Settles[i])
		}
		for _, f := range r.Facts {
			a.replayFact(p, f)
		}
	}
	return p
}

func (a *Agent) replayEvent(p *past, ev *messages.Event) {
	switch ev.Type {
	case messages.AgentNewRun:
		p.newRun = true
	case messages.StepCount:
		if ev.Step == a.step {
			a.stepped = true
		}
	case messages.Parse:
		p.parsed = p.parsed || ev.Step == a.step
	}
}

func (a *Agent) replayFact(p *past, f fact.Fact) {
	a.blocks.note(f)
	switch f := f.(type) {
	case *fact.Thought:
		a.replayThought(p, f)
	case *fact.Returned:
		a.noteArtifacts(f.Changes)
		if o := a.blocks.open; o != nil && o.returned[f.ToolCallID] {
			return
		}
		a.noted = append(a.noted, a.lateNote(f.Tool, f.Value, f.Err)) // of a block that had ended
	case *fact.Executed:
		p.open, p.parsed = nil, false
		a.tokens.nextStep()
		a.noted = nil // they stand in its observation
		if f.IsFinal {
			p.final = f
			return
		}
		a.window.Add(messages.NewChatMessage(window.User, f.Observation, nil))
		a.step++
		a.attempts, a.rejected, a.stepped, a.repair = 0, 0, false, nil
	case *fact.StopRequested:
		if p.stop == nil || f.After.Stronger(p.stop.After) {
			p.stop = f
		}
	}
}

func (a *Agent) replayThought(p *past, f *fact.Thought) {
	a.tokens.add(f.Usage)
	a.attempts = f.Attempt
	switch {
	case f.Rejected != "":
		a.rejected++
		p.rejected = f.Rejected
		a.askRepair(a.parse(f.Text, f.FinishReason, f.ToolCalls))
	case f.Purpose == purposeFinal:
		p.summary = f
	case f.Code != "":
		a.rejected, a.repair = 0, nil
		a.window.Add(messages.NewChatMessage(window.Assistant, action.Visible(f.Text), nil))
		p.open = f
	default:
		p.answer = f
	}
}

// resumeBlock runs the open block again. It is only ended where it could not
// go on as it was: a stop wants no more code, or its executor isn't here.
func (a *Agent) resumeBlock(ctx actor.Context, p *past) {
	a.thought = &messages.Thought{FinishReason: p.open.FinishReason, Model: p.open.Model}
	open := a.blocks.open
	if a.stop.beforeCode() || a.otherExecutor() && len(open.Calls)+len(open.intents) > 0 {
		lost := a.lost
		a.lost = nil
		a.interrupted(ctx, lost)
		return
	}
	if !p.parsed {
		a.emit(ctx, messages.Event{Type: messages.Parse, Content: observer.ParseText(a.lang(), open.Code)})
	}
	a.reopen(ctx)
}

// resumeAnswer ends a run whose answer is on the log.
func (a *Agent) resumeAnswer(ctx actor.Context, f *fact.Thought) {
	a.thought = &messages.Thought{FinishReason: f.FinishReason, Model: f.Model}
	a.countTokens(ctx)
	out := a.parse(f.Text, f.FinishReason, f.ToolCalls)
	if out.Kind == action.Blocked {
		a.refuse(ctx)
		return
	}
	a.answer(ctx, action.Display(out.Text))
}
