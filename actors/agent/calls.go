package agent

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/troupe-go/troupe/actors/system"
	"github.com/troupe-go/troupe/actors/tool"
	"github.com/troupe-go/troupe/messages"
	"github.com/troupe-go/troupe/messages/fact"
)

// onCall takes a call that running code makes: it is checked, announced and,
// when it has effects, logged, before the tool sees it.
func (a *Agent) onCall(ctx actor.Context, m *messages.CallTool) {
	executor := ctx.Sender()
	if a.state != acting || m.Block != a.blockID || executor == nil {
		return
	}
	t, prepared, refusal := a.checkCall(m)
	if refusal != nil {
		a.refuseCall(ctx, executor, m, refusal)
		a.stop.calls(ctx, a)
		return
	}
	c := &call{msg: *m, spec: t.Spec, prepared: prepared, executor: executor, effects: t.Spec.Effects.Begins()}
	c.msg.ID, c.msg.Step = a.callID(m), a.step
	if a.calls == nil {
		a.calls = make(map[uint64]*call, 1)
	}
	a.calls[m.Call] = c
	a.announce(ctx, c)
	if !c.effects {
		a.startCall(ctx, c, t)
		return
	}
	if before := a.tryAgain(m); before != nil { // its intent is on the log
		c.key = before.IdempotencyKey
		a.startCall(ctx, c, t)
		return
	}
	c.key = a.cfg.Scope.Invocation + "-" + c.msg.ID
	f := &fact.Intended{
		Step: a.step, ToolCallID: c.msg.ID, Call: m.Call, Tool: m.Tool, Args: m.Args, Kwargs: m.Kwargs,
		Hash: prepared.Hash, IdempotencyKey: c.key, Calls: a.done,
	}
	a.done = nil
	a.record(ctx, f, nil, func(ctx actor.Context) { a.startCall(ctx, c, t) })
}

// callID gives the id of a call: its own from before when it is another try.
func (a *Agent) callID(m *messages.CallTool) string {
	if before := a.again[m.Call]; before != nil && before.Hash == fact.CallHash(m.Tool, m.Args, m.Kwargs) {
		return before.ToolCallID
	}
	return a.cfg.System.World().NewID()
}

// checkCall finds the tool of a call and binds its arguments, or says why it
// can't begin.
func (a *Agent) checkCall(m *messages.CallTool) (*Tool, *tool.Prepared, *messages.ToolError) {
	t, ok := a.cfg.Equipment.tool(m.Tool)
	if !ok {
		return nil, nil, &messages.ToolError{Type: "NameError", Message: notes.noTool.in(a.lang(), m.Tool)}
	}
	a.callCount++
	if limit := a.cfg.Equipment.callLimit(); a.callCount > limit {
		return nil, nil, &messages.ToolError{Type: "RuntimeError", Code: "tool_call_limit", Message: notes.callLimit.in(a.lang(), limit)}
	}
	if a.stop.refusesCalls() {
		return nil, nil, &messages.ToolError{Type: "RuntimeError", Code: "stopping", Message: notes.stopping.in(a.lang())}
	}
	prepared, refusal := tool.Prepare(t.Spec, m, a.lang())
	return t, prepared, refusal
}

// announce tells people of a call, and of arguments that were clamped; the
// model reads the latter with the observation.
func (a *Agent) announce(ctx actor.Context, c *call) {
	for i := range c.prepared.Notes {
		text := c.prepared.Notes[i].In(a.lang())
		a.emit(ctx, messages.Event{Type: messages.Other, Content: text, ToolCallID: c.msg.ID})
		a.noted = append(a.noted, text)
	}
	if !c.spec.Silent {
		a.emit(ctx, messages.Event{Type: messages.Tool, ToolName: c.msg.Tool, ToolArguments: c.prepared.Arguments, ToolCallID: c.msg.ID})
	}
}

// startCall hands a call to its tool. One that was dropped while its intent
// was on the way never begins.
func (a *Agent) startCall(ctx actor.Context, c *call, t *Tool) {
	if a.calls[c.msg.Call] != c || a.stop.now() {
		return
	}
	pid, err := a.toolActor(ctx, t)
	if err != nil {
		f := messages.AsFault(err)
		a.onReturned(ctx, &messages.ToolReturned{ID: c.msg.ID, Block: c.msg.Block, Call: c.msg.Call, Tool: c.msg.Tool,
			Err: &messages.ToolError{Type: "ToolError", Code: f.Code, Message: f.Error()}})
		return
	}
	c.tool = pid
	c.run = tool.Run{Call: &c.msg, Prepared: c.prepared, IdempotencyKey: c.key}
	ctx.Request(pid, &c.run)
}

// onReturned logs a result and lets the code see it.
func (a *Agent) onReturned(ctx actor.Context, m *messages.ToolReturned) {
	if c, ok := a.cut[m.ID]; ok {
		a.onLateReturn(ctx, c, m)
		return
	}
	c, ok := a.calls[m.Call]
	if !ok || m.Block != a.blockID || m.ID != c.msg.ID || c.returned {
		return
	}
	c.returned = true
	if m.Err != nil && m.Err.Code == tool.CodePanicked && c.tool != nil {
		a.retireTool(ctx, c.tool)
	}
	a.noteArtifacts(m.Artifacts)
	if a.stop.now() { // the code is gone; the log still says what came of it
		delete(a.calls, m.Call)
		if c.effects {
			a.record(ctx, returned(c.msg.Step, m), nil, nil)
		}
		a.stop.cancelled(ctx, a, "tool:"+m.ID)
		return
	}
	if m.Err != nil && m.Err.Abandoned {
		a.warn(ctx, "tool_abandoned", notes.abandoned.in(a.lang(), m.Tool))
	}
	seen := *m
	seen.At = a.cfg.System.World().Now()
	if !c.effects {
		a.done = append(a.done, fact.Call{Call: m.Call, Tool: m.Tool, Hash: c.prepared.Hash, Value: m.Value, Err: m.Err, At: seen.At})
		a.reply(ctx, c, &seen)
		return
	}
	a.record(ctx, returned(c.msg.Step, &seen), nil, func(ctx actor.Context) { a.reply(ctx, c, &seen) })
}

// onLateReturn logs what came of a call whose block had ended; the model reads
// it with the next observation.
func (a *Agent) onLateReturn(ctx actor.Context, c *call, m *messages.ToolReturned) {
	delete(a.cut, m.ID)
	if a.state == closing || a.state == ended {
		return // it stays in doubt
	}
	a.noteArtifacts(m.Artifacts)
	a.record(ctx, returned(c.msg.Step, m), nil, nil)
	a.noted = append(a.noted, a.lateNote(m.Tool, m.Value, m.Err))
}

// lateNote tells the model what came of a call that its block didn't wait for.
func (a *Agent) lateNote(name string, v json.RawMessage, e *messages.ToolError) string {
	if e != nil {
		return notes.lateError.in(a.lang(), name, e.Type, e.Message)
	}
	return notes.lateResult.in(a.lang(), name, clip(string(v), 400, a.lang()))
}

func returned(step int, m *messages.ToolReturned) *fact.Returned {
	return &fact.Returned{Step: step, ToolCallID: m.ID, Call: m.Call, Tool: m.Tool, Value: m.Value, Err: m.Err, Changes: m.Artifacts, At: m.At}
}

// reply gives the code its result.
func (a *Agent) reply(ctx actor.Context, c *call, m *messages.ToolReturned) {
	if a.calls[m.Call] != c {
		return
	}
	delete(a.calls, m.Call)
	ctx.Send(c.executor, m)
	a.stop.calls(ctx, a)
}

// refuseCall answers a call that can't begin. The code saw that, so it is told
// the same when it is run again.
func (a *Agent) refuseCall(ctx actor.Context, executor *actor.PID, m *messages.CallTool, e *messages.ToolError) {
	now := a.cfg.System.World().Now()
	a.done = append(a.done, fact.Call{Call: m.Call, Tool: m.Tool, Hash: fact.CallHash(m.Tool, m.Args, m.Kwargs), Err: e, At: now})
	ctx.Send(executor, &messages.ToolReturned{ID: m.ID, Block: m.Block, Call: m.Call, Tool: m.Tool, Err: e, At: now})
}

// cutCalls cancels what a block left running when it ended. One with effects
// is still waited for: what came of it belongs on the log, and the model is
// told that it doesn't know yet.
func (a *Agent) cutCalls(ctx actor.Context) {
	if a.stop.now() {
		return // cancelled already, and waited for
	}
	for _, c := range a.calls {
		if c.tool == nil || c.returned {
			continue
		}
		ctx.Send(c.tool, &messages.CancelCall{ID: c.msg.ID})
		if !c.effects {
			continue
		}
		if a.cut == nil {
			a.cut = map[string]*call{}
		}
		a.cut[c.msg.ID] = c
		a.noted = append(a.noted, notes.cut.in(a.lang(), c.msg.Tool))
	}
	clear(a.calls)
}

// retireTool lets further calls of a tool go to a new actor: this one has said
// that it crashes, and what it gets from now on is lost with it. Doing
// it twice changes nothing.
func (a *Agent) retireTool(ctx actor.Context, who *actor.PID) {
	for name, pid := range a.tools {
		if !pid.Equal(who) {
			continue
		}
		delete(a.tools, name)
		if a.retired == nil {
			a.retired = map[string]string{}
		}
		a.retired[who.Id] = name
		a.warn(ctx, "tool_restarted", notes.toolLost.in(a.lang(), name))
		return
	}
}

// onToolLost answers the calls of a tool actor that is gone.
func (a *Agent) onToolLost(ctx actor.Context, who *actor.PID, crash *system.Failure) {
	a.retireTool(ctx, who)
	name, ok := a.retired[who.Id]
	if !ok {
		return
	}
	delete(a.retired, who.Id)
	if crash != nil {
		a.cfg.System.Logger().Error("tool actor crashed", "run", a.cfg.Scope.Run, "tool", name, "failure", crash)
	}
	for _, c := range slices.Concat(slices.Collect(maps.Values(a.calls)), slices.Collect(maps.Values(a.cut))) {
		if c.tool == nil || !c.tool.Equal(who) {
			continue
		}
		a.onReturned(ctx, &messages.ToolReturned{ID: c.msg.ID, Block: c.msg.Block, Call: c.msg.Call, Tool: name,
			Err: &messages.ToolError{Type: "ToolPanicked", Code: "tool_panicked", Message: notes.toolLost.in(a.lang(), name)}})
	}
}

// noteArtifacts remembers workspace files by path; the latest version counts.
func (a *Agent) noteArtifacts(changed []messages.Artifact) {
next:
	for _, f := range changed {
		for i := range a.artifacts {
			if a.artifacts[i].Path == f.Path {
				a.artifacts[i] = f
				continue next
			}
		}
		a.artifacts = append(a.artifacts, f)
	}
}
