//go:build amd64 || arm64

package local_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/actors/python/local"
	"github.com/troupe-go/troupe/actors/system"
	"github.com/troupe-go/troupe/messages"
)

func usage(it python.Interpreter) python.Usage { return it.(python.Measured).Usage() }

// What is measured is the interpreter's own, and grows with what it takes.
func TestUsage(t *testing.T) {
	it := start(t, setup(t, tolerant))
	run(t, it, "1")
	before := usage(it)
	require.Zero(t, before.RSS, "the share is known: nothing stands beside it")
	require.Greater(t, before.PSS, int64(2<<20))
	require.Less(t, before.PSS, int64(64<<20))
	require.Positive(t, before.CPU)
	run(t, it, "kept = bytearray(50 << 20)\nn = sum(range(1_000_000))")
	after := usage(it)
	require.InDelta(t, before.PSS+50<<20, after.PSS, 8<<20)
	require.Greater(t, after.CPU, before.CPU)
	it.Close()
	require.Zero(t, usage(it), "it has ended")
}

// Where the share can't be read, the resident size stands under its own name;
// it is no smaller than the share.
func TestUsageWithoutShare(t *testing.T) {
	it := start(t, setup(t, tolerant))
	run(t, it, "1")
	whole, share := local.UsageWithoutShare(it), usage(it)
	require.Zero(t, whole.PSS)
	require.GreaterOrEqual(t, whole.RSS, share.PSS)
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid(it)))
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(status), "VmRSS:")
	require.True(t, found)
	kilobytes, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	require.NoError(t, err)
	require.InEpsilon(t, kilobytes<<10, whole.RSS, 0.1)
}

// The memory limit comes with the spec, to a kept interpreter too.
func TestWarmIsLimited(t *testing.T) {
	d := warmed(t, 1)
	kept := local.Idle(d)
	it, err := d.Start(t.Context(), python.NewSpec(messages.SandboxConfig{MemoryLimitMB: 128}, nil, nil, messages.EN))
	require.NoError(t, err)
	t.Cleanup(it.Close)
	require.Equal(t, []int{pid(it)}, kept)
	out := run(t, it, "kept = bytearray(200 << 20)")
	require.NotNil(t, out.Err)
	require.Equal(t, "MemoryError", out.Err.Type)
}

// A kept interpreter is counted as one, and a live one is measured.
func TestWarmIsCounted(t *testing.T) {
	reader := sdk.NewManualReader()
	provider := sdk.NewMeterProvider(sdk.WithReader(reader))
	defer func() { require.NoError(t, provider.Shutdown(context.Background())) }()
	m, err := python.NewMetrics(provider.Meter("test"))
	require.NoError(t, err)
	d := m.Driver(warmed(t, 1), system.RealWorld())
	it, err := d.Start(t.Context(), python.NewSpec(messages.SandboxConfig{}, nil, nil, messages.EN))
	require.NoError(t, err)
	t.Cleanup(it.Close)
	var all metricdata.ResourceMetrics
	require.NoError(t, reader.Collect(t.Context(), &all))
	found := map[string]metricdata.Aggregation{}
	for _, i := range all.ScopeMetrics[0].Metrics {
		found[i.Name] = i.Data
	}
	started := found["troupe.executor.interpreters.started"].(metricdata.Sum[int64]).DataPoints
	require.Len(t, started, 1)
	warm, _ := started[0].Attributes.Value("warm")
	require.True(t, warm.AsBool())
	require.Len(t, found["troupe.executor.instance.memory.pss"].(metricdata.Gauge[int64]).DataPoints, 1)
	require.Len(t, found["troupe.executor.instance.cpu.time"].(metricdata.Gauge[float64]).DataPoints, 1)
}
