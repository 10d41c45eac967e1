package python

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/troupe-go/troupe/messages"
)

// job is the work of one block's goroutine.
type job struct {
	cfg   *Config
	slot  *slot
	calls *calls
	m     *messages.Execute
}

// blockDone is what a block's goroutine reports.
type blockDone struct {
	id          uint64
	outcome     *Outcome
	err         error // why there is no outcome
	lost        *messages.LostVariables
	interrupted string
	snapshot    *messages.Snapshot
}

// startError says that no interpreter could be had.
type startError struct{ error }

func (e *startError) Unwrap() error { return e.error }

// run waits for a slot and runs the block in it.
func (j *job) run(ctx context.Context) (d *blockDone) {
	d = &blockDone{id: j.m.ID}
	defer func() {
		if r := recover(); r != nil {
			d.err = fmt.Errorf("the executor's driver panicked: %v", r)
		}
	}()
	release, err := j.turn(ctx)
	if err != nil {
		d.outcome = &Outcome{Killed: KilledBy(ctx)}
		return d
	}
	defer release()
	ctx, cancel := blockContext(ctx, j.cfg.BlockTimeout)
	defer cancel()
	j.inInterpreter(ctx, d)
	if errors.Is(d.err, ErrGone) { // between two blocks
		j.slot.drop()
		*d = blockDone{id: j.m.ID}
		j.inInterpreter(ctx, d)
	}
	if d.err != nil && ctx.Err() != nil { // it never came to run
		d.outcome, d.err = &Outcome{Killed: KilledBy(ctx)}, nil
	}
	return d
}

func blockContext(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if limit <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, limit)
}

// turn waits until the block may compute.
func (j *job) turn(ctx context.Context) (release func(), err error) {
	if j.cfg.Slots == nil {
		return func() {}, nil
	}
	began := j.cfg.System.World().Now()
	lease, err := j.cfg.Slots.Acquire(ctx, j.cfg.Run, func(ahead int) {
		j.calls.root.Send(j.calls.parent, &messages.ExecutorBusy{ID: j.m.ID, Ahead: ahead})
	})
	if err != nil {
		return nil, err
	}
	if j.cfg.Metrics != nil {
		j.cfg.Metrics.WaitedForSlot(ctx, j.cfg.System.World().Now().Sub(began))
	}
	return lease.Release, nil
}

// inInterpreter runs the block in the slot's interpreter, or in a new one with
// the variables of the blocks before.
func (j *job) inInterpreter(ctx context.Context, d *blockDone) {
	it, fresh, err := j.slot.get(ctx, j.cfg)
	if err != nil {
		d.err = &startError{err}
		return
	}
	if fresh && len(j.m.Past) > 0 {
		if it, d.lost, err = j.rebuilt(ctx, it); err != nil {
			d.err = err
			return
		}
	}
	if d.lost != nil && d.lost.Names == nil && len(j.m.Recorded) > 0 { // it would only find that they are gone
		d.outcome, d.interrupted = &Outcome{Killed: KilledCancelled}, "the variables it builds on are gone"
		return
	}
	clock := j.m.Clock
	if clock.IsZero() {
		clock = j.cfg.System.World().Now()
	}
	b := Block{Code: j.m.Code, Number: j.m.Step, Clock: clock}
	if len(j.m.Recorded) == 0 {
		d.outcome, d.err = it.Exec(ctx, b, j.calls)
	} else {
		d.outcome, d.interrupted, d.err = resume(ctx, it, b, j.m.Recorded, j.calls)
	}
	if d.err == nil {
		d.snapshot = j.snapshot(ctx, it, d)
	}
}

// rebuilt brings the variables of past blocks into a new interpreter. Where
// that fails it gives another one, without them, and says what is lost.
func (j *job) rebuilt(ctx context.Context, it Interpreter) (Interpreter, *messages.LostVariables, error) {
	began := j.cfg.System.World().Now()
	r := &rebuild{it: it, past: j.m.Past, blobs: j.cfg.Blobs, limit: j.cfg.RebuildLimit}
	lost := r.run(ctx)
	if ctx.Err() != nil {
		return nil, nil, ctx.Err()
	}
	log := j.cfg.System.Logger().With("run", j.cfg.Run, "blocks", len(j.m.Past), "duration", j.cfg.System.World().Now().Sub(began))
	result := RebuildDone
	if lost != nil {
		log.Warn("variables of earlier blocks are lost", "reason", lost.Reason, "step", lost.Step, "detail", lost.Detail, "names", lost.Names)
		result = lost.Reason
	} else {
		log.Info("the variables of earlier blocks were brought back")
	}
	if j.cfg.Metrics != nil {
		j.cfg.Metrics.Rebuilt(ctx, j.cfg.Driver.Describe().Level, result)
	}
	if lost == nil || lost.Names != nil {
		return it, lost, nil
	}
	j.slot.drop()
	it, _, err := j.slot.get(ctx, j.cfg)
	if err != nil {
		return nil, nil, &startError{err}
	}
	return it, lost, nil
}
