package agent

import (
	"strconv"
	"strings"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/troupe-go/troupe/actors/agent/action"
	"github.com/troupe-go/troupe/actors/agent/prompt"
	"github.com/troupe-go/troupe/actors/agent/window"
	"github.com/troupe-go/troupe/actors/observer"
	"github.com/troupe-go/troupe/actors/system"
	"github.com/troupe-go/troupe/messages"
	"github.com/troupe-go/troupe/messages/fact"
)

// execute lets a new block run.
func (a *Agent) execute(ctx actor.Context, code string) {
	a.callCount, a.again = 0, nil
	a.emit(ctx, messages.Event{Type: messages.Parse, Content: observer.ParseText(a.lang(), code)})
	a.run(ctx, code, nil)
}

// run lets the open block run. recorded are calls that it made before, under
// an earlier owner.
func (a *Agent) run(ctx actor.Context, code string, recorded []messages.RecordedCall) {
	a.state = acting
	a.blockID, a.block = a.nextID(), code
	a.done = nil
	clear(a.calls)
	ctx.Send(a.executorActor(ctx), &messages.Execute{
		ID: a.blockID, Step: a.step, Code: code, Clock: a.blocks.open.Clock, Past: a.blocks.before(), Recorded: recorded,
	})
}

// onExecutorBusy tells people that a block waits for its turn.
func (a *Agent) onExecutorBusy(ctx actor.Context, m *messages.ExecutorBusy) {
	if a.state == acting && m.ID == a.blockID {
		a.emit(ctx, messages.Event{Type: messages.Other, Content: notes.busy.in(a.lang(), m.Ahead)})
	}
}

// onExecuted turns the end of a block into an observation.
func (a *Agent) onExecuted(ctx actor.Context, m *messages.Executed) {
	if a.state != acting || m.ID != a.blockID {
		return
	}
	a.cutCalls(ctx)
	if a.stop.now() {
		a.stop.cancelled(ctx, a, "python")
		return
	}
	if m.Fault != nil { // more steps would only find the same
		a.fail(ctx, m.Fault)
		return
	}
	lost := a.takeLost(m)
	if lost != nil {
		a.warn(ctx, "variables_lost", prompt.VariablesLost(a.lang(), lost))
	}
	if m.Interrupted != "" {
		a.cfg.System.Logger().Warn("a block went another way when it was run again", "run", a.cfg.Scope.Run, "step", a.step, "detail", m.Interrupted)
		a.interrupted(ctx, lost)
		return
	}
	a.state = settling
	text := a.observation(m, lost)
	a.logs(ctx, m)
	a.countTokens(ctx)
	if w := a.blockWarning(m); w != "" {
		a.warn(ctx, blockCode(m), w)
	}
	f := &fact.Executed{
		Step: a.step, Observation: text, OutputHash: fact.HashOf([]byte(m.Output)), IsFinal: m.IsFinal,
		Final: m.Final, FinalText: m.FinalText, Err: m.Err, Killed: m.Killed, Calls: a.done, CPU: m.CPU,
		State: m.State, Unrepeatable: m.Unrepeatable, Snapshot: m.Snapshot, Lost: lost, Executor: a.executorChange(),
	}
	a.done = nil
	if m.IsFinal {
		a.record(ctx, f, nil, nil)
		a.answer(ctx, action.Display(m.FinalText))
		return
	}
	a.record(ctx, f, a.limitReached(), func(ctx actor.Context) { a.nextStep(ctx, text) })
}

// limitReached is MAX_STEPS_REACHED when this was the last step there may be:
// the executed fact makes it true.
func (a *Agent) limitReached() []messages.Event {
	if a.step < a.cfg.Equipment.maxSteps() {
		return nil
	}
	n := strconv.Itoa(a.step)
	return []messages.Event{{
		Type:    messages.MaxStepsReached,
		Content: `{"completedSteps":` + n + `,"maxSteps":` + n + `,"message":""}`,
	}}
}

// nextStep adds the observation to the window and goes on thinking.
func (a *Agent) nextStep(ctx actor.Context, observation string) {
	a.window.Add(messages.NewChatMessage(window.User, observation, nil))
	a.step++
	a.attempts, a.rejected, a.lostModel, a.stepped, a.repair = 0, 0, 0, false, nil
	a.think(ctx)
}

// logs publishes what a block printed and its last value.
func (a *Agent) logs(ctx actor.Context, m *messages.Executed) {
	if m.Output != "" {
		a.emit(ctx, messages.Event{Type: messages.ExecutionLogs, Content: prompt.ClipOutput(m.Output, m.Printed, a.observationLimit(), a.lang())})
	}
	if m.Repr != "" && !m.IsFinal && m.Err == nil {
		a.emit(ctx, messages.Event{Type: messages.ExecutionLogs, Content: "Last output from code snippet:\n" + clip(m.Repr, a.observationLimit(), a.lang())})
	}
}

func (a *Agent) observationLimit() int {
	if n := a.cfg.Equipment.Sandbox.ObservationLimit; n > 0 {
		return n
	}
	return 20 << 10
}

// takeLost gives what the block began without, for whichever reason.
func (a *Agent) takeLost(m *messages.Executed) *messages.LostVariables {
	lost := a.lost
	a.lost = nil
	if m.Lost != nil {
		return m.Lost
	}
	return lost
}

// observation is what the model sees of a block.
func (a *Agent) observation(m *messages.Executed, lost *messages.LostVariables) string {
	extra := a.noted
	a.noted = nil
	if m.Killed != "" {
		extra = append(extra, prompt.Killed(a.lang(), m.Killed))
	}
	if lost != nil {
		extra = append(extra, prompt.VariablesLost(a.lang(), lost))
	}
	if m.Err != nil && m.Err.Type == "SyntaxError" {
		extra = append(extra, prompt.FullWidth(a.lang(), action.FullWidth(a.block))...)
	}
	return prompt.Observation(a.lang(), prompt.ObservationData{
		Logs: m.Output, Printed: m.Printed, Value: m.Repr, Err: m.Err, Notes: extra, Limit: a.observationLimit(),
	})
}

// blockWarning is what a person reads of a step that went wrong.
func (a *Agent) blockWarning(m *messages.Executed) string {
	switch {
	case m.Killed != "":
		return prompt.Killed(a.lang(), m.Killed)
	case m.Err != nil:
		return m.Err.Type + ": " + m.Err.Message
	}
	return ""
}

func blockCode(m *messages.Executed) string {
	if m.Killed != "" {
		return "executor_" + m.Killed
	}
	return "code_error"
}

// onExecutorLost ends the block of an executor actor that is gone.
func (a *Agent) onExecutorLost(ctx actor.Context, crash *system.Failure) {
	if a.state != acting {
		return
	}
	if crash != nil {
		a.cfg.System.Logger().Error("executor actor crashed", "run", a.cfg.Scope.Run, "failure", crash)
	}
	a.onExecuted(ctx, &messages.Executed{ID: a.blockID, Killed: "died"})
}

func clip(s string, limit int, lang string) string { return prompt.Clip(s, limit, lang) }

func trimmed(s string) string { return strings.TrimSpace(s) }
