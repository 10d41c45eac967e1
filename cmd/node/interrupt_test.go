package main

import (
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/messages"
)

// held sets up a run that waits for a stop of form hold, and starts it.
func held(t *testing.T, hold messages.StopAfter) (*bench, <-chan int) {
	b := setup(t)
	b.vars["OPENAI_API_KEY"] = "sk-1"
	b.node.hold = hold
	b.node.events = []messages.Event{
		{Type: messages.StepCount, Step: 1},
		last(messages.FinalAnswer, messages.UserBreak, messages.StatusStopped),
	}
	code := make(chan int, 1)
	go func() { code <- b.main("run", "q") }()
	<-b.node.started
	return b, code
}

func TestCtrlCOnceStopsAfterTheStep(t *testing.T) {
	b, code := held(t, messages.StopStep)
	b.signals <- os.Interrupt
	require.Equal(t, messages.Stop{Run: "run-1", After: messages.StopStep, Reason: "signal"}, <-b.node.stops)
	require.Equal(t, exitInterrupted, <-code)
	require.Contains(t, b.err.String(), "stopping after this step; press Ctrl-C again to stop now")
	require.Contains(t, b.out.String(), "The run was stopped.")
}

func TestCtrlCTwiceStopsNow(t *testing.T) {
	b, code := held(t, messages.StopNow)
	b.signals <- os.Interrupt
	require.Equal(t, messages.StopStep, (<-b.node.stops).After)
	b.signals <- os.Interrupt
	require.Equal(t, messages.StopNow, (<-b.node.stops).After)
	require.Equal(t, exitInterrupted, <-code)
	require.Contains(t, b.err.String(), "stopping now")
}

func TestCtrlCThriceEndsTheProcess(t *testing.T) {
	b, code := held(t, messages.StopModel) // neither stop takes effect
	for range 3 {
		b.signals <- os.Interrupt
	}
	require.Equal(t, exitInterrupted, <-b.exited)
	close(b.node.released)
	require.Equal(t, exitInterrupted, <-code)
}

func TestSIGTERMStopsNow(t *testing.T) {
	b, code := held(t, messages.StopNow)
	b.signals <- syscall.SIGTERM
	require.Equal(t, messages.StopNow, (<-b.node.stops).After)
	require.Equal(t, exitInterrupted, <-code)
}

func TestAStopThatFailsIsTold(t *testing.T) {
	b, code := held(t, messages.StopNow)
	b.node.stopErr = messages.ErrForbidden.Withf("run-1")
	b.signals <- os.Interrupt
	<-b.node.stops
	b.signals <- os.Interrupt
	<-b.node.stops
	close(b.node.released)
	require.Equal(t, exitInterrupted, <-code)
}

// A run that is answered before its stop takes effect is answered.
func TestAnAnswerInSpiteOfCtrlC(t *testing.T) {
	b := setup(t)
	b.vars["OPENAI_API_KEY"] = "sk-1"
	b.node.hold = messages.StopStep
	code := make(chan int, 1)
	go func() { code <- b.main("run", "q") }()
	<-b.node.started
	b.signals <- os.Interrupt
	require.Equal(t, exitAnswered, <-code)
}
