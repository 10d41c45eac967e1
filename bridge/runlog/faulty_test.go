package runlog

import (
	"context"
	"errors"
	"iter"

	"github.com/troupe-go/troupe/messages"
)

// What a faulty store does to one call.
const (
	fine      = iota
	lostCall  // it never arrives
	lostAck   // it arrives, nobody learns of it
	delayed   // an append arrives later, nobody learns of it
	undecided // another append was in flight
	half      // half of the events are stored
	faults    // how many there are
)

var errLost = errors.New("time-out")

// faulty is a store in memory whose calls go wrong as a list says. It is
// Local: a log over it and a worldtest.World runs on one goroutine.
type faulty struct {
	mem  *Memory
	plan []int // a fault for each call to come; then all is fine
	down bool  // every call is lost
	late []lateAppend
}

type lateAppend struct {
	inv      Invocation
	expected uint64
	rec      *Frozen
}

var _ Local = (*faulty)(nil)

func (s *faulty) Local() {}

func (s *faulty) next() int {
	if s.down {
		return lostCall
	}
	if len(s.plan) == 0 {
		return fine
	}
	f := s.plan[0]
	s.plan = s.plan[1:]
	return f
}

// arrive lets delayed appends reach the log.
func (s *faulty) arrive() {
	for _, l := range s.late {
		_, _ = s.mem.Append(context.Background(), l.inv, l.expected, l.rec) // refused when too late
	}
	s.late = nil
}

func (s *faulty) Append(ctx context.Context, inv Invocation, expected uint64, rec *Frozen) (uint64, error) {
	switch s.next() {
	case lostCall:
		return 0, errLost
	case undecided:
		return 0, ErrUndecided
	case delayed:
		s.late = append(s.late, lateAppend{inv, expected, rec})
		return 0, errLost
	case lostAck:
		_, _ = s.mem.Append(ctx, inv, expected, rec)
		return 0, errLost
	}
	s.arrive()
	return s.mem.Append(ctx, inv, expected, rec)
}

func (s *faulty) Read(ctx context.Context, inv Invocation, from uint64) ([]Stored, error) {
	if s.next() == lostCall {
		return nil, errLost
	}
	return s.mem.Read(ctx, inv, from)
}

func (s *faulty) Publish(ctx context.Context, inv Invocation, events []*messages.Event) (int, error) {
	switch s.next() {
	case lostCall, undecided, delayed:
		return 0, errLost
	case lostAck:
		_, _ = s.mem.Publish(ctx, inv, events)
		return 0, errLost
	case half:
		n, _ := s.mem.Publish(ctx, inv, events[:len(events)/2])
		return n, errLost
	}
	return s.mem.Publish(ctx, inv, events)
}

func (s *faulty) Subscribe(ctx context.Context, run string, from uint64) iter.Seq2[messages.Event, error] {
	return s.mem.Subscribe(ctx, run, from)
}

func (s *faulty) PutBlob(ctx context.Context, inv Invocation, data []byte) (string, error) {
	return s.mem.PutBlob(ctx, inv, data)
}

func (s *faulty) GetBlob(ctx context.Context, inv Invocation, hash string) ([]byte, error) {
	return s.mem.GetBlob(ctx, inv, hash)
}

func (s *faulty) Forget(run string) { s.mem.Forget(run) }
