package cases

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe"
	"github.com/troupe-go/troupe/messages"
	"github.com/troupe-go/troupe/tests/scripted"
)

// TestToolPanics breaks a tool that is written in Go: the code sees an
// exception, the tool is made anew, and the run comes to its answer.
func TestToolPanics(t *testing.T) {
	type args struct {
		N int `json:"n"`
	}
	half := goTool(t, "half", func(_ context.Context, a args) (int, error) {
		if a.N%2 == 1 {
			panic("odd number")
		}
		return a.N / 2, nil
	})
	for name, c := range map[string]struct {
		blocks []string
		seen   string // of the first step
		steps  int
	}{
		"caught in the code": {blocks: []string{"try:\n    half(n=3)\nexcept ToolPanicked as e:\n    print('caught', e)\nx = half(n=84)", "final_answer(x)"},
			seen: "caught half failed inside and is restarted: odd number", steps: 2},
		"left to the model": {blocks: []string{"x = 84\nhalf(n=3)", "final_answer(half(n=x))"},
			seen: "Error in line 2: ToolPanicked: half failed inside and is restarted: odd number", steps: 2},
		"again and again": {blocks: []string{"for n in range(9):\n    try:\n        half(n=2*n+1)\n    except ToolPanicked:\n        print(n)", "final_answer(half(n=84))"},
			seen: "6\n7\n8\n", steps: 2},
	} {
		t.Run(name, func(t *testing.T) {
			s := play(t, steps(c.blocks...), goTools(half))
			tr := s.perform()
			tr.answered(t, "42")
			require.Contains(t, s.observation(1), c.seen)
			require.Len(t, tr.of(messages.StepCount), c.steps)
			require.Contains(t, codes(tr.of(messages.Warning)), "tool_restarted")
		})
	}
}

func codes(tr trace) []string {
	out := make([]string, len(tr))
	for i := range tr {
		out[i] = tr[i].ErrorCode
	}
	return out
}

// kill ends the interpreter from outside.
func kill(t *testing.T) {
	t.Helper()
	list := children(t)
	require.Len(t, list, 1)
	p, err := os.FindProcess(list[0])
	require.NoError(t, err)
	require.NoError(t, p.Kill())
}

// TestPythonKilled kills the interpreter from outside: the model keeps what
// the block had printed, has the variables of the blocks before, and goes on.
func TestPythonKilled(t *testing.T) {
	const died, gone = "its interpreter ended unexpectedly", "The interpreter was replaced"

	t.Run("in mid-block", func(t *testing.T) {
		began := make(chan struct{})
		mark := goTool(t, "mark", func(context.Context, struct{}) (string, error) { close(began); return "", nil })
		s := play(t, steps("x = 40", "print('kept')\nmark()\nwhile True: pass", "print(x)", "final_answer(x + 2)"), goTools(mark))
		run := s.start(troupe.RunRequest{Query: "Count."})
		<-began
		kill(t)
		tr := s.watch(run, 0)
		s.wellFormed(tr)
		tr.answered(t, "42")
		require.Contains(t, s.observation(2), "Execution logs:\nkept\n")
		require.Contains(t, s.observation(2), died)
		require.Contains(t, s.observation(3), "Execution logs:\n40\n")
		require.NotContains(t, s.observation(3), gone)
		require.Equal(t, []string{"executor_died"}, codes(tr.of(messages.Warning)))
	})

	t.Run("in a call", func(t *testing.T) {
		long := newSlow(t, true)
		s := play(t, steps("print('kept')\nslow()", "final_answer(42)"), goTools(long))
		run := s.start(troupe.RunRequest{Query: "Wait."})
		<-long.began
		kill(t)
		require.Error(t, <-long.ended, "nobody waits for the call: it is cancelled")
		tr := s.watch(run, 0)
		s.wellFormed(tr)
		tr.answered(t, "42")
		require.Contains(t, s.observation(1), "kept\n")
		require.Contains(t, s.observation(1), died)
	})

	t.Run("between two blocks", func(t *testing.T) {
		s := play(t, answers(
			scripted.Reply{Text: code("x = 40")},
			scripted.Reply{Text: code("print(x)"), Wait: time.Second / 2},
			scripted.Reply{Text: code("final_answer(x + 2)")},
		))
		run := s.start(troupe.RunRequest{Query: "Count."})
		s.until(run, 0, func(ev *messages.Event) bool { return ev.Type == messages.StepCount && ev.Step == 2 })
		kill(t)
		tr := s.watch(run, 0)
		s.wellFormed(tr)
		tr.answered(t, "42")
		require.Contains(t, s.observation(2), "Execution logs:\n40\n")
		require.NotContains(t, s.observation(2), gone)
	})
}
