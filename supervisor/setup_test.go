package supervisor_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/agent"
	"github.com/troupe-go/troupe/actors/model"
	"github.com/troupe-go/troupe/actors/observer"
	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/actors/system"
	"github.com/troupe-go/troupe/actors/tool"
	"github.com/troupe-go/troupe/bridge/runlog"
	"github.com/troupe-go/troupe/messages"
	"github.com/troupe-go/troupe/messages/fact"
	"github.com/troupe-go/troupe/supervisor"
)

// patience bounds every wait of these tests; none should come near it.
const patience = 5 * time.Second

// house is a node with a real log, real actors, and a model and an executor
// that a test holds in its hand.
type house struct {
	t      *testing.T
	ctx    context.Context
	system *system.System
	store  *runlog.Memory
	log    *runlog.Log
	root   *actor.PID
	model  *model0
	python *python0
	driver python.Driver // instead of python; nil: that
	tool   *tool0
	plans  atomic.Int64
}

// setup builds one; wrap may put something between the supervisor and its log.
func setup(t *testing.T, limits messages.Limits, wrap ...func(supervisor.Log) supervisor.Log) *house {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	h := &house{t: t, ctx: ctx, system: system.New(system.Config{Logger: slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug}))}), tool: newTool(t),
		model: &model0{asked: make(chan *question)}, python: &python0{}}
	h.store = runlog.NewMemory(runlog.MemoryConfig{})
	h.log = runlog.New(runlog.Config{Store: h.store, World: h.system.World(), Go: h.system.Go})
	var log supervisor.Log = logs{h.log}
	for _, w := range wrap {
		log = w(log)
	}
	h.root = h.system.Root().Spawn(h.system.Props(supervisor.Producer(supervisor.Config{
		System: h.system, Log: log, Planner: h, Limits: limits,
	})))
	t.Cleanup(func() {
		_, err := system.Ask[*supervisor.ShutDown](ctx, h.system, h.root, &supervisor.Shutdown{})
		require.NoError(t, err)
		require.NoError(t, h.system.Root().StopFuture(h.root).Wait())
		cancel()
		h.system.Close()
	})
	return h
}

// Plan implements supervisor.Planner.
func (h *house) Plan(_ context.Context, _ string, req *messages.RunAgent) (*supervisor.Plan, error) {
	if req.Agent == "nobody" {
		return nil, messages.ErrUnknownAgent.Withf(req.Agent, "somebody")
	}
	def := &messages.AgentConfig{Name: "somebody", ModelName: "m", MaxSteps: 5}
	driver := h.driver
	if driver == nil {
		driver = h.python
	}
	h.plans.Add(1)
	return &supervisor.Plan{
		Equipment: &agent.Equipment{
			Definition: def, Lang: messages.EN, System: "Be an agent.", Driver: driver,
			Models:  []model.Model{{Config: messages.ModelConfig{CiteName: "m"}, Client: h.model}},
			Tools:   []agent.Tool{{Spec: h.tool.Spec(), Make: func(tool.Deps) (tool.Tool, error) { return h.tool, nil }}},
			Sandbox: python.Defaults(messages.SandboxConfig{}),
		},
		Start:   &fact.RunStarted{Agent: def.Name, Query: req.Query, Definition: def, User: req.User, Executor: driver.Describe().ID(), Seed: "seed"},
		Task:    agent.Task{Text: req.Query},
		Release: func(bool) { h.plans.Add(-1) },
	}, nil
}

// start begins a run and returns its id.
func (h *house) start(req messages.RunAgent) string {
	h.t.Helper()
	if req.Query == "" {
		req.Query = "Do it."
	}
	a, err := system.Ask[*messages.RunAccepted](h.ctx, h.system, h.root, &req)
	require.NoError(h.t, err)
	return a.Run
}

func (h *house) refused(req messages.RunAgent) *messages.Fault {
	h.t.Helper()
	r, err := system.Ask[*messages.RunRefused](h.ctx, h.system, h.root, &req)
	require.NoError(h.t, err)
	return r.Fault
}

func (h *house) stop(s messages.Stop) *messages.Stopped {
	h.t.Helper()
	r, err := system.Ask[*messages.Stopped](h.ctx, h.system, h.root, &s)
	require.NoError(h.t, err)
	return r
}

// watch reads a run to its end as a client does: withdrawn events are taken
// out.
func (h *house) watch(run string) []messages.Event {
	h.t.Helper()
	var out []messages.Event
	for ev, err := range h.log.Watch(h.ctx, run, 0) {
		require.NoError(h.t, err)
		kept := out[:0]
		for _, had := range out {
			if !ev.Withdraws(had.ID) {
				kept = append(kept, had)
			}
		}
		out = append(kept, ev)
	}
	last := 0
	for i := range out {
		if out[i].Last() {
			last++
		}
	}
	require.Equal(h.t, 1, last, "a run has exactly one last event")
	require.True(h.t, out[len(out)-1].Last(), "and it is the last one")
	return out
}

// agent finds the agent actor of the only run.
func (h *house) agent() *actor.PID { return h.find(2) }

// find gives an actor so many levels below the root.
func (h *house) find(level int) *actor.PID {
	h.t.Helper()
	var found []*actor.PID
	require.Eventually(h.t, func() bool {
		found = found[:0]
		for _, bucket := range h.system.Actors().ProcessRegistry.LocalPIDs.LocalPIDs {
			for _, id := range bucket.Keys() {
				if rest, ok := strings.CutPrefix(id, h.root.Id+"/"); ok && strings.Count(rest, "/") == level-1 {
					found = append(found, actor.NewPID(h.root.Address, id))
				}
			}
		}
		return len(found) >= 1
	}, patience, time.Millisecond)
	return found[0]
}

func contents(events []messages.Event, of messages.ProcessType) []string {
	var out []string
	for _, ev := range events {
		if ev.Type == of {
			out = append(out, ev.Content)
		}
	}
	return out
}

// logs adapts the log, as package troupe does.
type logs struct{ *runlog.Log }

func (l logs) Begin(ctx context.Context, run, invocation string, start *fact.RunStarted) (observer.Journal, error) {
	return l.Log.Begin(ctx, run, invocation, start)
}

func (l logs) Adopt(ctx context.Context, run, invocation, cause, reason string) (*supervisor.Adoption, error) {
	a, err := l.Log.Adopt(ctx, run, invocation, cause, reason)
	if err != nil {
		return nil, err
	}
	return &supervisor.Adoption{Journal: a.Journal, Records: a.Records, CrashCount: a.CrashCount, Finished: a.Finished}, nil
}

func (l logs) Blobs(run, invocation string) python.Blobs { return l.Log.Blobs(run, invocation) }

// model0 is a model whose answers a test gives by hand.
type model0 struct{ asked chan *question }

// question is one call of the model.
type question struct {
	ctx    context.Context
	last   string // last message of the window
	answer chan string
}

func (m *model0) Stream(ctx context.Context, req *model.Request, on func(model.Delta)) (*model.Reply, error) {
	q := &question{ctx: ctx, last: req.Messages[len(req.Messages)-1].Text, answer: make(chan string)}
	select {
	case m.asked <- q:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case text := <-q.answer:
		on(model.Delta{Content: text})
		return &model.Reply{Text: text, FinishReason: "stop"}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// next waits for the model to be asked.
func (h *house) next() *question {
	h.t.Helper()
	select {
	case q := <-h.model.asked:
		return q
	case <-h.ctx.Done():
		require.FailNow(h.t, "the model was not asked")
		return nil
	}
}

func code(lines string) string { return "<code>\n" + lines + "\n</code>" }

// python0 runs "work" as a call of the tool, "work again" as two, "print" as output, "final" as
// final_answer, and "die" as the loss of the interpreter.
type python0 struct{ started atomic.Int64 }

func (p *python0) Start(context.Context, python.Spec) (python.Interpreter, error) {
	p.started.Add(1)
	return interpreter0{}, nil
}

func (p *python0) Describe() python.Description { return python.Description{Level: "test"} }

type interpreter0 struct{ python.NoSnapshots }

func (interpreter0) Close() {}

func (interpreter0) Exec(ctx context.Context, what python.Block, host python.Host) (*python.Outcome, error) {
	switch what.Code {
	case "work":
		r := host.Call(ctx, python.Call{Ordinal: 1, Tool: "work"})
		switch {
		case errors.Is(ctx.Err(), context.Canceled):
			return &python.Outcome{Killed: python.KilledCancelled}, nil
		case r.Err != nil:
			return &python.Outcome{Err: &messages.PyError{Type: r.Err.Type, Message: r.Err.Message}}, nil
		}
		return &python.Outcome{Output: string(r.Value) + "\n"}, nil
	case "work again":
		first := host.Call(ctx, python.Call{Ordinal: 1, Tool: "work"})
		second := host.Call(ctx, python.Call{Ordinal: 2, Tool: "work"})
		return &python.Outcome{Output: fmt.Sprintf("%+v, then %s %v\n", first.Err, second.Value, second.Err)}, nil
	case "die":
		return &python.Outcome{Killed: python.KilledDied}, nil
	case "final":
		return &python.Outcome{IsFinal: true, Final: json.RawMessage(`"done"`), FinalText: "done"}, nil
	}
	return &python.Outcome{Output: "printed\n"}, nil
}

// tool0 is an outside effect that a test holds: begun gets a token when a call
// begins, and end lets it return.
type tool0 struct {
	tool.Tool
	begun chan struct{}
	end   chan error
	calls atomic.Int64
}

type nothing struct{}

func newTool(t *testing.T) *tool0 {
	t0 := &tool0{begun: make(chan struct{}, 8), end: make(chan error)}
	made, err := tool.Func("work", "Works outside.", func(ctx context.Context, _ nothing) (string, error) {
		t0.calls.Add(1)
		t0.begun <- struct{}{}
		select {
		case err := <-t0.end:
			if err != nil && err.Error() == "panic" {
				panic("the tool broke")
			}
			return "worked", err
		case <-ctx.Done():
			return "", ctx.Err()
		}
	})
	require.NoError(t, err)
	t0.Tool = made
	return t0
}

func (h *house) begun() {
	h.t.Helper()
	select {
	case <-h.tool.begun:
	case <-h.ctx.Done():
		require.FailNow(h.t, "the tool was not called")
	}
}

// requested waits until a stop that was asked for stands on the log.
func (h *house) requested(run string) {
	h.t.Helper()
	require.Eventually(h.t, func() bool {
		records, err := h.store.Read(h.ctx, runlog.Invocation{Run: run, Invocation: run}, 0)
		require.NoError(h.t, err)
		for _, r := range records {
			for _, f := range r.Record.Facts() {
				if _, ok := f.(*fact.StopRequested); ok {
					return true
				}
			}
		}
		return false
	}, patience, time.Millisecond)
}
