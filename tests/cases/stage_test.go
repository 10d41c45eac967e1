// Package cases runs the cases of failure, and the programs that models write,
// against a whole node: real wire, real Python, real tools, a scripted model.
package cases

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/troupe-go/troupe"
	"github.com/troupe-go/troupe/messages"
	"github.com/troupe-go/troupe/tests/scripted"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// stage is a node whose model plays a script; wire, Python and tools are real.
type stage struct {
	t      *testing.T
	model  *scripted.Server
	troupe *troupe.Troupe
	config troupe.Config
}

// setup starts a node on a script; change may alter its configuration first.
func setup(t *testing.T, script string, change ...func(*troupe.Config)) *stage {
	t.Helper()
	parsed, err := scripted.Parse([]byte(script))
	require.NoError(t, err)
	return play(t, parsed, change...)
}

// play is setup for a script made in Go.
func play(t *testing.T, script *scripted.Script, change ...func(*troupe.Config)) *stage {
	t.Helper()
	server, err := scripted.Start(script)
	require.NoError(t, err)
	cfg := troupe.Config{Definitions: messages.Definitions{
		Lang:    messages.EN,
		Models:  []messages.ModelConfig{{CiteName: "main", ModelName: "scripted", URL: server.URL(), APIKey: "key"}},
		Agents:  []messages.AgentConfig{{Name: "assistant", Description: "Answers.", ModelName: "main", MaxSteps: 6}},
		Sandbox: messages.SandboxConfig{Unsafe: true, WarmInterpreters: new(int)}, // none: tests count processes
		DataDir: t.TempDir(),
	}}
	for _, c := range change {
		c(&cfg)
	}
	node, err := troupe.New(cfg)
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		require.NoError(t, node.Close(ctx))
		require.NoError(t, server.Close())
	})
	return &stage{t: t, model: server, troupe: node, config: cfg}
}

// run runs a query to its end and returns all events.
func (s *stage) run(req troupe.RunRequest) trace {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	var tr trace
	for ev, err := range s.troupe.Run(ctx, req) {
		require.NoError(s.t, err)
		tr = append(tr, ev)
	}
	s.wellFormed(tr)
	return tr
}

// wellFormed holds for every run: each event is one JSON object, exactly one
// carries a status and it is the last, numbers rise, ids are unique.
func (s *stage) wellFormed(tr trace) {
	s.t.Helper()
	require.NotEmpty(s.t, tr)
	step, seq, ids := 0, uint64(0), map[messages.EventID]bool{}
	for i, ev := range tr {
		s.oneLine(&ev)
		require.Equal(s.t, i == len(tr)-1, ev.Last(), "event %d: %s", i, ev.AppendJSON(nil))
		require.Greater(s.t, ev.Seq, seq)
		require.False(s.t, ids[ev.ID], "id %s twice", ev.ID)
		seq, ids[ev.ID] = ev.Seq, true
		if ev.Type == messages.StepCount {
			require.GreaterOrEqual(s.t, ev.Step, step)
			step = ev.Step
		}
	}
	s.ordered(tr)
}

// trace is a run's events.
type trace []messages.Event

// text joins the contents of all events of the given types.
func (tr trace) text(types ...messages.ProcessType) string {
	var out string
	for _, ev := range tr.of(types...) {
		out += ev.Content
	}
	return out
}

// of gives the events of the given types.
func (tr trace) of(types ...messages.ProcessType) trace {
	var out trace
	for _, ev := range tr {
		for _, t := range types {
			if ev.Type == t {
				out = append(out, ev)
			}
		}
	}
	return out
}

// last is the event that ends the run.
func (tr trace) last() messages.Event { return tr[len(tr)-1] }
