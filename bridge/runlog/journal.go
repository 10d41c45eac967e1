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
func (j *Journal) Publish(ev *messages.Event) {
	if ev.Time.IsZero() {
		ev.Time = j.log.world.Now()
	}
	j.mu.Lock()
	j.m.publish(ev)
	j.work()
}

// Append implements observer.Journal. The fact settles every event published
// so far, a thought that isn't rejected also its attempt's text, any other
// none of that. done, which may be nil, is called once, in the order of the
// calls, when the fact and the events of after are stored; after is the
// journal's from then on. Its errors:
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
	switch {
	case lanes == 0:
		j.mu.Unlock()
	case j.log.local:
		j.busy |= lanes
		j.drive(lanes)
	default:
		j.busy |= lanes
		j.mu.Unlock()
		j.spawn(lanes)
	}
}

// spawn drives facts on one goroutine, so that a slow append delays no event,
// and all else on another.
func (j *Journal) spawn(lanes lane) {
	for _, l := range [...]lane{lanes & laneFacts, lanes &^ laneFacts} {
		if l != 0 {
			j.log.spawn(func() { j.mu.Lock(); j.drive(l) })
		}
	}
}

// drive works in the given lanes, and in those that become ready by it, until
// there is nothing to do. It is called with mu held and releases it.
func (j *Journal) drive(lanes lane) {
	for {
		if j.log.ctx.Err() != nil {
			j.m.lose(0, messages.ErrShutdown)
		}
		here := j.m.ready() &^ j.busy
		j.busy |= here
		elsewhere := lane(0)
		if !j.log.local {
			here, elsewhere = here&laneCalls, here&^laneCalls
		}
		lanes |= here
		s := j.m.next(lanes)
		if s.do == doNothing {
			j.busy &^= lanes
		}
		j.mu.Unlock()
		if elsewhere != 0 {
			j.spawn(elsewhere)
		}
		if s.do == doNothing {
			return
		}
		lanes &^= j.perform(s)
	}
}

// perform does one step, without the lock, and takes that. It gives the lane
// that has to wait: a timer goes on with it.
func (j *Journal) perform(s step) (resting lane) {
	if s.do == doCall {
		if s.call.done != nil {
			s.call.done(s.call.err)
		}
		j.mu.Lock()
		return 0
	}
	ctx := j.log.ctx
	if !j.log.local {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, j.log.retry.Timeout)
		defer cancel()
	}
	l, err := j.ask(ctx, s)
	if err != nil {
		resting = j.failed(l, err)
	}
	if j.m.paused() != j.told {
		j.tell(err)
	}
	return resting
}

// ask has the store do a step, takes the lock and notes the answer, which is
// all of it but the error returned.
func (j *Journal) ask(ctx context.Context, s step) (lane, error) {
	store, inv := j.log.store, j.m.inv
	switch s.do {
	case doPublish:
		n, err := store.Publish(ctx, inv, s.events)
		j.mu.Lock()
		j.m.stored(n)
		return laneEvents, err
	case doAppend:
		seq, err := store.Append(ctx, inv, s.expected, s.record)
		j.mu.Lock()
		switch {
		case err == nil:
			j.m.appended(seq)
		case errors.Is(err, ErrWrongSequence):
			j.m.refused()
			err = nil
		}
		return laneFacts, err
	}
	records, err := store.Read(ctx, inv, s.from)
	j.mu.Lock()
	if err != nil {
		return laneFacts, err
	}
	if lost := j.m.facts(records); lost != nil {
		j.lose(laneFacts, lost)
	}
	return laneFacts, nil
}

// failed gives the invocation up, or arms a timer that tries again.
func (j *Journal) failed(l lane, err error) (resting lane) {
	if permanent(err) {
		j.lose(l, err)
		return 0
	}
	world := j.log.world
	wait := j.m.failed(l, world.Now(), world.Rand())
	world.AfterFunc(wait, func() {
		j.mu.Lock()
		j.m.resume(l)
		j.drive(l)
	})
	return l
}

// tell reports that the invocation's log can't be written, or can again.
func (j *Journal) tell(err error) {
	j.told = !j.told
	p := Pause{Run: j.m.inv.Run, Invocation: j.m.inv.Invocation, Paused: j.told}
	if p.Paused {
		p.Err = err
	}
	j.mu.Unlock()
	j.log.onPaused(p)
	j.mu.Lock()
}

// lose gives the invocation up, loudly unless that is how things go.
func (j *Journal) lose(l lane, err error) {
	switch {
	case errors.Is(err, ErrStale), errors.Is(err, ErrExists), errors.Is(err, messages.ErrUnknownRun):
	default:
		j.log.logger.Error("the log of an invocation is given up",
			"run", j.m.inv.Run, "invocation", j.m.inv.Invocation, "epoch", j.m.epoch, "error", err)
	}
	j.m.lose(l, err)
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
