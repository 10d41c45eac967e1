package bench

import (
	"context"
	"encoding/json"
	"strconv"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/agent"
	"github.com/troupe-go/troupe/actors/model"
	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/actors/system"
	"github.com/troupe-go/troupe/actors/tool"
	"github.com/troupe-go/troupe/bridge/runlog"
	"github.com/troupe-go/troupe/messages"
	"github.com/troupe-go/troupe/messages/fact"
)

// stubModel answers at once: code in each step but the last, which ends it.
type stubModel struct{ steps int }

func (s *stubModel) Stream(_ context.Context, req *model.Request, on func(model.Delta)) (*model.Reply, error) {
	step := (len(req.Messages) - 2) / 2 // system and task, then two a step
	text := "Thought: the next number.\n<code>\nadd(a=" + strconv.Itoa(step) + ", b=1)\n</code>"
	if step >= s.steps-1 {
		text = "That was the last one."
	}
	on(model.Delta{Content: text})
	return &model.Reply{Text: text, FinishReason: "stop", Usage: messages.Usage{InputTokens: 10, OutputTokens: 10}}, nil
}

// stubDriver runs no Python: each block makes one tool call and prints its
// result.
type stubDriver struct{}

func (stubDriver) Start(context.Context, python.Spec) (python.Interpreter, error) {
	return stubInterpreter{}, nil
}

func (stubDriver) Describe() python.Description {
	return python.Description{Level: "stub", Version: "none", Hash: "none"}
}

type stubInterpreter struct{ python.NoSnapshots }

func (stubInterpreter) Exec(ctx context.Context, _ python.Block, host python.Host) (*python.Outcome, error) {
	r := host.Call(ctx, python.Call{Ordinal: 1, Tool: "add", Kwargs: json.RawMessage(`{"a":1,"b":1}`)})
	if r.Err != nil {
		return nil, &messages.Fault{EN: r.Err.Message}
	}
	return &python.Outcome{Output: string(r.Value) + "\n"}, nil
}

func (stubInterpreter) Close() {}

type addArgs struct {
	A int `json:"a"`
	B int `json:"b"`
}

// node is a system with a log and an agent's equipment, all real but model and
// executor.
type node struct {
	system    *system.System
	log       *runlog.Log
	equipment *agent.Equipment
}

func newNode(b testing.TB, steps int) *node {
	sys := system.New(system.Config{})
	b.Cleanup(sys.Close)
	add, err := tool.Func("add", "Adds two numbers.", func(_ context.Context, in addArgs) (int, error) { return in.A + in.B, nil },
		tool.WithEffects(tool.EffectsNone))
	require.NoError(b, err)
	return &node{
		system: sys,
		log:    runlog.New(runlog.Config{Store: runlog.NewMemory(runlog.MemoryConfig{}), World: sys.World(), Go: sys.Go}),
		equipment: &agent.Equipment{
			Definition: &messages.AgentConfig{Name: "bench", ModelName: "stub", MaxSteps: steps + 1},
			Lang:       messages.EN,
			Models:     []model.Model{{Config: messages.ModelConfig{CiteName: "stub"}, Client: &stubModel{steps: steps}}},
			Tools:      []agent.Tool{{Spec: add.Spec(), Make: func(tool.Deps) (tool.Tool, error) { return add, nil }}},
			Driver:     stubDriver{},
			Sandbox:    python.Defaults(messages.SandboxConfig{}),
			System:     "You are an agent.",
		},
	}
}

// spawn begins the log of a run and spawns its agent, which is idle until
// Begin.
func (n *node) spawn(b testing.TB, run string, parent *actor.PID) *actor.PID {
	start := &fact.RunStarted{Agent: "bench", Query: "Count.", Now: time.Unix(0, 0), Definition: n.equipment.Definition}
	journal, err := n.log.Begin(context.Background(), run, run, start)
	require.NoError(b, err)
	spawned, err := system.Ask[*actor.PID](context.Background(), n.system, parent, agent.Config{
		System: n.system, Equipment: n.equipment, Start: start, Journal: journal,
		Scope: messages.Scope{Run: run, Invocation: run, Agent: "bench"},
		Task:  agent.Task{Text: "Count."},
	})
	require.NoError(b, err)
	return spawned
}

// parent spawns agents and hears of their end.
type parent struct {
	node  *node
	ended chan *messages.InvocationEnded
}

func (p *parent) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case agent.Config:
		ctx.Respond(ctx.Spawn(p.node.system.Props(agent.Producer(m))))
	case *messages.InvocationEnded:
		p.ended <- m
	}
}

func (n *node) parent() (*actor.PID, chan *messages.InvocationEnded) {
	ended := make(chan *messages.InvocationEnded, 1)
	pid := n.system.Root().Spawn(n.system.Props(func() actor.Actor { return &parent{node: n, ended: ended} }))
	return pid, ended
}

// BenchmarkStep is the cost of one think → act → observe turn with one tool
// call: actors, in-memory journal and all events; model and executor are
// stubs. It must not grow with the number of steps.
func BenchmarkStep(b *testing.B) {
	for _, steps := range []int{10, 100, 1000} {
		b.Run("N="+strconv.Itoa(steps), func(b *testing.B) {
			n := newNode(b, steps)
			root, ended := n.parent()
			b.ReportAllocs()
			b.ResetTimer()
			meter := startMeter(b)
			for i := range b.N {
				run := "run-" + strconv.Itoa(i)
				pid := n.spawn(b, run, root)
				n.system.Root().Send(pid, &agent.Begin{})
				end := <-ended
				require.Equal(b, messages.StatusAnswered, end.Status)
				require.NoError(b, n.system.Root().StopFuture(pid).Wait())
				n.log.Forget(run)
			}
			b.StopTimer()
			meter.perStep(steps)
			require.NoError(b, n.system.Root().StopFuture(root).Wait())
		})
	}
}
