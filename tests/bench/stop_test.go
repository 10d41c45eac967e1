package bench

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe"
	"github.com/troupe-go/troupe/messages"
	"github.com/troupe-go/troupe/tests/scripted"
)

// BenchmarkStopNow is the time from Stop{after: now} to the provider seeing
// its connection closed, in the middle of an endless answer over the real
// wire.
func BenchmarkStopNow(b *testing.B) {
	script, err := scripted.Parse([]byte(`
turns:
  - repeat: true
    reply: {deltas: ["word "], endless: true, delay: 5ms}
`))
	require.NoError(b, err)
	server, err := scripted.Start(script)
	require.NoError(b, err)
	node, err := troupe.New(troupe.Config{Definitions: messages.Definitions{
		Lang:    messages.EN,
		Models:  []messages.ModelConfig{{CiteName: "main", ModelName: "scripted", URL: server.URL()}},
		Agents:  []messages.AgentConfig{{Name: "assistant", ModelName: "main"}},
		Limits:  messages.Limits{KeepRuns: 8},
		DataDir: b.TempDir(),
	}, Driver: stubDriver{}})
	require.NoError(b, err)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	times := make([]time.Duration, 0, max(b.N, 20))
	for len(times) < cap(times) {
		times = append(times, stopOnce(ctx, b, node, server, len(times)))
	}
	slices.Sort(times)
	b.ReportMetric(ms(times[len(times)/2]), "p50-ms")
	b.ReportMetric(ms(times[len(times)*99/100]), "p99-ms")
	b.ReportMetric(0, "ns/op")
	require.NoError(b, node.Close(ctx))
	require.NoError(b, server.Close())
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// stopOnce starts a run, waits for text, stops it, and gives the time until
// the server saw the end of its connection.
func stopOnce(ctx context.Context, b *testing.B, node *troupe.Troupe, server *scripted.Server, seen int) time.Duration {
	accepted, err := node.Start(ctx, troupe.RunRequest{Query: "Talk."})
	require.NoError(b, err)
	for ev, err := range node.Watch(ctx, accepted.Run, 0) {
		require.NoError(b, err)
		if ev.Type == messages.ModelOutputThinking {
			break
		}
	}
	begin := time.Now()
	_, err = node.Stop(ctx, messages.Stop{Run: accepted.Run, After: messages.StopNow})
	require.NoError(b, err)
	for {
		changed := server.Changed()
		if gone := server.Disconnected(); len(gone) > seen {
			return gone[seen].Time.Sub(begin)
		}
		<-changed
	}
}
