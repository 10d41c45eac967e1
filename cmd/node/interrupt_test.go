package main

import (
	"io"
	"os"
	"syscall"
	"testing"
	"time"

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

// Before a run is followed, one signal ends the command.
func TestASignalEndsTheWaitForStdin(t *testing.T) {
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(sig.String(), func(t *testing.T) {
			b := setup(t)
			b.vars["OPENAI_API_KEY"] = "sk-1"
			in, out := io.Pipe() // of a person who types nothing
			defer out.Close()
			b.stdin = in
			code := make(chan int, 1)
			go func() { code <- b.main("run", "-") }()
			b.signals <- sig
			require.Equal(t, exitInterrupted, <-code)
			require.Empty(t, b.err.String(), "whoever stopped it knows why")
			require.Empty(t, b.opened)
		})
	}
}

// stuck starts a command that hangs in opening its node until it is let go.
func stuck(t *testing.T, grace time.Duration) (b *bench, letGo func()) {
	b = setup(t)
	b.grace = grace
	opening, release := make(chan struct{}), make(chan struct{})
	b.open = func(nodeConfig) (runner, error) {
		close(opening)
		<-release
		return b.node, nil
	}
	code := make(chan int, 1)
	go func() { code <- b.main("demo") }()
	<-opening
	return b, func() {
		close(release)
		require.Equal(t, exitInterrupted, <-code)
		require.Equal(t, 1, b.node.closed, "what is open is closed, if there is time")
		require.Empty(t, b.node.stops)
	}
}

func TestASecondSignalEndsWhatHangs(t *testing.T) {
	b, letGo := stuck(t, time.Hour)
	b.signals <- os.Interrupt
	require.Empty(t, b.exited)
	b.signals <- os.Interrupt
	require.Equal(t, exitInterrupted, <-b.exited)
	letGo()
}

func TestWhatHangsIsNotWaitedFor(t *testing.T) {
	b, letGo := stuck(t, time.Millisecond)
	b.signals <- syscall.SIGTERM
	require.Equal(t, exitInterrupted, <-b.exited)
	letGo()
}

// After a run a signal stops nothing any more.
func TestASignalWhileTheNodeCloses(t *testing.T) {
	b := setup(t)
	b.vars["OPENAI_API_KEY"] = "sk-1"
	b.grace = time.Millisecond
	b.node.closing = make(chan struct{})
	code := make(chan int, 1)
	go func() { code <- b.main("run", "q") }()
	<-b.node.closing
	b.signals <- os.Interrupt
	require.Equal(t, exitInterrupted, <-b.exited)
	require.Empty(t, b.node.stops)
	close(b.node.closing)
	require.Equal(t, exitInterrupted, <-code)
}
