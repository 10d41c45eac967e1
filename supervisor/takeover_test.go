package supervisor_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/observer"
	"github.com/troupe-go/troupe/bridge/runlog"
	"github.com/troupe-go/troupe/messages"
	"github.com/troupe-go/troupe/messages/fact"
	"github.com/troupe-go/troupe/supervisor"
)

// TestAgentKilledWhileThinking loses the agent in mid-answer: the next owner
// asks the model again and the run is answered.
func TestAgentKilledWhileThinking(t *testing.T) {
	h := setup(t, messages.Limits{})
	run := h.start(messages.RunAgent{})
	h.next()
	h.system.Root().Stop(h.agent())
	h.next().answer <- "All is well."
	events := h.watch(run)
	require.Equal(t, messages.StatusAnswered, events[len(events)-1].Status)
	require.Equal(t, "All is well.", events[len(events)-1].Content)
	require.Len(t, contents(events, messages.StepCount), 1, "the withdrawn announcement of the step is made again, once")
	require.Len(t, contents(events, messages.Warning), 1)
	require.Len(t, contents(events, messages.AgentNewRun), 1)
}

// TestAgentPanics is the same with a bug of ours in place of a kill.
func TestAgentPanics(t *testing.T) {
	h := setup(t, messages.Limits{})
	run := h.start(messages.RunAgent{})
	h.next().answer <- code("print")
	q := h.next()
	require.Contains(t, q.last, "printed")
	h.system.Root().Send(h.agent(), (*messages.Thought)(nil))
	q = h.next()
	require.Contains(t, q.last, "printed", "the window is rebuilt from facts")
	q.answer <- "Two steps."
	events := h.watch(run)
	require.Equal(t, "Two steps.", events[len(events)-1].Content)
	require.Len(t, contents(events, messages.StepCount), 2)
}

// TestAgentPanicsThreeTimes is parked as failed, with one last event (EVT-01).
func TestAgentPanicsThreeTimes(t *testing.T) {
	h := setup(t, messages.Limits{})
	run := h.start(messages.RunAgent{})
	for range 3 {
		h.next()
		h.system.Root().Send(h.agent(), (*messages.Thought)(nil))
	}
	events := h.watch(run)
	last := events[len(events)-1]
	require.Equal(t, messages.Error, last.Type)
	require.Equal(t, messages.StatusFailed, last.Status)
	require.Equal(t, "agent_crashed", last.ErrorCode)
}

// TestAgentKilledInMidBlock loses the agent while an outside effect runs: the
// block is run again, the effect is in doubt and never begun again: the code
// is told.
func TestAgentKilledInMidBlock(t *testing.T) {
	h := setup(t, messages.Limits{})
	run := h.start(messages.RunAgent{})
	h.next().answer <- code("work")
	h.begun()
	h.system.Root().Stop(h.agent())
	q := h.next()
	require.Contains(t, q.last, "ToolOutcomeUnknown: whether this call of work took effect")
	q.answer <- "I can't tell whether it worked."
	events := h.watch(run)
	require.Equal(t, messages.StatusAnswered, events[len(events)-1].Status)
	require.EqualValues(t, 1, h.tool.calls.Load(), "an effect begins at most once")
}

// TestToolPanics: the code sees ToolPanicked, the tool is replaced, the run
// goes on.
func TestToolPanics(t *testing.T) {
	h := setup(t, messages.Limits{})
	run := h.start(messages.RunAgent{})
	h.next().answer <- code("work")
	h.begun()
	h.tool.end <- errors.New("panic")
	q := h.next()
	require.Contains(t, q.last, "ToolPanicked")
	q.answer <- code("work")
	h.begun()
	h.tool.end <- nil
	q = h.next()
	require.Contains(t, q.last, "worked")
	q.answer <- "Worked at last."
	events := h.watch(run)
	require.Equal(t, "Worked at last.", events[len(events)-1].Content)
	require.NotEmpty(t, contents(events, messages.Warning))
}

// TestToolCalledAgainAfterAPanic: a call that follows at once goes to the new
// tool, not to the one that is about to crash.
func TestToolCalledAgainAfterAPanic(t *testing.T) {
	h := setup(t, messages.Limits{})
	run := h.start(messages.RunAgent{})
	h.next().answer <- code("work again")
	h.begun()
	h.tool.end <- errors.New("panic")
	h.begun()
	h.tool.end <- nil
	q := h.next()
	require.Contains(t, q.last, "tool_panicked")
	require.Contains(t, q.last, `then "worked" <nil>`)
	q.answer <- "Worked."
	require.Len(t, contents(h.watch(run), messages.Warning), 1)
}

// TestExecutorDies: the block ends, and the next one runs in a new interpreter
// in which the blocks before were run again.
func TestExecutorDies(t *testing.T) {
	h := setup(t, messages.Limits{})
	run := h.start(messages.RunAgent{})
	h.next().answer <- code("print")
	h.next().answer <- code("die")
	h.next().answer <- code("print")
	q := h.next()
	require.Equal(t, "Execution logs:\nprinted\n", q.last)
	q.answer <- code("final")
	events := h.watch(run)
	require.Equal(t, "done", events[len(events)-1].Content)
	require.EqualValues(t, 2, h.python.started.Load())
}

// TestRunActorLost: the head of the tree goes, with all below it; the root
// takes the run over.
func TestRunActorLost(t *testing.T) {
	h := setup(t, messages.Limits{})
	run := h.start(messages.RunAgent{})
	h.next()
	h.system.Root().Stop(h.find(1))
	h.next().answer <- "Still here."
	events := h.watch(run)
	require.Equal(t, "Still here.", events[len(events)-1].Content)
}

// finishedLog finds, when it adopts, that the run had ended.
type finishedLog struct{ supervisor.Log }

func (finishedLog) Adopt(context.Context, string, string, string, string) (*supervisor.Adoption, error) {
	return &supervisor.Adoption{Finished: &fact.RunFinished{Status: messages.StatusMaxSteps}}, nil
}

// lostLog can't be adopted by anybody.
type lostLog struct{ supervisor.Log }

func (lostLog) Adopt(context.Context, string, string, string, string) (*supervisor.Adoption, error) {
	return nil, runlog.ErrDiverged
}

// panickyLog panics where a run begins.
type panickyLog struct{ supervisor.Log }

func (panickyLog) Begin(context.Context, string, string, *fact.RunStarted) (observer.Journal, error) {
	panic("no log")
}

// panickyAdoption panics where a run is taken over.
type panickyAdoption struct{ supervisor.Log }

func (panickyAdoption) Adopt(context.Context, string, string, string, string) (*supervisor.Adoption, error) {
	panic("no adoption")
}

// TestAdoptionThatPanics: it is tried again, not for ever; whoever waits is
// answered.
func TestAdoptionThatPanics(t *testing.T) {
	h := setup(t, messages.Limits{}, func(l supervisor.Log) supervisor.Log { return panickyAdoption{l} })
	run := h.start(messages.RunAgent{})
	h.next()
	reply := h.ask(messages.Stop{Run: run})
	h.requested(run)
	h.system.Root().Stop(h.agent())
	require.Equal(t, messages.StatusFailed, (<-reply).Status)
}

// TestAdoptionOfAFinishedRun: the agent went between its last fact and telling
// so; the run is over with the status that stands on the log.
func TestAdoptionOfAFinishedRun(t *testing.T) {
	h := setup(t, messages.Limits{}, func(l supervisor.Log) supervisor.Log { return finishedLog{l} })
	run := h.start(messages.RunAgent{})
	h.next()
	reply := h.ask(messages.Stop{Run: run})
	h.requested(run)
	h.system.Root().Stop(h.agent())
	require.Equal(t, messages.StatusMaxSteps, (<-reply).Status)
}

// TestLogThatCantBeAdopted: the run is given up, its place is free again, and
// who waits for it is answered.
func TestLogThatCantBeAdopted(t *testing.T) {
	h := setup(t, messages.Limits{MaxRuns: 1}, func(l supervisor.Log) supervisor.Log { return lostLog{l} })
	run := h.start(messages.RunAgent{})
	h.next()
	reply := h.ask(messages.Stop{Run: run})
	h.requested(run)
	h.system.Root().Stop(h.agent())
	require.Equal(t, messages.StatusFailed, (<-reply).Status)
	second := h.start(messages.RunAgent{})
	h.next().answer <- "There is room."
	h.watch(second)
}

// TestPanicWhereARunBegins: the caller is told, and nothing hangs.
func TestPanicWhereARunBegins(t *testing.T) {
	h := setup(t, messages.Limits{}, func(l supervisor.Log) supervisor.Log { return panickyLog{l} })
	require.Equal(t, "internal", h.refused(messages.RunAgent{Query: "x"}).Code)
	require.Zero(t, h.plans.Load(), "the plan is released")
}

// TestOneKeyManyCallers: who comes while the run with its key is still
// beginning is answered with it, and refused with it.
func TestOneKeyManyCallers(t *testing.T) {
	h := setup(t, messages.Limits{})
	for _, agent := range []string{"", "nobody"} {
		t.Run("agent "+agent, func(t *testing.T) {
			replies := make(chan any, 8)
			for range cap(replies) {
				h.system.Go(func() {
					reply, err := h.system.Ask(h.ctx, h.root, &messages.RunAgent{Query: "x", Agent: agent, IdempotencyKey: "k" + agent})
					if err != nil {
						reply = err
					}
					replies <- reply
				})
			}
			first, run := 0, ""
			for range cap(replies) {
				switch r := (<-replies).(type) {
				case *messages.RunAccepted:
					require.Empty(t, agent)
					require.True(t, run == "" || run == r.Run, "one run for all")
					run = r.Run
					if !r.Existing {
						first++
					}
				case *messages.RunRefused:
					require.Equal(t, "nobody", agent)
					require.ErrorIs(t, r.Fault, messages.ErrUnknownAgent)
				default:
					require.Fail(t, "unexpected reply", "%v", r)
				}
			}
			if agent == "" {
				require.Equal(t, 1, first, "one of them made it")
				h.next().answer <- "done"
				h.watch(run)
			}
		})
	}
}
