package agent

import (
	"slices"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/troupe-go/troupe/actors/agent/prompt"
	"github.com/troupe-go/troupe/actors/tool"
	"github.com/troupe-go/troupe/messages"
	"github.com/troupe-go/troupe/messages/fact"
)

// reopen runs the open block again (DESIGN §5, take-over). Calls that the log
// knows are answered from it, and until the last of them was met nothing is
// really called. A call in doubt is done again where its tool says that doing
// it twice is doing it once; else the code is told that its outcome is unknown.
func (a *Agent) reopen(ctx actor.Context) {
	open := a.blocks.open
	a.again = map[uint64]*fact.Intended{}
	for _, i := range open.inDoubt() {
		t, ok := a.cfg.Equipment.tool(i.Tool)
		if ok && t.Spec.Effects == tool.EffectsIdempotent {
			a.again[i.Call] = i
			continue
		}
		a.record(ctx, &fact.Returned{
			Step: i.Step, ToolCallID: i.ToolCallID, Call: i.Call, Tool: i.Tool, At: a.cfg.System.World().Now(),
			Err: &messages.ToolError{Type: "ToolOutcomeUnknown", Code: "outcome_unknown", Message: notes.unknown.in(a.lang(), i.Tool)},
		}, nil, nil)
	}
	recorded := slices.Clone(open.Calls)
	for _, i := range a.again {
		recorded = append(recorded, messages.RecordedCall{Call: i.Call, Tool: i.Tool, Hash: i.Hash, Pending: true})
	}
	sortCalls(recorded)
	a.callCount = len(recorded)
	a.run(ctx, open.Code, recorded)
}

// tryAgain gives the intent that a call of a reopened block is another try of;
// nil: it is a new call.
func (a *Agent) tryAgain(m *messages.CallTool) *fact.Intended {
	i := a.again[m.Call]
	if i == nil || i.Hash != fact.CallHash(m.Tool, m.Args, m.Kwargs) {
		return nil
	}
	delete(a.again, m.Call)
	return i
}

// otherExecutor reports whether the past ran in another kind or version of
// interpreter than there is here: its variables can't be brought back.
func (a *Agent) otherExecutor() bool {
	return a.blocks.executor != "" && a.blocks.executor != a.cfg.Equipment.Driver.Describe().ID()
}

// dropPast forgets the blocks of another executor; the next block says so.
func (a *Agent) dropPast() {
	if len(a.blocks.past) > 0 {
		a.lost = &messages.LostVariables{Reason: messages.LostExecutor,
			Detail: "they ran in " + a.blocks.executor + ", here is " + a.cfg.Equipment.Driver.Describe().ID()}
	}
	a.blocks.past = nil
}

// interrupted ends the open block without running it, or after it went another
// way than before: the model is told what was done and what is in doubt.
func (a *Agent) interrupted(ctx actor.Context, lost *messages.LostVariables) {
	open := a.blocks.open
	data := prompt.InterruptedData{}
	for _, c := range open.Calls {
		done := prompt.InterruptedCall{Tool: c.Tool, Result: string(c.Value), Err: c.Err}
		if i := slices.IndexFunc(open.intents, func(i *fact.Intended) bool { return i.Call == c.Call }); i >= 0 {
			done.Arguments = arguments(open.intents[i])
		}
		if c.Err != nil && c.Err.Type == "ToolOutcomeUnknown" {
			done.Err = nil
			data.InDoubt = append(data.InDoubt, done)
			continue
		}
		data.Done = append(data.Done, done)
	}
	for _, i := range open.inDoubt() {
		data.InDoubt = append(data.InDoubt, prompt.InterruptedCall{Tool: i.Tool, Arguments: arguments(i)})
	}
	text := prompt.Interrupted(a.lang(), data)
	a.warn(ctx, "block_interrupted", text)
	if lost != nil {
		text += "\n" + prompt.VariablesLost(a.lang(), lost)
	}
	f := &fact.Executed{Step: a.step, Observation: text, Interrupted: true, Lost: lost, Executor: a.executorChange(),
		Err: &messages.PyError{Type: "BlockInterrupted", Message: text}}
	a.state = settling
	a.countTokens(ctx)
	a.record(ctx, f, a.limitReached(), func(ctx actor.Context) { a.nextStep(ctx, text) })
}

// executorChange names the executor for an executed fact where it is another
// than the past's; else "".
func (a *Agent) executorChange() string {
	if a.otherExecutor() {
		return a.cfg.Equipment.Driver.Describe().ID()
	}
	return ""
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
