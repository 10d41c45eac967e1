package agent

import (
	"slices"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/troupe-go/troupe/actors/agent/action"
	"github.com/troupe-go/troupe/actors/agent/prompt"
	"github.com/troupe-go/troupe/actors/agent/window"
	"github.com/troupe-go/troupe/messages"
	"github.com/troupe-go/troupe/messages/fact"
)

// past is what the facts of earlier owners come to.
type past struct {
	open     *fact.Thought  // accepted, with code that has not ended; nil: none
	answer   *fact.Thought  // accepted, without code: the answer
	final    *fact.Executed // a block that called final_answer
	intents  []*fact.Intended
	returned map[string]*fact.Returned
	free     []fact.Call // effect-free calls of the open block that are on the log
	stop     *fact.StopRequested
	summary  *fact.Thought // the answer to the max-steps summary
	rejected string        // why the last answer was not accepted; "" when it was
	newRun   bool          // AGENT_NEW_RUN is settled
}

// intended reports whether a call's intent belongs to the open block.
func (p *past) intended(id string) bool {
	return slices.ContainsFunc(p.intents, func(i *fact.Intended) bool { return i.ToolCallID == id })
}

// resume goes on where the last owner was: the window is rebuilt from the
// facts, a block that had not ended is ended, and the loop goes on.
func (a *Agent) resume(ctx actor.Context, b *Begin) {
	p := a.replay()
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
		a.interrupted(ctx, p)
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
	p := &past{returned: map[string]*fact.Returned{}}
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
	}
}

func (a *Agent) replayFact(p *past, f fact.Fact) {
	switch f := f.(type) {
	case *fact.Thought:
		a.replayThought(p, f)
	case *fact.Intended:
		p.intents = append(p.intents, f)
		p.free = append(p.free, f.Calls...)
	case *fact.Returned:
		a.noteArtifacts(f.Changes)
		if p.intended(f.ToolCallID) {
			p.returned[f.ToolCallID] = f
			return
		}
		a.noted = append(a.noted, a.lateNote(f.Tool, f.Value, f.Err)) // of a block that had ended
	case *fact.Executed:
		p.open, p.intents, p.free = nil, nil, nil
		p.returned = map[string]*fact.Returned{}
		a.tokens.nextStep()
		a.lostVars = !f.Interrupted // an interruption said so itself
		a.noted = nil               // they stand in its observation
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

// interrupted ends a block that another owner had begun: nothing of it is run
// again, and the model is told what was done, what is in doubt and that its
// variables are gone.
func (a *Agent) interrupted(ctx actor.Context, p *past) {
	data := prompt.InterruptedData{}
	for _, c := range p.free {
		data.Done = append(data.Done, prompt.InterruptedCall{Tool: c.Tool, Result: string(c.Value), Err: c.Err})
	}
	for _, i := range p.intents {
		c := prompt.InterruptedCall{Tool: i.Tool, Arguments: arguments(i)}
		if r, ok := p.returned[i.ToolCallID]; ok {
			c.Result, c.Err = string(r.Value), r.Err
			data.Done = append(data.Done, c)
			continue
		}
		data.InDoubt = append(data.InDoubt, c)
	}
	text := prompt.Interrupted(a.lang(), data)
	a.warn(ctx, "block_interrupted", text)
	f := &fact.Executed{Step: a.step, Observation: text, Interrupted: true,
		Err: &messages.PyError{Type: "BlockInterrupted", Message: text}}
	a.state = settling
	a.lostVars = false // the observation says it
	a.thought = &messages.Thought{FinishReason: p.open.FinishReason, Model: p.open.Model}
	a.countTokens(ctx)
	a.record(ctx, f, a.limitReached(), func(ctx actor.Context) { a.nextStep(ctx, text) })
}

// arguments shows what a call was given: positional ones as a list, then the
// named ones.
func arguments(i *fact.Intended) string {
	switch {
	case len(i.Args) == 0:
		return string(i.Kwargs)
	case len(i.Kwargs) == 0:
		return string(mustJSON(i.Args))
	}
	return string(mustJSON(i.Args)) + " " + string(i.Kwargs)
}
