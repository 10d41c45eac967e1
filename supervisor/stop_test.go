package supervisor_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/system"
	"github.com/troupe-go/troupe/messages"
)

func parts(s *messages.Stopped) []string {
	var out []string
	for _, p := range s.Parts {
		out = append(out, p.Actor)
	}
	return out
}

// ask stops a run on a goroutine and gives the answer when it comes.
func (h *house) ask(s messages.Stop) <-chan *messages.Stopped {
	reply := make(chan *messages.Stopped, 1)
	go func() {
		r, err := system.Ask[*messages.Stopped](h.ctx, h.system, h.root, &s)
		if err != nil { // the test's patience is over; it fails on what it got
			r = &messages.Stopped{Fault: messages.AsFault(err)}
		}
		reply <- r
	}()
	return reply
}

func TestStopNowWhileThinking(t *testing.T) {
	h := setup(t, messages.Limits{})
	run := h.start(messages.RunAgent{})
	q := h.next()
	stopped := h.stop(messages.Stop{Run: run, After: messages.StopNow})
	require.Equal(t, messages.StatusStopped, stopped.Status)
	require.Equal(t, []string{"model", "agent"}, parts(stopped))
	require.ErrorIs(t, q.ctx.Err(), context.Canceled)
	events := h.watch(run)
	require.Equal(t, messages.UserBreak, events[len(events)-1].Content)
	require.Equal(t, messages.StatusStopped, events[len(events)-1].Status)
}

func TestStopNowInATool(t *testing.T) {
	h := setup(t, messages.Limits{})
	run := h.start(messages.RunAgent{})
	h.next().answer <- code("work")
	h.begun()
	stopped := h.stop(messages.Stop{Run: run, After: messages.StopNow})
	require.ElementsMatch(t, []string{"python", "tool:work", "agent"}, parts(stopped))
	h.watch(run)
}

// TestStopStep lets the running step end: its observation is recorded, and no
// further model call is made.
func TestStopStep(t *testing.T) {
	h := setup(t, messages.Limits{})
	run := h.start(messages.RunAgent{})
	h.next().answer <- code("work")
	h.begun()
	reply := h.ask(messages.Stop{Run: run})
	h.requested(run)
	h.tool.end <- nil
	require.Equal(t, messages.StatusStopped, (<-reply).Status)
	events := h.watch(run)
	require.Contains(t, contents(events, messages.ExecutionLogs), "\"worked\"\n")
	require.Equal(t, messages.UserBreak, events[len(events)-1].Content)
}

// TestStopStepKeepsAnAnswer: an answer that the running step brings is the
// run's answer.
func TestStopStepKeepsAnAnswer(t *testing.T) {
	h := setup(t, messages.Limits{})
	run := h.start(messages.RunAgent{})
	q := h.next()
	reply := h.ask(messages.Stop{Run: run, After: messages.StopStep})
	h.requested(run)
	q.answer <- "The answer."
	require.Equal(t, messages.StatusAnswered, (<-reply).Status)
	events := h.watch(run)
	require.Equal(t, "The answer.", events[len(events)-1].Content)
}

// TestStopModel ends the run after the model's answer, before its code runs.
func TestStopModel(t *testing.T) {
	h := setup(t, messages.Limits{})
	run := h.start(messages.RunAgent{})
	q := h.next()
	reply := h.ask(messages.Stop{Run: run, After: messages.StopModel})
	h.requested(run)
	q.answer <- code("work")
	require.Equal(t, messages.StatusStopped, (<-reply).Status)
	h.watch(run)
	require.Zero(t, h.tool.calls.Load())
	require.Zero(t, h.python.started.Load())
}

// TestStopTool ends the block when its running calls have returned.
func TestStopTool(t *testing.T) {
	h := setup(t, messages.Limits{})
	run := h.start(messages.RunAgent{})
	h.next().answer <- code("work")
	h.begun()
	reply := h.ask(messages.Stop{Run: run, After: messages.StopTool})
	h.requested(run)
	h.tool.end <- nil
	stopped := <-reply
	require.Equal(t, messages.StatusStopped, stopped.Status)
	require.Contains(t, parts(stopped), "python")
	h.watch(run)
}

// TestStopOverridden: now overrides a pending step, and both are answered.
func TestStopOverridden(t *testing.T) {
	h := setup(t, messages.Limits{})
	run := h.start(messages.RunAgent{})
	h.next().answer <- code("work")
	h.begun()
	mild := h.ask(messages.Stop{Run: run, After: messages.StopStep})
	h.requested(run)
	hard := h.stop(messages.Stop{Run: run, After: messages.StopNow})
	require.Equal(t, messages.StatusStopped, hard.Status)
	require.Equal(t, messages.StatusStopped, (<-mild).Status)
	h.watch(run)
}

// TestStopAtOddTimes is STOP-06: before the start, twice, after the end, an
// unknown run, another user.
func TestStopAtOddTimes(t *testing.T) {
	h := setup(t, messages.Limits{MaxRuns: 1})
	require.ErrorIs(t, h.stop(messages.Stop{Run: "none"}).Fault, messages.ErrUnknownRun)
	first := h.start(messages.RunAgent{User: "ann"})
	h.next()
	second := h.start(messages.RunAgent{})
	require.Equal(t, messages.StatusStopped, h.stop(messages.Stop{Run: second}).Status, "stopped while it waits for a place")
	h.watch(second)
	require.ErrorIs(t, h.stop(messages.Stop{Run: first, User: "bob"}).Fault, messages.ErrForbidden)
	a := h.ask(messages.Stop{Run: first, After: messages.StopNow, User: "ann"})
	b := h.ask(messages.Stop{Run: first, After: messages.StopNow})
	require.Equal(t, messages.StatusStopped, (<-a).Status)
	require.Equal(t, messages.StatusStopped, (<-b).Status)
	before := h.watch(first)
	require.Equal(t, messages.StatusStopped, h.stop(messages.Stop{Run: first}).Status)
	require.Len(t, h.watch(first), len(before), "no state changes after the end")
}

// TestStopSurvivesTheAgent: a stop that was asked for is obeyed by the next
// owner, and its asker is answered.
func TestStopSurvivesTheAgent(t *testing.T) {
	h := setup(t, messages.Limits{})
	run := h.start(messages.RunAgent{})
	h.next().answer <- code("work")
	h.begun()
	reply := h.ask(messages.Stop{Run: run})
	h.requested(run)
	h.system.Root().Stop(h.agent())
	require.Equal(t, messages.StatusStopped, (<-reply).Status)
	h.watch(run)
}
