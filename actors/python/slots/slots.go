// Package slots bounds how many blocks compute on a node at a time.
//
// # Order
//
// Within a run blocks get their slots first come, first served. Between runs
// they take turns: a run that was served goes behind the others that wait, so
// one with many waiting blocks starves nobody.
//
// # Concurrency
//
// [Slots] may be used from any goroutine. It has none itself, and needs none
// for those that wait. A wait that is cancelled leaves no trace.
package slots

import (
	"context"
	"slices"
	"sync"
)

// Slots hands out slots.
type Slots struct {
	mu       sync.Mutex
	capacity int
	busy     int
	waiting  int
	turns    []*queue // of the runs that wait; the first is served next
}

// queue is a run's blocks that wait, the oldest first.
type queue struct {
	run     string
	waiters []*waiter
}

// waiter is one block that waits.
type waiter struct{ served chan struct{} }

// New makes slots for capacity blocks at a time, at least one.
func New(capacity int) *Slots { return &Slots{capacity: max(capacity, 1)} }

// Lease is a slot that its holder has until Release.
type Lease struct {
	slots *Slots
	once  sync.Once
}

// Acquire takes a slot for a block of run and waits for one while all are
// taken. waits, when not nil, is called once when the block begins to wait,
// with the number of blocks that would be served before it if no other came;
// a block that is served at once doesn't hear of it. The only error is ctx's;
// then no slot is held.
func (s *Slots) Acquire(ctx context.Context, run string, waits func(ahead int)) (*Lease, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	w, ahead := s.enter(run)
	if w == nil {
		return &Lease{slots: s}, nil
	}
	if waits != nil {
		defer func() { // a panic in waits leaves nothing behind either
			if r := recover(); r != nil {
				s.leave(run, w)
				panic(r)
			}
		}()
		waits(ahead)
	}
	select {
	case <-w.served:
		return &Lease{slots: s}, nil
	case <-ctx.Done():
		s.leave(run, w)
		return nil, ctx.Err()
	}
}

// Release gives the slot back, to the block whose turn it is. It may be called
// twice; the second call does nothing.
func (l *Lease) Release() { l.once.Do(l.slots.release) }

// Stats says how many slots are taken, how many blocks wait for one, and how
// many slots there are.
func (s *Slots) Stats() (busy, waiting, capacity int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.busy, s.waiting, s.capacity
}

// enter takes a slot at once, or gives a waiter that stands in line and how
// many are ahead of it.
func (s *Slots) enter(run string) (*waiter, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy < s.capacity { // then nobody waits
		s.busy++
		return nil, 0
	}
	i := s.find(run)
	if i < 0 {
		i = len(s.turns)
		s.turns = append(s.turns, &queue{run: run})
	}
	w := &waiter{served: make(chan struct{})}
	ahead := s.ahead(i)
	s.turns[i].waiters = append(s.turns[i].waiters, w)
	s.waiting++
	return w, ahead
}

func (s *Slots) find(run string) int {
	return slices.IndexFunc(s.turns, func(q *queue) bool { return q.run == run })
}

// ahead counts those served before one that comes now to the i-th queue: its
// own run's, and of each other run one for each turn there is until then.
func (s *Slots) ahead(i int) int {
	own := len(s.turns[i].waiters)
	n := own
	for j, q := range s.turns {
		switch {
		case j < i:
			n += min(len(q.waiters), own+1)
		case j > i:
			n += min(len(q.waiters), own)
		}
	}
	return n
}

// release hands a slot on, or frees it when nobody waits.
func (s *Slots) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.turns) == 0 {
		s.busy--
		return
	}
	q := s.turns[0]
	w := q.waiters[0]
	s.turns = s.turns[1:]
	s.waiting--
	if q.waiters = q.waiters[1:]; len(q.waiters) > 0 {
		s.turns = append(s.turns, q)
	}
	close(w.served)
}

// leave takes a waiter out of the line. One that was served in the same moment
// hands its slot on.
func (s *Slots) leave(run string, w *waiter) {
	s.mu.Lock()
	i := s.find(run)
	at := -1
	if i >= 0 {
		at = slices.Index(s.turns[i].waiters, w)
	}
	if at < 0 {
		s.mu.Unlock()
		s.release()
		return
	}
	defer s.mu.Unlock()
	q := s.turns[i]
	q.waiters = slices.Delete(q.waiters, at, at+1)
	s.waiting--
	if len(q.waiters) == 0 {
		s.turns = slices.Delete(s.turns, i, i+1)
	}
}
