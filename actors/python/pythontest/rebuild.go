package pythontest

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/actors/system"
	"github.com/troupe-go/troupe/messages"
	"github.com/troupe-go/troupe/messages/fact"
)

// What BenchmarkRebuild brings back.
const (
	rebuildBlocks = 20
	rebuildCalls  = 5 // of each block
)

// BenchmarkRebuild measures how long a block waits whose interpreter is gone:
// a new one is started, and in it 20 blocks with 5 calls each are run again.
// It reports the median in milliseconds.
func BenchmarkRebuild(b *testing.B, d python.Driver) {
	sys := system.New(system.Config{})
	defer sys.Close()
	past := pastOf(b, d)
	var took []time.Duration
	for b.Loop() {
		began := time.Now()
		out := execute(b, sys, d, &messages.Execute{ID: 1, Step: rebuildBlocks + 1, Code: "len(results)", Clock: start, Past: past})
		took = append(took, time.Since(began))
		require.Nil(b, out.Lost, "%+v", out.Lost)
		require.Equal(b, "100", out.Repr)
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
}

// answers is the host of those blocks.
type answers struct{}

func (answers) Call(context.Context, python.Call) python.Result {
	return python.Result{Value: json.RawMessage(`{"n":1,"text":"a result"}`), At: start}
}

// pastOf runs the blocks once, and gives what the log would say of them: each
// calls a tool, computes a little, and keeps what came of it.
func pastOf(b *testing.B, d python.Driver) []messages.PastBlock {
	it, err := d.Start(b.Context(), rebuildSpec())
	require.NoError(b, err)
	defer it.Close()
	const code = "results = globals().get('results', [])\nfor i in range(5):\n    results.append(tool(i))\nprint(sum(range(5)))"
	var calls []messages.RecordedCall
	for i := range rebuildCalls {
		arg, _ := json.Marshal(i) // a number always encodes
		calls = append(calls, messages.RecordedCall{
			Call: uint64(i + 1), Tool: "tool", Hash: fact.CallHash("tool", []json.RawMessage{arg}, nil), Value: json.RawMessage(`{"n":1,"text":"a result"}`), At: start,
		})
	}
	var past []messages.PastBlock
	for step := 1; step <= rebuildBlocks; step++ {
		out, err := it.Exec(b.Context(), python.Block{Code: code, Number: step, Clock: start}, answers{})
		require.NoError(b, err)
		require.Nil(b, out.Err)
		past = append(past, messages.PastBlock{Step: step, Code: code, Clock: start, Calls: calls,
			OutputHash: fact.HashOf([]byte(out.Output)), State: out.State, CPU: out.CPU})
	}
	return past
}

func rebuildSpec() python.Spec {
	s := spec()
	s.Tools, s.Timeout = []string{"tool"}, time.Minute
	return s
}

// execute runs a block in an executor of its own, which makes no calls.
func execute(b *testing.B, sys *system.System, d python.Driver, m *messages.Execute) *messages.Executed {
	got := make(chan *messages.Executed, 1)
	cfg := python.Config{Driver: d, System: sys, Spec: rebuildSpec()}
	parent := sys.Root().Spawn(sys.Props(func() actor.Actor { return &onlyParent{sys, cfg, m, got} }))
	defer func() { require.NoError(b, sys.Root().StopFuture(parent).Wait()) }()
	select {
	case out := <-got:
		return out
	case <-b.Context().Done():
		require.FailNow(b, "the benchmark ended")
		return nil
	}
}

type onlyParent struct {
	sys *system.System
	cfg python.Config
	m   *messages.Execute
	got chan<- *messages.Executed
}

func (p *onlyParent) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *actor.Started:
		ctx.Request(ctx.Spawn(p.sys.Props(python.Producer(p.cfg))), p.m)
	case *messages.Executed:
		p.got <- m
	}
}
