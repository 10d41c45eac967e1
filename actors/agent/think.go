package agent

import (
	"fmt"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/troupe-go/troupe/actors/agent/action"
	"github.com/troupe-go/troupe/actors/agent/prompt"
	"github.com/troupe-go/troupe/actors/agent/window"
	"github.com/troupe-go/troupe/actors/observer"
	"github.com/troupe-go/troupe/actors/system"
	"github.com/troupe-go/troupe/messages"
	"github.com/troupe-go/troupe/messages/fact"
)

const (
	// maxRepairs is how many answers in a row may break the output protocol
	// and be asked again; the next one ends the run.
	maxRepairs = 2
	// maxLostModels is how many crashed model actors one step survives.
	maxLostModels = 2

	purposeFinal = "final_answer"
)

// openWindow puts system prompt, history and task into the window.
func (a *Agent) openWindow() error {
	w, err := window.New(a.cfg.Equipment.System, a.cfg.Start.History, action.Visible)
	if err != nil {
		return err
	}
	a.window = w
	text := prompt.Task(a.cfg.Task.Text, a.cfg.Start.Now)
	parts := a.cfg.Task.Parts
	if len(parts) > 0 {
		parts = append([]messages.ContentPart{{Type: "text", Text: text}}, parts...)
	}
	a.window.Add(messages.NewChatMessage(window.User, text, parts))
	return nil
}

// think begins a turn: the step limit, a stop and the deadline are looked at
// here, before anything new starts.
func (a *Agent) think(ctx actor.Context) {
	if a.stop != nil {
		a.finishStopped(ctx)
		return
	}
	if a.step > a.cfg.Equipment.maxSteps() {
		a.summarise(ctx)
		return
	}
	a.stepStart = a.cfg.System.World().Now()
	a.countStep(ctx)
	a.ask(ctx, "")
}

// countStep announces the step, once.
func (a *Agent) countStep(ctx actor.Context) {
	if a.stepped {
		return
	}
	a.stepped = true
	a.emit(ctx, messages.Event{Type: messages.StepCount, Content: observer.StepCountText(a.lang(), a.step)})
}

// ask sends the window to the model.
func (a *Agent) ask(ctx actor.Context, purpose string) {
	request, err := a.request(purpose)
	if err != nil {
		a.fail(ctx, messages.AsFault(err))
		return
	}
	a.state = thinking
	a.thinkID = a.nextID()
	a.purpose = purpose
	a.thought = nil
	ctx.Send(a.modelActor(ctx), &messages.Think{
		ID:        a.thinkID,
		Step:      a.step,
		Messages:  request,
		MaxTokens: a.cfg.Equipment.Definition.RequestedOutputTokens,
		Attempt:   a.attempts + 1,
		Purpose:   purpose,
	})
}

// request is the window as one call sees it. The window itself is shared; only
// a repair turn or the summary makes a copy, to add what never joins history.
func (a *Agent) request(purpose string) ([]messages.ChatMessage, error) {
	shared := a.window.Messages() // without spare capacity: appending copies
	if purpose != purposeFinal {
		return append(shared, a.repair...), nil
	}
	pre, post, err := prompt.FinalAnswerMessages(a.lang(), a.cfg.Equipment.Definition, a.cfg.Task.Text)
	if err != nil {
		return nil, err
	}
	if len(shared) > 0 && shared[0].Role == window.System {
		shared = shared[1:]
	}
	out := make([]messages.ChatMessage, 0, len(shared)+2)
	out = append(out, messages.NewChatMessage(window.System, pre, nil))
	out = append(out, shared...)
	return append(out, messages.NewChatMessage(window.User, post, nil)), nil
}

// onThought settles an answer: run, answer, repair or refuse.
func (a *Agent) onThought(ctx actor.Context, m *messages.Thought) {
	if a.state != thinking || m.ID != a.thinkID {
		return
	}
	a.state = settling
	a.thought = m
	a.attempts = m.Attempt
	a.tokens.add(m.Usage)
	if a.purpose == purposeFinal {
		a.onSummary(ctx, m)
		return
	}
	out := a.parse(m.Text, m.FinishReason, m.ToolCalls)
	switch out.Kind {
	case action.Run:
		a.accept(ctx, m, out.Code)
	case action.Answer:
		a.record(ctx, a.thoughtFact(m, "", ""), a.commit(m), nil)
		a.countTokens(ctx)
		a.answer(ctx, action.Display(out.Text))
	case action.Blocked:
		a.record(ctx, a.thoughtFact(m, "", ""), a.commit(m), nil)
		a.countTokens(ctx)
		a.refuse(ctx)
	default:
		a.reject(ctx, m, out)
	}
}

// accept records a thought with code and then lets the code run.
func (a *Agent) accept(ctx actor.Context, m *messages.Thought, code string) {
	a.rejected, a.repair = 0, nil
	f := a.thoughtFact(m, code, "")
	f.Clock = a.cfg.System.World().Now()
	a.record(ctx, f, a.commit(m), func(ctx actor.Context) {
		a.window.Add(messages.NewChatMessage(window.Assistant, action.Visible(m.Text), nil))
		if a.stop.beforeCode() {
			a.finishStopped(ctx)
			return
		}
		a.execute(ctx, code)
	})
}

// reject withdraws an answer that breaks the protocol and asks again, twice at
// most. No step is counted for it.
func (a *Agent) reject(ctx actor.Context, m *messages.Thought, out action.Outcome) {
	a.rejected++
	ctx.Send(a.observer, &messages.AttemptRollback{AttemptID: m.AttemptID, Attempt: m.Attempt})
	a.record(ctx, a.thoughtFact(m, "", out.Reason), nil, func(ctx actor.Context) {
		if a.stop != nil {
			a.finishStopped(ctx)
			return
		}
		if a.exhausted() {
			a.countTokens(ctx)
			a.fail(ctx, errProtocol.Withf(a.rejected, out.Reason))
			return
		}
		a.warn(ctx, "model_output_rejected", notes.rejected.in(a.lang(), out.Reason))
		a.askRepair(out)
		a.ask(ctx, "")
	})
}

// parse reads a reply by this agent's output protocol.
func (a *Agent) parse(text, finishReason string, calls []messages.ToolCallDelta) action.Outcome {
	return action.Parse(action.Reply{Text: text, FinishReason: finishReason, ToolCalls: calls}, a.cfg.Equipment.protocol())
}

// askRepair adds to the requests of this step what was wrong with an answer;
// the answer itself never joins the window.
func (a *Agent) askRepair(out action.Outcome) {
	text := action.RepairMessage(a.lang(), out, a.cfg.Equipment.protocol())
	a.repair = append(a.repair, messages.NewChatMessage(window.User, text, nil))
}

// exhausted reports whether the answers rejected so far were the last chance.
func (a *Agent) exhausted() bool {
	return a.rejected > maxRepairs || a.rejected > 0 && !a.cfg.Equipment.repairs()
}

func (a *Agent) thoughtFact(m *messages.Thought, code, rejected string) *fact.Thought {
	return &fact.Thought{
		Step: a.step, Text: m.Text, Reasoning: m.Reasoning, FinishReason: m.FinishReason,
		Usage: m.Usage, Model: m.Model, AttemptID: m.AttemptID, Attempt: m.Attempt, Attempts: m.Attempts,
		Rejected: rejected, Code: code, Purpose: a.purpose, ToolCalls: m.ToolCalls,
	}
}

// commit is the event that says an attempt's text stands.
func (a *Agent) commit(m *messages.Thought) []messages.Event {
	return []messages.Event{{
		Type: messages.ModelAttemptControl, Phase: messages.PhaseCommit,
		AttemptID: m.AttemptID, Attempt: m.Attempt,
	}}
}

func (a *Agent) onThinkFailed(ctx actor.Context, m *messages.ThinkFailed) {
	if a.state != thinking || m.ID != a.thinkID {
		return
	}
	a.attempts += m.Attempts
	if a.purpose == purposeFinal {
		a.finishMaxSteps(ctx, prompt.SummaryFailed(a.lang(), m.Fault.In(a.lang())))
		return
	}
	a.fail(ctx, m.Fault)
}

// onModelLost asks again on a new model actor; a crash is a bug of ours, so
// there is an end to it.
func (a *Agent) onModelLost(ctx actor.Context, crash *system.Failure) {
	if a.stop.cancelled(ctx, a, "model") {
		return
	}
	if a.state != thinking {
		return
	}
	ctx.Send(a.observer, &messages.AttemptRollback{}) // the one that is open
	a.lostModel++
	if a.lostModel > maxLostModels {
		a.fail(ctx, errModelCrashed.With(fmt.Errorf("%v", crash)))
		return
	}
	a.warn(ctx, "model_actor_restarted", notes.modelLost.in(a.lang()))
	a.attempts++
	a.ask(ctx, a.purpose)
}

// summarise is the ending at the step limit: one more call for an answer from
// what is there. MAX_STEPS_REACHED went out with the last step.
func (a *Agent) summarise(ctx actor.Context) {
	a.stepStart = a.cfg.System.World().Now()
	a.countStep(ctx)
	a.ask(ctx, purposeFinal)
}

func (a *Agent) onSummary(ctx actor.Context, m *messages.Thought) {
	a.record(ctx, a.thoughtFact(m, "", ""), a.commit(m), nil)
	a.summarised(ctx, m.Text, m.FinishReason)
}

// summarised ends it with the text of the summary.
func (a *Agent) summarised(ctx actor.Context, reply, finishReason string) {
	if action.Filtered(finishReason) {
		a.refuse(ctx)
		return
	}
	text := action.Display(action.Unrun(action.Visible(reply)))
	if trimmed(text) == "" {
		text = prompt.EmptyAnswer(a.lang())
	}
	a.finishMaxSteps(ctx, text)
}
