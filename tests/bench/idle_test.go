package bench

import (
	"strconv"
	"testing"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"
)

// idleAgents is how many agents BenchmarkIdleAgent keeps at a time.
const idleAgents = 100_000

// BenchmarkIdleAgent is the memory of a root agent that waits: its actor, its
// observer, its journal and its run_started fact, with an empty history.
func BenchmarkIdleAgent(b *testing.B) {
	for range b.N {
		n := newNode(b, 1)
		root, _ := n.parent()
		pids := make([]*actor.PID, idleAgents)
		before := heap()
		for i := range pids {
			pids[i] = n.spawn(b, "run-"+strconv.Itoa(i), root)
		}
		b.ReportMetric(float64(heap()-before)/idleAgents, "B/agent")
		require.NoError(b, n.system.Root().StopFuture(root).Wait())
	}
}
