package agent

import (
	"github.com/asynkron/protoactor-go/actor"

	"github.com/troupe-go/troupe/actors/agent/prompt"
	"github.com/troupe-go/troupe/messages"
	"github.com/troupe-go/troupe/messages/fact"
)

// answer ends the invocation with an answer.
func (a *Agent) answer(ctx actor.Context, text string) {
	if trimmed(text) == "" {
		text = prompt.EmptyAnswer(a.lang())
	}
	a.finish(ctx, &fact.RunFinished{Status: messages.StatusAnswered, Answer: text},
		[]messages.Event{{Type: messages.FinalAnswer, Content: text}})
}

// finishMaxSteps ends it with what the summary said. MAX_STEPS_REACHED stands
// on the log with the last step.
func (a *Agent) finishMaxSteps(ctx actor.Context, text string) {
	a.finish(ctx, &fact.RunFinished{Status: messages.StatusMaxSteps, Answer: text},
		[]messages.Event{{Type: messages.FinalAnswer, Content: text}})
}

// finishStopped ends it because somebody, or its deadline, wants it to.
func (a *Agent) finishStopped(ctx actor.Context) {
	if a.stop != nil && a.stop.deadline {
		text := notes.deadline.in(a.lang(), a.cfg.Start.Deadline.Format("2006-01-02 15:04:05 MST"))
		a.finish(ctx, &fact.RunFinished{Status: messages.StatusBudget, Answer: text, Code: "deadline_reached"}, []messages.Event{
			{Type: messages.Warning, Content: text, ErrorCode: "deadline_reached"},
			{Type: messages.FinalAnswer, Content: text},
		})
		return
	}
	a.finish(ctx, &fact.RunFinished{Status: messages.StatusStopped, Answer: messages.UserBreak},
		[]messages.Event{{Type: messages.FinalAnswer, Content: messages.UserBreak}})
}

// refuse ends it because the provider's content filter would not answer.
func (a *Agent) refuse(ctx actor.Context) {
	text := prompt.Refused(a.lang())
	a.finish(ctx, &fact.RunFinished{Status: messages.StatusBlocked, Answer: text, Code: "content_filter"}, []messages.Event{
		{Type: messages.Verification, Content: string(mustJSON(verification{
			Phase: "blocked", Event: "content_filter", Round: a.step, Severity: "blocking",
			FailedCriteria: []string{"content_filter"}, UserVisibleNote: text, Message: text,
		}))},
		{Type: messages.FinalAnswer, Content: text},
	})
}

// verification is the payload of a VERIFICATION event (nexent-core §7.2).
type verification struct {
	Phase             string   `json:"phase"`
	Event             string   `json:"event"`
	Round             int      `json:"round"`
	Severity          string   `json:"severity"`
	Score             float64  `json:"score"`
	FailedCriteria    []string `json:"failed_criteria"`
	RepairInstruction string   `json:"repair_instruction"`
	UserVisibleNote   string   `json:"user_visible_note"`
	Message           string   `json:"message"`
	Passed            bool     `json:"passed"`
}

// fail ends it with an error.
func (a *Agent) fail(ctx actor.Context, f *messages.Fault) {
	retryable := f.Retryable
	a.finish(ctx, &fact.RunFinished{Status: messages.StatusFailed, Code: f.Code, Error: f.In(messages.EN)}, []messages.Event{
		{Type: messages.Error, Content: f.In(a.lang()), ErrorCode: f.Code, Retryable: &retryable},
	})
	if f.Cause != nil {
		a.cfg.System.Logger().Error("run failed", "run", a.cfg.Scope.Run, "invocation", a.cfg.Scope.Invocation, "code", f.Code, "error", f)
	}
}

// finish records the end; the events that tell of it, after the files that the
// run wrote, go out when it is stored, and then whoever waits is told.
func (a *Agent) finish(ctx actor.Context, f *fact.RunFinished, after []messages.Event) {
	if a.state == closing || a.state == ended {
		return
	}
	a.state = closing
	if a.cfg.Scope.Depth == 0 {
		after[len(after)-1].Status = f.Status
	}
	a.record(ctx, f, append(a.fileArtifact(), after...), func(ctx actor.Context) { a.end(ctx, f.Status) })
}

func (a *Agent) end(ctx actor.Context, status messages.Status) {
	a.state = ended
	ctx.Send(ctx.Parent(), &messages.InvocationEnded{
		Invocation: a.cfg.Scope.Invocation, Status: status, Artifacts: len(a.artifacts), Parts: a.stoppedParts(),
	})
}

// lose ends this owner quietly: it can't write any more, somebody else has the
// invocation.
func (a *Agent) lose(ctx actor.Context, err error) {
	if a.state == ended {
		return
	}
	a.state = ended
	a.cfg.System.Logger().Info("agent lost its log", "run", a.cfg.Scope.Run, "invocation", a.cfg.Scope.Invocation, "error", err)
	ctx.Send(ctx.Parent(), &messages.InvocationEnded{Invocation: a.cfg.Scope.Invocation, Lost: messages.AsFault(err)})
}

// stoppedParts is what a stop ended here, this invocation included.
func (a *Agent) stoppedParts() []messages.StoppedPart {
	if a.stop == nil {
		return nil
	}
	return append(a.stop.parts, messages.StoppedPart{Actor: "agent", What: notes.endedAgent.in(a.lang()), ID: a.cfg.Scope.Invocation})
}

// fileArtifact is the FILE_ARTIFACT event of the files this run wrote, or
// nothing.
func (a *Agent) fileArtifact() []messages.Event {
	if len(a.artifacts) == 0 {
		return nil
	}
	object := mustJSON(struct {
		Artifacts []messages.Artifact `json:"artifacts"`
	}{a.artifacts})
	return []messages.Event{{Type: messages.FileArtifact, Object: object}}
}
