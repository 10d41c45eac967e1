package troupe_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe"
	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/messages"
	"github.com/troupe-go/troupe/tests/scripted"
)

// patience bounds every wait of these tests; none should come near it.
const (
	patience = 20 * time.Second
	tick     = time.Millisecond
)

// stage is a node whose model plays a script, on a real wire, and whose Python
// is a toy.
type stage struct {
	*troupe.Troupe
	t     *testing.T
	ctx   context.Context
	model *scripted.Server
	cfg   troupe.Config
}

// setup starts a node on a script; change may alter its configuration first.
func setup(t *testing.T, script string, change ...func(*troupe.Config)) *stage {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	server := serve(t, script)
	s := &stage{t: t, ctx: ctx, model: server, cfg: config(server.URL())}
	s.cfg.DataDir = t.TempDir()
	for _, c := range change {
		c(&s.cfg)
	}
	node, err := troupe.New(s.cfg)
	require.NoError(t, err)
	s.Troupe = node
	t.Cleanup(func() {
		require.NoError(t, node.Close(ctx))
		cancel()
	})
	return s
}

func serve(t *testing.T, script string) *scripted.Server {
	t.Helper()
	parsed, err := scripted.Parse([]byte(script))
	require.NoError(t, err)
	server, err := scripted.Start(parsed)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	return server
}

// config is a node with one model, "main", and one agent, "worker".
func config(url string) troupe.Config {
	return troupe.Config{
		Definitions: messages.Definitions{
			Lang:   messages.EN,
			Models: []messages.ModelConfig{{CiteName: "main", ModelName: "scripted", URL: url}},
			Agents: []messages.AgentConfig{{Name: "worker", ModelName: "main", MaxSteps: 3}},
		},
		Driver: toy{},
	}
}

// says is a script of one answer, again and again.
func says(text string) string {
	return "turns: [{repeat: true, reply: {text: " + quoted(text) + "}}]"
}

// acts is a script whose first answer is code and whose second ends the run.
func acts(code string) string {
	return "turns: [{match: {step: 1}, repeat: true, reply: {text: " + quoted("<code>\n"+code+"\n</code>") + "}}, {repeat: true, reply: {text: Done.}}]"
}

// hangs is a script that never answers.
const hangs = "turns: [{repeat: true, reply: {text: x, hang: headers}}]"

func quoted(text string) string {
	b, _ := json.Marshal(text) // a JSON text is a YAML text
	return string(b)
}

// run runs a query to its end.
func (s *stage) run(req troupe.RunRequest) []troupe.Event {
	s.t.Helper()
	if req.Query == "" {
		req.Query = "Do it."
	}
	accepted, err := s.Start(s.ctx, req)
	require.NoError(s.t, err)
	return s.watch(accepted.Run)
}

func (s *stage) watch(run string) []troupe.Event {
	s.t.Helper()
	var events []troupe.Event
	for ev, err := range s.Watch(s.ctx, run, 0) {
		require.NoError(s.t, err)
		events = append(events, ev)
	}
	require.NotEmpty(s.t, events)
	require.True(s.t, events[len(events)-1].Last())
	return events
}

// asked waits until the model was asked n times.
func (s *stage) asked(n int) {
	s.t.Helper()
	for {
		changed := s.model.Changed()
		if len(s.model.Requests()) >= n {
			return
		}
		select {
		case <-changed:
		case <-s.ctx.Done():
			require.FailNow(s.t, "the model was not asked")
		}
	}
}

func last(events []troupe.Event) troupe.Event { return events[len(events)-1] }

func of(events []troupe.Event, t messages.ProcessType) []troupe.Event {
	var out []troupe.Event
	for _, ev := range events {
		if ev.Type == t {
			out = append(out, ev)
		}
	}
	return out
}

func code(t *testing.T, err error) string {
	t.Helper()
	var f *messages.Fault
	require.ErrorAs(t, err, &f)
	return f.Code
}

// toy runs lines of "<tool> <JSON object>", prints what they return, and ends
// the run at a line "final <text>".
type toy struct{ python.NoSnapshots }

// Start implements python.Driver.
func (toy) Start(context.Context, python.Spec) (python.Interpreter, error) { return toy{}, nil }

// Describe implements python.Driver.
func (toy) Describe() python.Description { return python.Description{Level: "toy"} }

// Close implements python.Interpreter.
func (toy) Close() {}

// Exec implements python.Interpreter.
func (toy) Exec(ctx context.Context, b python.Block, host python.Host) (*python.Outcome, error) {
	var out strings.Builder
	for i, line := range strings.Split(b.Code, "\n") {
		name, rest, _ := strings.Cut(line, " ")
		if name == "final" {
			return &python.Outcome{IsFinal: true, FinalText: rest, Output: out.String()}, nil
		}
		r := host.Call(ctx, python.Call{Ordinal: uint64(i + 1), Tool: name, Kwargs: json.RawMessage(rest)})
		switch {
		case ctx.Err() != nil:
			return &python.Outcome{Killed: python.KilledBy(ctx)}, nil //nolint:nilerr // which is an outcome
		case r.Err != nil:
			return &python.Outcome{Err: &messages.PyError{Type: r.Err.Type, Message: r.Err.Message}}, nil
		}
		out.Write(r.Value)
		out.WriteByte('\n')
	}
	return &python.Outcome{Output: out.String()}, nil
}
