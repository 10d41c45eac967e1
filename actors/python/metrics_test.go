package python_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/actors/python/slots"
	"github.com/troupe-go/troupe/actors/system/worldtest"
	"github.com/troupe-go/troupe/messages"
)

// measuredDriver starts what the test says, and lets time pass meanwhile.
type measuredDriver struct {
	world *worldtest.World
	warm  bool
	err   error
	usage python.Usage
	mute  bool // interpreters that aren't Measured
	reads atomic.Int32
	read  func() // called at each read, when not nil
}

// Describe implements python.Driver.
func (d *measuredDriver) Describe() python.Description {
	return python.Description{Level: messages.SandboxLocal}
}

// Start implements python.Driver.
func (d *measuredDriver) Start(ctx context.Context, _ python.Spec) (python.Interpreter, error) {
	d.world.Advance(30 * time.Millisecond)
	if d.warm {
		python.MarkWarm(ctx)
	}
	if d.err != nil {
		return nil, d.err
	}
	it := &measuredInterpreter{d: d}
	if d.mute {
		return struct{ python.Interpreter }{it}, nil
	}
	return it, nil
}

type measuredInterpreter struct {
	python.NoSnapshots
	d *measuredDriver
}

// Exec implements python.Interpreter.
func (i *measuredInterpreter) Exec(_ context.Context, b python.Block, _ python.Host) (*python.Outcome, error) {
	i.d.world.Advance(2 * time.Second)
	out := &python.Outcome{CPU: time.Second}
	switch b.Code {
	case "gone":
		return nil, python.ErrGone
	case "error":
		out.Err = &messages.PyError{}
	case "ok":
	default:
		out.Killed = b.Code
	}
	return out, nil
}

// Close implements python.Interpreter.
func (*measuredInterpreter) Close() {}

// Usage implements python.Measured.
func (i *measuredInterpreter) Usage() python.Usage {
	i.d.reads.Add(1)
	if i.d.read != nil {
		i.d.read()
	}
	return i.d.usage
}

type meters struct {
	*python.Metrics
	t      *testing.T
	reader *sdk.ManualReader
	inner  *measuredDriver
	driver python.Driver
}

func meter(t *testing.T) *meters {
	m := &meters{t: t, reader: sdk.NewManualReader(), inner: &measuredDriver{world: worldtest.New(1)}}
	provider := sdk.NewMeterProvider(sdk.WithReader(m.reader))
	t.Cleanup(func() { require.NoError(t, provider.Shutdown(context.Background())) })
	var err error
	m.Metrics, err = python.NewMetrics(provider.Meter("test"))
	require.NoError(t, err)
	m.driver = m.Driver(m.inner, m.inner.world)
	return m
}

func (m *meters) start() python.Interpreter {
	it, err := m.driver.Start(m.t.Context(), python.Spec{})
	require.NoError(m.t, err)
	return it
}

func (m *meters) exec(it python.Interpreter, code string) {
	_, err := it.Exec(m.t.Context(), python.Block{Code: code}, nil)
	require.Equal(m.t, code == "gone", errors.Is(err, python.ErrGone))
}

// collect gives every figure as "name unit{attributes}": value, and of a
// histogram its count and sum.
func (m *meters) collect() map[string]string {
	var all metricdata.ResourceMetrics
	require.NoError(m.t, m.reader.Collect(context.Background(), &all))
	got := map[string]string{}
	for _, scope := range all.ScopeMetrics {
		for _, i := range scope.Metrics {
			points(got, strings.TrimPrefix(i.Name, "troupe.executor.")+" "+i.Unit, i.Data)
		}
	}
	return got
}

func points(got map[string]string, name string, data metricdata.Aggregation) {
	put := func(set attribute.Set, v any) {
		got[name+" "+set.Encoded(attribute.DefaultEncoder())] = fmt.Sprint(v)
	}
	switch d := data.(type) {
	case metricdata.Sum[int64]:
		for _, p := range d.DataPoints {
			put(p.Attributes, p.Value)
		}
	case metricdata.Gauge[int64]:
		for _, p := range d.DataPoints {
			put(p.Attributes, p.Value)
		}
	case metricdata.Gauge[float64]:
		for _, p := range d.DataPoints {
			put(p.Attributes, p.Value)
		}
	case metricdata.Histogram[float64]:
		for _, p := range d.DataPoints {
			put(p.Attributes, fmt.Sprintf("%d: %.2f", p.Count, p.Sum))
		}
	}
}

func TestMetrics(t *testing.T) {
	m := meter(t)
	m.inner.usage = python.Usage{PSS: 11 << 20, CPU: time.Second}
	s := slots.New(3)
	m.WatchSlots(s.Stats)
	lease, err := s.Acquire(t.Context(), "a", nil)
	require.NoError(t, err)
	defer lease.Release()
	m.WaitedForSlot(t.Context(), 3*time.Second)
	m.Rebuilt(t.Context(), messages.SandboxWasm, python.RebuildDiverged)

	first := m.start()
	m.inner.warm = true
	second := m.start()
	m.exec(first, "ok")
	m.exec(first, "error")
	m.exec(first, python.KilledMemory)
	_, err = second.Exec(t.Context(), python.Block{Code: "ok", Replay: true}, nil)
	require.NoError(t, err)
	first.Close() // its end was counted
	want := map[string]string{
		"interpreters.started {interpreter} level=local,warm=false":  "1",
		"interpreters.started {interpreter} level=local,warm=true":   "1",
		"interpreters.ended {interpreter} level=local,reason=memory": "1",
		"interpreters.live {interpreter} level=local":                "1",
		"blocks {block} level=local,outcome=done,replay=false":       "1",
		"blocks {block} level=local,outcome=done,replay=true":        "1",
		"blocks {block} level=local,outcome=error,replay=false":      "1",
		"blocks {block} level=local,outcome=memory,replay=false":     "1",
		"rebuilds {rebuild} level=wasm,result=diverged":              "1",
		"start.duration s level=local,warm=false":                    "1: 0.03",
		"start.duration s level=local,warm=true":                     "1: 0.03",
		"block.duration s level=local,replay=false":                  "3: 6.00",
		"block.duration s level=local,replay=true":                   "1: 2.00",
		"block.cpu.time s level=local,replay=false":                  "3: 3.00",
		"block.cpu.time s level=local,replay=true":                   "1: 1.00",
		"slots.wait.duration s ":                                     "1: 3.00",
		"slots.busy {slot} ":                                         "1",
		"slots.waiting {block} ":                                     "0",
		"slots.capacity {slot} ":                                     "3",
		"instance.memory.pss By instance=2,level=local":              "11534336",
		"instance.cpu.time s instance=2,level=local":                 "1",
	}
	require.Equal(t, want, m.collect())

	third := m.start()
	require.Contains(t, m.collect(), "instance.memory.pss By instance=1,level=local", "a number that is free is used again")
	m.exec(third, "gone")
	second.Close()
	second.Close()
	got := m.collect()
	require.Equal(t, "0", got["interpreters.live {interpreter} level=local"])
	require.Equal(t, "1", got["interpreters.ended {interpreter} level=local,reason=died"])
	require.Equal(t, "1", got["interpreters.ended {interpreter} level=local,reason=closed"])
	require.NotContains(t, strings.Join(names(got), " "), "instance.")
	require.NoError(t, m.Close())
	require.NotContains(t, strings.Join(names(m.collect()), " "), "slots.busy")
}

// What isn't known is left out, and never stands under another's name.
func TestUnknownUsage(t *testing.T) {
	m := meter(t)
	m.start()
	m.inner.mute = true
	m.start()
	require.NotContains(t, strings.Join(names(m.collect()), " "), "instance.")
	m.inner.usage = python.Usage{RSS: 1}
	got := m.collect()
	require.Equal(t, "1", got["instance.memory.rss By instance=1,level=local"])
	require.NotContains(t, strings.Join(names(got), " "), "instance.memory.pss")
}

func names(got map[string]string) (all []string) {
	for name := range got {
		all = append(all, name)
	}
	return all
}

// A start that fails is no interpreter, and a collection that is cancelled
// reads no more.
func TestMetricsOfFailures(t *testing.T) {
	m := meter(t)
	m.inner.err = errors.New("no")
	_, err := m.driver.Start(t.Context(), python.Spec{})
	require.ErrorIs(t, err, m.inner.err)
	require.Empty(t, m.collect())
	m.inner.err = nil
	m.start()
	m.start()
	ctx, cancel := context.WithCancel(t.Context())
	m.inner.read = cancel
	require.ErrorIs(t, m.reader.Collect(ctx, &metricdata.ResourceMetrics{}), context.Canceled)
	require.EqualValues(t, 1, m.inner.reads.Load())
}

// Without a meter there are figures all the same, which nobody reads.
func TestNoMeter(t *testing.T) {
	m, err := python.NewMetrics(nil)
	require.NoError(t, err)
	m.WaitedForSlot(t.Context(), time.Second)
	inner := &measuredDriver{world: worldtest.New(1)}
	it, err := m.Driver(inner, inner.world).Start(t.Context(), python.Spec{})
	require.NoError(t, err)
	it.Close()
	require.NoError(t, m.Close())
	python.MarkWarm(t.Context())
}

// Interpreters come and go while figures are collected.
func TestMetricsUnderLoad(t *testing.T) {
	m := meter(t)
	m.inner.usage = python.Usage{Linear: 1, CPU: 1}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				it := m.start()
				m.exec(it, "ok")
				it.Close()
			}
		})
	}
	for range 50 {
		for name := range m.collect() {
			if n, ok := strings.CutPrefix(name, "instance.memory.linear By instance="); ok {
				require.Less(t, n, "9", "no more numbers than lived at a time")
			}
		}
	}
	all.Wait()
	require.Equal(t, "0", m.collect()["interpreters.live {interpreter} level=local"])
}

// docs/metrics.md names exactly the instruments there are, with their units
// and attributes.
func TestMetricsAreDocumented(t *testing.T) {
	m := meter(t)
	m.inner.usage = python.Usage{PSS: 1, RSS: 1, Linear: 1, CPU: 1}
	m.WatchSlots(slots.New(1).Stats)
	m.WaitedForSlot(t.Context(), 0)
	m.Rebuilt(t.Context(), messages.SandboxLocal, python.RebuildDone)
	m.exec(m.start(), "ok")
	m.start().Close()
	var got []string
	for name := range m.collect() {
		name = regexp.MustCompile(`=[^,]*`).ReplaceAllString(name, "")
		if !slices.Contains(got, name) {
			got = append(got, name)
		}
	}
	text, err := os.ReadFile("../../docs/metrics.md")
	require.NoError(t, err)
	var documented []string
	row := regexp.MustCompile("(?m)^\\| `troupe\\.executor\\.([^`]+)` \\| [^|]+ \\| `([^`]+)` \\| ([^|]*) ?\\|")
	for _, r := range row.FindAllStringSubmatch(string(text), -1) {
		documented = append(documented, r[1]+" "+r[2]+" "+attributes(r[3]))
	}
	require.ElementsMatch(t, got, documented)
}

// attributes gives "a,b" of "`b`, `a`".
func attributes(cell string) string {
	names := regexp.MustCompile("[a-z]+").FindAllString(cell, -1)
	slices.Sort(names)
	return strings.Join(names, ",")
}
