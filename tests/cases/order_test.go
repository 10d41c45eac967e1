package cases

import (
	"encoding/json"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/messages"
)

// order is what holds of the events of every run with one agent: what comes
// before what.
type order struct {
	s        *stage
	step     int             // announced last
	attempts map[string]bool // by id: begun; true once committed or withdrawn
	phase    string          // of the last model_attempt_control
	parsed   int             // the step whose code runs or ran
}

// ordered checks a whole run.
func (s *stage) ordered(tr trace) {
	s.t.Helper()
	o := order{s: s, attempts: map[string]bool{}}
	for i := range tr {
		o.next(&tr[i])
	}
	for id, settled := range o.attempts {
		require.True(s.t, settled, "attempt %s was neither committed nor withdrawn", id)
	}
}

func (o *order) next(ev *messages.Event) {
	t := o.s.t
	t.Helper()
	line := string(ev.AppendJSON(nil))
	switch ev.Type {
	case messages.StepCount:
		require.Equal(t, o.step+1, ev.Step, "steps are counted one by one: %s", line)
		o.step = ev.Step
	case messages.ModelAttemptControl:
		o.control(ev, line)
	case messages.ModelOutputThinking, messages.ModelOutputDeepThinking, messages.ModelOutputCode:
		settled, begun := o.attempts[ev.AttemptID]
		require.True(t, begun && !settled, "text outside its attempt: %s", line)
	case messages.Parse:
		require.Equal(t, messages.PhaseCommit, o.phase, "code runs when its attempt stands: %s", line)
		o.parsed = ev.Step
	case messages.Tool, messages.ExecutionLogs:
		require.Equal(t, o.parsed, ev.Step, "nothing is called or printed before its PARSE: %s", line)
	}
	if o.step > 0 {
		require.Equal(t, o.step, ev.Step, "every event tells its step: %s", line)
	}
}

func (o *order) control(ev *messages.Event, line string) {
	t := o.s.t
	t.Helper()
	o.phase = ev.Phase
	settled, begun := o.attempts[ev.AttemptID]
	if ev.Phase == messages.PhaseBegin {
		require.False(t, begun, "an attempt begins once: %s", line)
		require.Equal(t, o.step, ev.Step, "STEP_COUNT comes before the step's model call: %s", line)
		o.attempts[ev.AttemptID] = false
		return
	}
	require.True(t, begun, "an attempt ends that began: %s", line)
	require.False(t, settled, "an attempt ends once: %s", line)
	o.attempts[ev.AttemptID] = true
}

// oneLine holds for every event: one line of JSON that reads back as itself.
func (s *stage) oneLine(ev *messages.Event) {
	s.t.Helper()
	line := ev.AppendJSON(nil)
	require.True(s.t, json.Valid(line), "%s", line)
	require.False(s.t, strings.ContainsAny(string(line), "\r\n"), "%s", line)
	var back messages.Event
	require.NoError(s.t, json.Unmarshal(line, &back))
	require.Equal(s.t, string(line), string(back.AppendJSON(nil)))
}
