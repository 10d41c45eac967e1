package cases

import (
	"context"
	"encoding/json"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe"
	"github.com/troupe-go/troupe/messages"
	"github.com/troupe-go/troupe/tests/scripted"
)

// evtCases are the cases of the event stream.
func evtCases() cases {
	return cases{
		"EVT-01": evtEnds,
		"EVT-03": evtResume,
	}
}

// evtEnds runs to every end there is: one last event, which says how it ended.
// An agent that panics three times ends in TestAgentPanicsThreeTimes of package
// supervisor; guardrails stand in pending.txt, the provider's filter here.
func evtEnds(t *testing.T) {
	for name, c := range map[string]struct {
		script *scripted.Script
		begin  func(*stage, troupe.RunRequest) string
		req    troupe.RunRequest
		status messages.Status
		code   string // of the last event
		steps  int
	}{
		"answer in code":  {script: steps("print(1)", "final_answer(2)"), status: messages.StatusAnswered, steps: 2},
		"answer in prose": {script: steps("print(1)"), status: messages.StatusAnswered, steps: 2},
		"max steps": {script: says(code("print(1)"), code("print(2)"), "So far 2."),
			req: troupe.RunRequest{Overrides: messages.Overrides{MaxSteps: 2}}, status: messages.StatusMaxSteps, steps: 3}, // the summary counts
		"model error": {script: answers(scripted.Reply{Text: code("print(1)")}, scripted.Reply{Status: 401, Error: &scripted.Error{Message: "no such key"}}),
			status: messages.StatusFailed, code: "model_authentication_error", steps: 2},
		"content filter": {script: answers(scripted.Reply{Text: code("print(1)")}, scripted.Reply{Text: "I", FinishReason: "content_filter"}),
			status: messages.StatusBlocked, steps: 2},
		"stop": {script: answers(scripted.Reply{Text: code("print(1)")}, scripted.Reply{Hang: "headers"}),
			begin: stopAtSecondStep, status: messages.StatusStopped, steps: 2},
		"deadline": {script: answers(scripted.Reply{Hang: "body"}), begin: withDeadline, status: messages.StatusBudget, steps: 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := play(t, c.script)
			if c.begin == nil {
				c.begin = (*stage).start
			}
			c.req.Query = "Get to the end."
			run := c.begin(s, c.req)
			tr := s.watch(run, 0)
			s.wellFormed(tr)
			tr.onWire(t)
			require.Equal(t, c.status, tr.last().Status)
			require.Equal(t, c.code, tr.last().ErrorCode)
			require.NotEmpty(t, tr.last().Content)
			end := messages.Terminal[c.status]
			require.Subset(t, tr.types(), end)
			require.Equal(t, end[len(end)-1], tr.last().Type)
			require.Len(t, tr.of(messages.FinalAnswer, messages.Error), 1, "an error is no answer")
			require.Len(t, tr.of(messages.StepCount), c.steps)
			require.Equal(t, tr, s.watch(run, 0), "nothing follows")
		})
	}
}

// stopAtSecondStep stops a run in its second model call.
func stopAtSecondStep(s *stage, req troupe.RunRequest) string {
	run := s.start(req)
	s.until(run, 0, func(ev *messages.Event) bool { return ev.Type == messages.StepCount && ev.Step == 2 })
	_, err := s.troupe.Stop(s.t.Context(), messages.Stop{Run: run, After: messages.StopNow})
	require.NoError(s.t, err)
	return run
}

// withDeadline begins a run that has half a second.
func withDeadline(s *stage, req troupe.RunRequest) string {
	req.Deadline = time.Now().Add(time.Second / 2)
	return s.start(req)
}

// onWire holds for the lines of a stream: each is one JSON object with a type,
// step numbers rise, and one line, the last, has a status.
func (tr trace) onWire(t *testing.T) {
	t.Helper()
	step := 0
	for i := range tr {
		line := string(tr[i].AppendJSON(nil))
		require.NotContains(t, line, "\n")
		var fields struct {
			Type   string `json:"type"`
			Step   int    `json:"step"`
			Status string `json:"status"`
		}
		require.NoError(t, json.Unmarshal([]byte(line), &fields), line)
		require.NotEmpty(t, fields.Type)
		require.Equal(t, i == len(tr)-1, fields.Status != "", line)
		require.GreaterOrEqual(t, fields.Step, step, line)
		step = fields.Step
	}
}

// evtResume reads a stream in parts: what a watcher has seen never comes
// again, and nothing is lost.
func evtResume(t *testing.T) {
	long := newSlow(t, true)
	block := "for i in range(5):\n    print(i)"
	s := play(t, steps(block, block, "slow()\nNone", block, block), goTools(long))
	run := s.start(troupe.RunRequest{Query: "Count."})
	dropped := s.until(run, 0, func(ev *messages.Event) bool { return ev.Seq == 10 })
	require.Len(t, dropped, 10)
	<-long.began // the run went on meanwhile, and waits now

	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	next, stop := iter.Pull2(s.troupe.Watch(ctx, run, 0)) // a slow watcher
	defer stop()
	first, err, _ := next()
	require.NoError(t, err)
	require.Equal(t, dropped[0], first)

	resumed, stopResumed := iter.Pull2(s.troupe.Watch(ctx, run, 10))
	defer stopResumed()
	eleventh, err, _ := resumed()
	require.NoError(t, err)
	close(long.let)
	rest := append(trace{eleventh}, pull(t, resumed)...)
	for i := range rest {
		require.EqualValues(t, 11+i, rest[i].Seq, "in order, none twice, none left out")
	}
	whole := append(dropped, rest...)
	s.wellFormed(whole)
	whole.answered(t, "done")
	whole.prints(t, strings.Repeat("0\n1\n2\n3\n4\n", 4))
	require.Equal(t, whole[1:], pull(t, next), "a slow watcher misses nothing")
	require.Equal(t, whole, s.watch(run, 0), "after the end")
	require.Equal(t, rest, s.watch(run, 10), "after the end, from event 10")
	require.Empty(t, s.watch(run, whole.last().Seq), "after the last event")
}

// pull gives what is left of a stream.
func pull(t *testing.T, next func() (messages.Event, error, bool)) trace {
	t.Helper()
	var tr trace
	for {
		ev, err, more := next()
		if !more {
			return tr
		}
		require.NoError(t, err)
		tr = append(tr, ev)
	}
}
