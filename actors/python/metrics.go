package python

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"

	"github.com/troupe-go/troupe/messages"
)

// How a rebuild of an interpreter's variables went, for Metrics.Rebuilt.
const (
	RebuildDone     = "done"     // the variables are there again
	RebuildDiverged = "diverged" // they are gone: the blocks went another way
	RebuildCeiling  = "ceiling"  // they are gone: the blocks cost too much
	RebuildFailed   = "failed"   // they are gone: no interpreter, or a stop
)

// Usage is what one interpreter takes at the moment. A field that isn't known
// is 0 and no figure is made of it.
type Usage struct {
	PSS    int64         // bytes: resident memory, shared pages by their share
	RSS    int64         // bytes: resident memory, shared pages in full; only where PSS can't be read
	Linear int64         // bytes: a WebAssembly instance's memory
	CPU    time.Duration // processor time since its start
}

// Measured is an Interpreter that knows what it takes. Usage may be called at
// any time, from any goroutine; it reads what there is and never waits for
// code that runs. The zero Usage is that of an interpreter that has ended.
type Measured interface{ Usage() Usage }

// Metrics are the executor's figures; docs/metrics.md lists them. It is safe
// for concurrent use.
type Metrics struct {
	started, ended, blocks, rebuilds       metric.Int64Counter
	startTime, blockTime, cpuTime, waiting metric.Float64Histogram

	live                    metric.Int64ObservableUpDownCounter
	slotsBusy, slotsWaiting metric.Int64ObservableUpDownCounter
	slotsCapacity           metric.Int64ObservableUpDownCounter
	pss, rss, linear        metric.Int64ObservableGauge
	cpu                     metric.Float64ObservableGauge
	registration            metric.Registration

	mu        sync.Mutex
	slots     func() (busy, waiting, capacity int)
	instances []*metered // by number - 1; nil: free
	alive     map[messages.SandboxLevel]int64
}

// Bounds of the histograms, in seconds: from the fastest block to the slowest
// that a default node lets live.
var (
	blockBounds = []float64{0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 1, 5, 30, 120, 600, 1800}
	startBounds = []float64{0.001, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.4, 1, 5, 30}
	waitBounds  = []float64{0.0001, 0.001, 0.01, 0.1, 0.5, 1, 5, 30, 120, 600}
)

// NewMetrics makes the instruments. A nil meter means figures that nobody
// reads. The memory and the processor time of live interpreters are read when
// the meter's reader collects, never in between. Close ends that.
func NewMetrics(meter metric.Meter) (*Metrics, error) {
	if meter == nil {
		meter = noop.Meter{}
	}
	m := &Metrics{alive: map[messages.SandboxLevel]int64{}}
	i := &instruments{meter: meter}
	m.started = counter(i, "troupe.executor.interpreters.started", "{interpreter}", "interpreters that were started")
	m.ended = counter(i, "troupe.executor.interpreters.ended", "{interpreter}", "interpreters that ended")
	m.blocks = counter(i, "troupe.executor.blocks", "{block}", "blocks that were run")
	m.rebuilds = counter(i, "troupe.executor.rebuilds", "{rebuild}", "rebuilds of an interpreter's variables")
	m.startTime = seconds(i, "troupe.executor.start.duration", "from the wish for an interpreter to the interpreter", startBounds)
	m.blockTime = seconds(i, "troupe.executor.block.duration", "a block from its begin to its end, waiting for tools included", blockBounds)
	m.cpuTime = seconds(i, "troupe.executor.block.cpu.time", "processor time of a block", blockBounds)
	m.waiting = seconds(i, "troupe.executor.slots.wait.duration", "a block's wait for a slot", waitBounds)
	m.live = level(i, "troupe.executor.interpreters.live", "{interpreter}", "interpreters that hold a run's variables")
	m.slotsBusy = level(i, "troupe.executor.slots.busy", "{slot}", "slots in which blocks compute")
	m.slotsWaiting = level(i, "troupe.executor.slots.waiting", "{block}", "blocks that wait for a slot")
	m.slotsCapacity = level(i, "troupe.executor.slots.capacity", "{slot}", "slots there are: limits.max_executors")
	m.pss = gauge(i, "troupe.executor.instance.memory.pss", "resident memory of a live interpreter, shared pages by their share")
	m.rss = gauge(i, "troupe.executor.instance.memory.rss", "resident memory of a live interpreter whose share of shared pages can't be read")
	m.linear = gauge(i, "troupe.executor.instance.memory.linear", "memory of a live WebAssembly instance")
	var err error
	m.cpu, err = meter.Float64ObservableGauge("troupe.executor.instance.cpu.time",
		metric.WithUnit("s"), metric.WithDescription("processor time of a live interpreter since its start"))
	i.errs = append(i.errs, err)
	if err := errors.Join(i.errs...); err != nil {
		return nil, err
	}
	m.registration, err = meter.RegisterCallback(m.observe, m.live, m.slotsBusy, m.slotsWaiting, m.slotsCapacity, m.pss, m.rss, m.linear, m.cpu)
	return m, err
}

// instruments collects the errors of many.
type instruments struct {
	meter metric.Meter
	errs  []error
}

func counter(i *instruments, name, unit, what string) metric.Int64Counter {
	c, err := i.meter.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(what))
	i.errs = append(i.errs, err)
	return c
}

func seconds(i *instruments, name, what string, bounds []float64) metric.Float64Histogram {
	h, err := i.meter.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(what), metric.WithExplicitBucketBoundaries(bounds...))
	i.errs = append(i.errs, err)
	return h
}

func level(i *instruments, name, unit, what string) metric.Int64ObservableUpDownCounter {
	c, err := i.meter.Int64ObservableUpDownCounter(name, metric.WithUnit(unit), metric.WithDescription(what))
	i.errs = append(i.errs, err)
	return c
}

func gauge(i *instruments, name, what string) metric.Int64ObservableGauge {
	g, err := i.meter.Int64ObservableGauge(name, metric.WithUnit("By"), metric.WithDescription(what))
	i.errs = append(i.errs, err)
	return g
}

// Close ends the reading of live interpreters and slots.
func (m *Metrics) Close() error { return m.registration.Unregister() }

// WatchSlots names the slots whose figures are read when a reader collects:
// the Stats method of package slots.
func (m *Metrics) WatchSlots(stats func() (busy, waiting, capacity int)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.slots = stats
}

// WaitedForSlot counts a block's wait for a slot, 0 for one that had none.
func (m *Metrics) WaitedForSlot(ctx context.Context, d time.Duration) {
	m.waiting.Record(ctx, d.Seconds())
}

// Rebuilt counts a rebuild; result is one of the Rebuild constants.
func (m *Metrics) Rebuilt(ctx context.Context, l messages.SandboxLevel, result string) {
	m.rebuilds.Add(ctx, 1, metric.WithAttributes(levelOf(l), attribute.String("result", result)))
}

func levelOf(l messages.SandboxLevel) attribute.KeyValue { return attribute.String("level", string(l)) }

// enter gives an interpreter the smallest number that is free, so that there
// are never more numbers than interpreters lived at a time.
func (m *Metrics) enter(i *metered) {
	m.mu.Lock()
	defer m.mu.Unlock()
	at := slices.Index(m.instances, nil)
	if at < 0 {
		at = len(m.instances)
		m.instances = append(m.instances, nil)
	}
	m.instances[at], i.number = i, at+1
	m.alive[i.level]++
}

func (m *Metrics) leave(i *metered) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.instances[i.number-1] = nil
	m.alive[i.level]--
}

// observe reads what lives. What it reads may take time, so not under the lock.
func (m *Metrics) observe(ctx context.Context, o metric.Observer) error {
	m.mu.Lock()
	all, stats := slices.Clone(m.instances), m.slots
	for l, n := range m.alive {
		o.ObserveInt64(m.live, n, metric.WithAttributes(levelOf(l)))
	}
	m.mu.Unlock()
	if stats != nil {
		busy, waiting, capacity := stats()
		o.ObserveInt64(m.slotsBusy, int64(busy))
		o.ObserveInt64(m.slotsWaiting, int64(waiting))
		o.ObserveInt64(m.slotsCapacity, int64(capacity))
	}
	for _, i := range all {
		if err := ctx.Err(); err != nil {
			return err
		}
		if i != nil {
			m.observeOne(o, i)
		}
	}
	return nil
}

func (m *Metrics) observeOne(o metric.Observer, i *metered) {
	it, ok := i.Interpreter.(Measured)
	if !ok {
		return
	}
	u := it.Usage()
	who := metric.WithAttributeSet(attribute.NewSet(levelOf(i.level), attribute.Int("instance", i.number)))
	for _, f := range []struct {
		gauge metric.Int64ObservableGauge
		bytes int64
	}{{m.pss, u.PSS}, {m.rss, u.RSS}, {m.linear, u.Linear}} {
		if f.bytes > 0 {
			o.ObserveInt64(f.gauge, f.bytes, who)
		}
	}
	if u.CPU > 0 {
		o.ObserveFloat64(m.cpu, u.CPU.Seconds(), who)
	}
}
