package agent_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/agent"
	"github.com/troupe-go/troupe/actors/model"
	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/actors/system"
	"github.com/troupe-go/troupe/actors/system/worldtest"
	"github.com/troupe-go/troupe/actors/tool"
	"github.com/troupe-go/troupe/messages"
	"github.com/troupe-go/troupe/messages/fact"
)

// patience bounds every wait of these tests; none should come near it.
const patience = 10 * time.Second

// stage is one agent actor whose parent, log, time, model and executor a test
// holds; tools are real.
type stage struct {
	t       *testing.T
	ctx     context.Context
	system  *system.System
	world   *worldtest.World
	journal *journal
	driver  *driver
	asked   chan *question
	sent    chan string   // what the tool send was told; it returns when mail is taken
	mail    chan struct{} // lets send return
	ended   chan *messages.InvocationEnded
	agent   *actor.PID
}

// setup spawns an agent that is idle until begin.
func setup(t *testing.T, change ...func(*agent.Config)) *stage {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	s := &stage{
		t: t, ctx: ctx, world: worldtest.New(1), journal: newJournal(),
		driver: &driver{blocks: make(chan *block)}, asked: make(chan *question),
		sent: make(chan string, 8), mail: make(chan struct{}, 8), ended: make(chan *messages.InvocationEnded, 8),
	}
	s.system = system.New(system.Config{World: s.world, Logger: slog.New(slog.NewTextHandler(t.Output(), nil))})
	cfg := s.config()
	for _, c := range change {
		c(&cfg)
	}
	parent := s.system.Root().Spawn(s.system.Props(func() actor.Actor { return &parent{ended: s.ended, props: s.system} }))
	var err error
	s.agent, err = system.Ask[*actor.PID](ctx, s.system, parent, cfg)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, s.system.Root().StopFuture(parent).Wait())
		cancel()
		s.system.Close()
	})
	return s
}

func (s *stage) config() agent.Config {
	def := &messages.AgentConfig{Name: "worker", ModelName: "first", MaxSteps: 5}
	start := &fact.RunStarted{Agent: "worker", Query: "Do it.", Now: worldtest.Start, Definition: def}
	return agent.Config{
		System: s.system, Journal: s.journal, Start: start, Task: agent.Task{Text: "Do it."},
		Scope: messages.Scope{Run: "run", Invocation: "run", Agent: "worker"},
		Equipment: &agent.Equipment{
			Definition: def, Lang: messages.EN, System: "Be a worker.", Driver: s.driver,
			Models:  []model.Model{s.model("first")},
			Tools:   []agent.Tool{shelved(s.look()), shelved(s.send()), shelved(s.write())},
			Sandbox: python.Defaults(messages.SandboxConfig{}),
		},
	}
}

func (s *stage) model(name string) model.Model {
	return model.Model{Config: messages.ModelConfig{CiteName: name}, Client: &client{name: name, asked: s.asked}}
}

func shelved(t tool.Tool) agent.Tool {
	return agent.Tool{Spec: t.Spec(), Make: func(tool.Deps) (tool.Tool, error) { return t, nil }}
}

// look has no effects and a number with bounds.
func (s *stage) look() tool.Tool {
	return s.made(tool.Func("look", "Looks.", func(_ context.Context, in struct {
		N int `json:"n" default:"5" min:"1" max:"10"`
	}) (int, error) {
		return in.N, nil
	}, tool.WithEffects(tool.EffectsNone)))
}

// send is an outside effect.
func (s *stage) send() tool.Tool {
	return s.made(tool.Func("send", "Sends.", func(ctx context.Context, in struct {
		Text string `json:"text"`
	}) (string, error) {
		s.sent <- in.Text
		select {
		case <-s.mail:
			return "sent " + in.Text, nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}))
}

// write changes a file of the workspace.
func (s *stage) write() tool.Tool {
	return s.made(tool.Func("write", "Writes.", func(ctx context.Context, in struct {
		Path string `json:"path"`
		Size int    `json:"size" default:"1"`
	}) (string, error) {
		tool.CallFrom(ctx).Changed(messages.Artifact{Name: in.Path, Path: in.Path, MediaType: "text/plain", Size: int64(in.Size), Hash: "h"})
		return "written", nil
	}, tool.WithEffects(tool.EffectsIdempotent)))
}

func (s *stage) made(t tool.Tool, err error) tool.Tool {
	s.t.Helper()
	require.NoError(s.t, err)
	return t
}

// parent spawns the agent and hears of its end.
type parent struct {
	props *system.System
	ended chan *messages.InvocationEnded
}

func (p *parent) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case agent.Config:
		ctx.Respond(ctx.Spawn(p.props.Props(agent.Producer(m))))
	case *messages.InvocationEnded:
		p.ended <- m
	}
}

// begun is setup with the work begun.
func begun(t *testing.T, change ...func(*agent.Config)) *stage {
	t.Helper()
	s := setup(t, change...)
	s.tell(&agent.Begin{})
	return s
}

func (s *stage) tell(msg any) { s.system.Root().Send(s.agent, msg) }

// settled waits until the agent has handled all it was sent.
func (s *stage) settled() {
	s.t.Helper()
	type unheardOf struct{}
	_, err := system.Ask[any](s.ctx, s.system, s.agent, &unheardOf{})
	var unknown *system.ErrUnknownMessage
	require.ErrorAs(s.t, err, &unknown)
}

// take waits for something.
func take[T any](s *stage, from <-chan T, what string) T {
	s.t.Helper()
	select {
	case v := <-from:
		return v
	case <-s.ctx.Done():
		require.FailNow(s.t, "waited in vain for "+what)
		panic("unreachable")
	}
}

// question waits for the model to be asked.
func (s *stage) question() *question {
	s.t.Helper()
	q := take(s, s.asked, "the model to be asked")
	q.stage = s
	return q
}

// block answers the next question with a block of code and waits for it.
func (s *stage) block() *block {
	s.t.Helper()
	s.question().say(code("work()"))
	return s.running()
}

func (s *stage) running() *block {
	s.t.Helper()
	b := take(s, s.driver.blocks, "a block to run")
	b.stage = s
	return b
}

// end waits for the agent's end.
func (s *stage) end() *messages.InvocationEnded {
	s.t.Helper()
	return take(s, s.ended, "the end")
}

// endsWith waits for the end and checks status and the last event's content.
func (s *stage) endsWith(status messages.Status, content string) {
	s.t.Helper()
	require.Equal(s.t, status, s.end().Status)
	events := s.events()
	last := events[len(events)-1]
	require.Equal(s.t, content, last.Content)
	s.wellEnded(status)
}

// wellEnded checks the table of endings: the events that go with the status
// are the last of the run, and only the very last carries it.
func (s *stage) wellEnded(status messages.Status) {
	s.t.Helper()
	events := s.events()
	for i := range events {
		require.Equal(s.t, i == len(events)-1, events[i].Last(), "%d: %v", i, events[i])
	}
	require.Equal(s.t, status, events[len(events)-1].Status)
	var types []messages.ProcessType
	for i := range events {
		types = append(types, events[i].Type)
	}
	require.Subset(s.t, types, messages.Terminal[status])
	want := messages.Terminal[status]
	require.Equal(s.t, want[len(want)-1], types[len(types)-1])
}

// events are those stored so far, of the types given; of all when none is.
func (s *stage) events(of ...messages.ProcessType) []messages.Event {
	var out []messages.Event
	for _, e := range s.journal.all() {
		if e.event == nil {
			continue
		}
		wanted := len(of) == 0
		for _, t := range of {
			wanted = wanted || e.event.Type == t
		}
		if wanted {
			out = append(out, *e.event)
		}
	}
	return out
}

// facts are the facts of type F stored so far.
func facts[F fact.Fact](s *stage) []F {
	var out []F
	for _, e := range s.journal.all() {
		if f, ok := e.fact.(F); ok {
			out = append(out, f)
		}
	}
	return out
}

// logged waits until a fact of that kind is stored.
func (s *stage) logged(kind string) {
	s.t.Helper()
	for {
		s.journal.mu.Lock()
		changed := s.journal.changed
		found := false
		for _, e := range s.journal.entries {
			found = found || e.fact != nil && e.fact.Kind() == kind
		}
		s.journal.mu.Unlock()
		if found {
			return
		}
		take(s, changed, "the fact "+kind)
	}
}

// inOrder checks that the log has entries, see entry.String, in this order
// and others between them.
func (s *stage) inOrder(want ...string) {
	s.t.Helper()
	i := 0
	var all []string
	for _, e := range s.journal.all() {
		all = append(all, e.String())
		if i < len(want) && e.String() == want[i] {
			i++
		}
	}
	require.Equal(s.t, len(want), i, "missing %v from here on in %v", want[i:], all)
}

func code(lines string) string { return "<code>\n" + lines + "\n</code>" }
