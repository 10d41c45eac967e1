package runlog

import (
	"context"
	"errors"
	"sync"

	"github.com/troupe-go/troupe/actors/observer"
	"github.com/troupe-go/troupe/messages"
	"github.com/troupe-go/troupe/messages/fact"
)

// Journal is one owner's hold on an invocation's log. It is safe for
// concurrent use. It implements observer.Journal.
//
// Its methods never wait for a store. Over a Local store they do the work
// themselves, so that what was published can be read when they return, and
// done may be called before Append returns; no lock is held then.
type Journal struct {
	log *Log

	mu   sync.Mutex
	m    machine
	busy lane // lanes that a goroutine, or a timer, is at
	told bool // OnPaused was told
}

var _ observer.Journal = (*Journal)(nil)

// Publish implements observer.Journal. It fills in id, run and, when it is
// zero, time. After run_finished, or when the invocation is lost, it does
// nothing.
func (j *Journal) Publish(ev messages.Event) {
	if ev.Time.IsZero() {
		ev.Time = j.log.world.Now()
	}
	j.mu.Lock()
	j.m.publish(&ev)
	j.work()
}

// Append implements observer.Journal. The fact settles every event published
// so far, a thought that isn't rejected also its attempt's text, any other
// none of that. done, which may be nil, is called once, in the order of the
// calls, when the fact and the events of after are stored. Its errors:
// ErrStale, ErrDiverged, ErrFinished after run_finished, ErrRefused for a
// record that the store can never take, messages.ErrShutdown.
func (j *Journal) Append(f fact.Fact, after []messages.Event, done func(error)) {
	now := j.log.world.Now()
	j.mu.Lock()
	j.m.append(now, f, after, done)
	j.work()
}

// Withdraw implements observer.Journal. How the attempt ended (the rollback
// event) is settled all the same.
func (j *Journal) Withdraw(attemptID string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.m.withdraw(attemptID)
}

// Epoch implements observer.Journal.
func (j *Journal) Epoch() uint64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.m.epoch
}

// work does what there is to do, or starts goroutines for it. It is called
// with mu held and releases it.
func (j *Journal) work() {
	if j.log.ctx.Err() != nil {
		j.m.lose(0, messages.ErrShutdown)
	}
	lanes := j.m.ready() &^ j.busy
	j.busy |= lanes
	j.mu.Unlock()
	if lanes == 0 {
		return
	}
	if j.log.local {
		j.drive(lanes)
		return
	}
	j.spawn(lanes)
}

// spawn drives facts on one goroutine, so that a slow append delays no event,
// and all else on another.
func (j *Journal) spawn(lanes lane) {
	if lanes&laneFacts != 0 {
		j.log.spawn(func() { j.drive(laneFacts) })
	}
	if rest := lanes &^ laneFacts; rest != 0 {
		j.log.spawn(func() { j.drive(rest) })
	}
}

// drive works in the given lanes, and in those that become ready by it, until
// there is nothing to do.
func (j *Journal) drive(lanes lane) {
	for {
		j.mu.Lock()
		if j.log.ctx.Err() != nil {
			j.m.lose(0, messages.ErrShutdown)
		}
		more := j.m.ready() &^ j.busy
		j.busy |= more
		if j.log.local {
			lanes |= more
		} else {
			lanes |= more & laneCalls
			more &^= laneCalls
		}
		s := j.m.next(lanes)
		if s.do == doNothing {
			j.busy &^= lanes
		}
		j.mu.Unlock()
		if !j.log.local && more != 0 {
			j.spawn(more)
		}
		if s.do == doNothing {
			return
		}
		lanes = j.perform(s, lanes)
	}
}

// perform does one step and gives the lanes that are left: one whose step
// failed goes on by a timer.
func (j *Journal) perform(s step, lanes lane) lane {
	switch s.do {
	case doCall:
		if s.call.done != nil {
			s.call.done(s.call.err)
		}
	case doPublish:
		return lanes &^ j.doPublish(s)
	case doAppend:
		return lanes &^ j.doAppend(s)
	case doRead:
		return lanes &^ j.doRead(s)
	}
	return lanes
}

func (j *Journal) doPublish(s step) (resting lane) {
	ctx, cancel := j.limit()
	defer cancel()
	n, err := j.log.store.Publish(ctx, j.m.inv, s.events)
	j.mu.Lock()
	j.m.stored(n)
	return j.settle(laneEvents, err)
}

func (j *Journal) doAppend(s step) (resting lane) {
	ctx, cancel := j.limit()
	defer cancel()
	seq, err := j.log.store.Append(ctx, j.m.inv, s.expected, s.record)
	j.mu.Lock()
	switch {
	case err == nil:
		j.m.appended(seq)
	case errors.Is(err, ErrWrongSequence):
		j.m.refused()
		err = nil
	}
	return j.settle(laneFacts, err)
}

func (j *Journal) doRead(s step) (resting lane) {
	ctx, cancel := j.limit()
	defer cancel()
	records, err := j.log.store.Read(ctx, j.m.inv, s.from)
	j.mu.Lock()
	if err == nil {
		if lost := j.m.facts(records); lost != nil {
			j.lose(laneFacts, lost)
		}
	}
	return j.settle(laneFacts, err)
}

// settle ends an operation: after a failure it arms the timer that goes on
// with the lane. It is called with mu held and releases it.
func (j *Journal) settle(l lane, err error) (resting lane) {
	switch {
	case err == nil:
	case permanent(err):
		j.lose(l, err)
	default:
		resting = l
		wait := j.m.failed(l, j.log.world.Now(), j.log.world.Rand())
		defer j.log.world.AfterFunc(wait, func() {
			j.mu.Lock()
			j.m.resume(l)
			j.mu.Unlock()
			j.drive(l)
		})
	}
	paused := j.m.paused()
	changed := paused != j.told
	j.told = paused
	inv := j.m.inv
	j.mu.Unlock()
	if changed {
		j.log.onPaused(Pause{Run: inv.Run, Invocation: inv.Invocation, Paused: paused, Err: err})
	}
	return resting
}

// lose gives the invocation up, loudly unless another owner has it.
func (j *Journal) lose(l lane, err error) {
	err = j.log.reason(err)
	if !errors.Is(err, ErrStale) && !errors.Is(err, ErrExists) && !errors.Is(err, messages.ErrUnknownRun) {
		j.log.logger.Error("the log is given up", "run", j.m.inv.Run, "invocation", j.m.inv.Invocation, "epoch", j.m.epoch, "error", err)
	}
	j.m.lose(l, err)
}

// limit gives the context of one store call.
func (j *Journal) limit() (context.Context, context.CancelFunc) {
	if j.log.local {
		return j.log.ctx, func() {}
	}
	return context.WithTimeout(j.log.ctx, j.log.retry.Timeout)
}

// await waits until a claim is decided, or gives it up when ctx ends.
func (j *Journal) await(ctx context.Context, done <-chan error) error {
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	j.mu.Lock()
	j.m.lose(0, ctx.Err())
	j.work()
	return ctx.Err()
}
