package python

import (
	"context"
	"errors"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/troupe-go/troupe/actors/system"
	"github.com/troupe-go/troupe/messages"
)

// What a block and an interpreter came to, beside the reasons in
// Outcome.Killed.
const (
	outcomeDone  = "done"
	outcomeError = "error"  // an exception ended the block
	endClosed    = "closed" // nobody needs the interpreter any more
)

// warmKey is where a context carries the mark that MarkWarm sets.
type warmKey struct{}

// MarkWarm notes, for the figures of the Start that ctx came from, that the
// interpreter was kept ready. A pool calls it; without figures it does nothing.
func MarkWarm(ctx context.Context) {
	if mark, ok := ctx.Value(warmKey{}).(*atomic.Bool); ok {
		mark.Store(true)
	}
}

// Driver gives a driver that does what d does and counts it: starts, ends,
// blocks, and what each live interpreter takes, where it is Measured. The time
// that starts and blocks take is w's.
func (m *Metrics) Driver(d Driver, w system.World) Driver { return &meteredDriver{d, m, w} }

type meteredDriver struct {
	Driver
	metrics *Metrics
	world   system.World
}

// Start implements Driver.
func (d *meteredDriver) Start(ctx context.Context, spec Spec) (Interpreter, error) {
	began := d.world.Now()
	var warm atomic.Bool
	it, err := d.Driver.Start(context.WithValue(ctx, warmKey{}, &warm), spec)
	if err != nil {
		return nil, err
	}
	m := d.metrics
	i := &metered{Interpreter: it, metrics: m, world: d.world, level: d.Describe().Level}
	m.enter(i)
	how := metric.WithAttributeSet(attribute.NewSet(levelOf(i.level), attribute.Bool("warm", warm.Load())))
	m.started.Add(ctx, 1, how)
	m.startTime.Record(ctx, d.world.Now().Sub(began).Seconds(), how)
	return i, nil
}

// metered is an interpreter whose figures are kept.
type metered struct {
	Interpreter
	metrics *Metrics
	world   system.World
	level   messages.SandboxLevel
	number  int // a small one that no other live interpreter has
	ended   atomic.Bool
}

// Exec implements Interpreter.
func (i *metered) Exec(ctx context.Context, b Block, host Host) (*Outcome, error) {
	began := i.world.Now()
	out, err := i.Interpreter.Exec(ctx, b, host)
	if errors.Is(err, ErrGone) {
		i.end(KilledDied)
	}
	if out == nil {
		return out, err
	}
	m := i.metrics
	which := attribute.NewSet(levelOf(i.level), attribute.Bool("replay", b.Replay))
	m.blockTime.Record(ctx, i.world.Now().Sub(began).Seconds(), metric.WithAttributeSet(which))
	m.cpuTime.Record(ctx, out.CPU.Seconds(), metric.WithAttributeSet(which))
	m.blocks.Add(ctx, 1, metric.WithAttributeSet(which), metric.WithAttributes(attribute.String("outcome", outcomeOf(out))))
	if out.Killed != "" {
		i.end(out.Killed)
	}
	return out, err
}

func outcomeOf(o *Outcome) string {
	switch {
	case o.Killed != "":
		return o.Killed
	case o.Err != nil:
		return outcomeError
	}
	return outcomeDone
}

// Close implements Interpreter.
func (i *metered) Close() {
	i.end(endClosed)
	i.Interpreter.Close()
}

// end counts the interpreter's end, once: the first reason stays.
func (i *metered) end(reason string) {
	if i.ended.Swap(true) {
		return
	}
	i.metrics.leave(i)
	i.metrics.ended.Add(context.Background(), 1, metric.WithAttributes(levelOf(i.level), attribute.String("reason", reason)))
}
