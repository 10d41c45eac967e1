package cases

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe"
	"github.com/troupe-go/troupe/actors/tool"
	"github.com/troupe-go/troupe/messages"
	"github.com/troupe-go/troupe/tests/scripted"
)

// stopCases are the cases of stopping a run.
func stopCases() cases {
	return cases{
		"STOP-01": stopModel,
		"STOP-02": stopTools,
		"STOP-06": stopAtOddTimes,
		"STOP-08": stopWhileBusy,
	}
}

// start begins a run.
func (s *stage) start(req troupe.RunRequest) string {
	s.t.Helper()
	accepted, err := s.troupe.Start(s.t.Context(), req)
	require.NoError(s.t, err)
	return accepted.Run
}

// watch gives a run's events after a position, to its end.
func (s *stage) watch(run string, from uint64) trace {
	s.t.Helper()
	return s.until(run, from, func(*messages.Event) bool { return false })
}

// until gives a run's events after a position, to the first that fits or to
// the run's end.
func (s *stage) until(run string, from uint64, fits func(*messages.Event) bool) trace {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 30*time.Second)
	defer cancel()
	var tr trace
	for ev, err := range s.troupe.Watch(ctx, run, from) {
		require.NoError(s.t, err)
		tr = append(tr, ev)
		if fits(&ev) {
			break
		}
	}
	return tr
}

// stopNow stops a run at once and gives its events; the whole may take at
// most the given time.
func (s *stage) stopNow(run string, most time.Duration) trace {
	s.t.Helper()
	asked := time.Now()
	stopped, err := s.troupe.Stop(s.t.Context(), messages.Stop{Run: run, After: messages.StopNow})
	require.NoError(s.t, err)
	require.Equal(s.t, messages.StatusStopped, stopped.Status)
	tr := s.watch(run, 0)
	require.Less(s.t, time.Since(asked), most)
	s.wellFormed(tr)
	tr.stopped(s.t)
	return tr
}

// stopped holds for the events of a stopped run.
func (tr trace) stopped(t *testing.T) {
	t.Helper()
	require.Equal(t, messages.StatusStopped, tr.last().Status)
	require.Equal(t, messages.FinalAnswer, tr.last().Type)
	require.Equal(t, messages.UserBreak, tr.last().Content)
}

// stopModel closes the connection to a model that would write for ever, and
// the conversation goes on.
func stopModel(t *testing.T) {
	s := play(t, &scripted.Script{Turns: []scripted.Turn{
		{Match: scripted.Match{LastUser: "first"}, Reply: &scripted.Reply{Deltas: []string{"token "}, Delay: 100 * time.Millisecond, Endless: true}},
		{Match: scripted.Match{LastUser: "second"}, Reply: &scripted.Reply{Text: "Here I am."}},
	}})
	run := s.start(troupe.RunRequest{Query: "first", Conversation: "c"})
	var text string
	s.until(run, 0, func(ev *messages.Event) bool {
		if ev.Type == messages.ModelOutputThinking {
			text += ev.Content
		}
		return len(text) >= 10*len("token ") // a second
	})
	asked := time.Now()
	s.stopNow(run, time.Second)
	gone := s.gone()
	require.Less(t, gone.Time.Sub(asked), time.Second)
	again := s.run(troupe.RunRequest{Query: "second", Conversation: "c"})
	again.answered(t, "Here I am.")
	require.Len(t, s.model.Requests(), 2, "nobody asks the model again")
}

// gone waits for a client that closes its connection in mid-answer.
func (s *stage) gone() scripted.Disconnect {
	s.t.Helper()
	due := time.After(5 * time.Second)
	for {
		changed := s.model.Changed()
		if gone := s.model.Disconnected(); len(gone) > 0 {
			return gone[0]
		}
		select {
		case <-changed:
		case <-due:
			require.Fail(s.t, "no connection was closed")
		}
	}
}

// slow is a tool whose call takes a minute.
type slow struct {
	tool.Tool
	began chan struct{}
	let   chan struct{} // close it to let the call return
	ended chan error    // how the call ended
}

// newSlow makes a tool that obeys its cancel or not.
func newSlow(t *testing.T, obeys bool) *slow {
	s := &slow{began: make(chan struct{}), let: make(chan struct{}), ended: make(chan error, 1)}
	s.Tool = goTool(t, "slow", func(ctx context.Context, _ struct{}) (out string, err error) {
		defer func() { s.ended <- err }()
		cancelled := ctx.Done()
		if !obeys {
			cancelled = nil
		}
		close(s.began)
		select {
		case <-cancelled:
			err = context.Cause(ctx)
		case <-s.let:
			tool.CallFrom(ctx).Emit(messages.Card, "too late")
		case <-time.After(time.Minute):
		}
		return "a minute has passed", err
	})
	return s
}

// stopTools stops runs whose code is in a long call. The kinds of tools of
// other servers (MCP, SSH, SQL, A2A) stand in pending.txt.
func stopTools(t *testing.T) {
	t.Run("Python sleep", func(t *testing.T) {
		began := make(chan struct{})
		mark := goTool(t, "mark", func(context.Context, struct{}) (string, error) { close(began); return "", nil })
		s := play(t, steps("mark()\nimport time\ntime.sleep(60)\nmark()"), goTools(mark))
		run := s.start(troupe.RunRequest{Query: "Sleep."})
		<-began
		tr := s.stopNow(run, 2*time.Second)
		require.Len(t, tr.of(messages.Tool), 1)
		require.Eventually(t, func() bool { return len(children(t)) == 0 }, 5*time.Second, 10*time.Millisecond, "the interpreter is gone")
	})
	t.Run("Go tool", func(t *testing.T) {
		long := newSlow(t, true)
		s := play(t, steps("slow()\nslow()"), goTools(long))
		run := s.start(troupe.RunRequest{Query: "Wait."})
		<-long.began
		tr := s.stopNow(run, 2*time.Second)
		require.Error(t, <-long.ended, "the tool was told to cancel")
		require.Len(t, tr.of(messages.Tool), 1)
	})
	t.Run("Go tool that ignores its cancel", func(t *testing.T) {
		long := newSlow(t, false)
		s := play(t, steps("slow()\nslow()"), goTools(long))
		run := s.start(troupe.RunRequest{Query: "Wait."})
		<-long.began
		tr := s.stopNow(run, 2*time.Second)
		close(long.let)
		require.NoError(t, <-long.ended)
		require.Len(t, tr.of(messages.Tool), 1, "no further call begins")
		require.Empty(t, tr.of(messages.Card))
		require.Len(t, tr.of(messages.Warning), 1, "it is said to be abandoned")
		require.Equal(t, tr, s.watch(run, 0), "what it brings late changes nothing")
	})
}

// stopWhileBusy stops a run while its agent waits for a call.
func stopWhileBusy(t *testing.T) {
	long := newSlow(t, true)
	s := play(t, steps("slow()"), goTools(long))
	run := s.start(troupe.RunRequest{Query: "Wait."})
	<-long.began
	s.stopNow(run, time.Second)
	require.Error(t, <-long.ended)
}

// stopAtOddTimes stops before the start, twice, after the end, what is not
// there and what belongs to another.
func stopAtOddTimes(t *testing.T) {
	long := newSlow(t, true)
	s := play(t, steps("slow()"), goTools(long), func(cfg *troupe.Config) { cfg.Limits.MaxRuns = 1 })
	stop := func(m messages.Stop) (messages.Stopped, error) { return s.troupe.Stop(t.Context(), m) }

	_, err := stop(messages.Stop{Run: "nobody"})
	require.ErrorIs(t, err, messages.ErrUnknownRun)

	first := s.start(troupe.RunRequest{Query: "Wait.", User: "ann"})
	<-long.began
	queued := s.start(troupe.RunRequest{Query: "Wait for a place."})
	stopped, err := stop(messages.Stop{Run: queued})
	require.NoError(t, err)
	require.Equal(t, messages.StatusStopped, stopped.Status, "before its start")
	s.watch(queued, 0).stopped(t)

	_, err = stop(messages.Stop{Run: first, After: messages.StopNow, User: "bob"})
	require.ErrorIs(t, err, messages.ErrForbidden)
	select {
	case err := <-long.ended:
		require.Fail(t, "another user stopped it", "%v", err)
	default:
	}

	type reply struct {
		stopped messages.Stopped
		err     error
	}
	twice := make(chan reply, 2)
	for range 2 {
		go func() {
			stopped, err := stop(messages.Stop{Run: first, After: messages.StopNow, User: "ann"})
			twice <- reply{stopped, err}
		}()
	}
	for range 2 {
		r := <-twice
		require.NoError(t, r.err)
		require.Equal(t, messages.StatusStopped, r.stopped.Status)
	}
	before := s.watch(first, 0)
	before.stopped(t)
	for _, user := range []string{"ann", ""} {
		stopped, err = stop(messages.Stop{Run: first, After: messages.StopNow, User: user})
		require.NoError(t, err)
		require.Equal(t, messages.StatusStopped, stopped.Status)
	}
	require.Equal(t, before, s.watch(first, 0), "no state changes after the end")

	answered := play(t, says("Here."))
	tr := answered.perform()
	stopped, err = answered.troupe.Stop(t.Context(), messages.Stop{Run: tr.last().RunID})
	require.NoError(t, err)
	require.Equal(t, messages.StatusAnswered, stopped.Status, "it stays what it was")
	require.Equal(t, tr, answered.watch(tr.last().RunID, 0))
}
