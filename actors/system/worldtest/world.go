// Package worldtest is a system.World that a test steps by hand: time stands
// still until Advance, ids and randomness follow from a seed.
package worldtest

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/troupe-go/troupe/actors/system"
)

// Start is the time at which every World begins.
var Start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// World is safe for concurrent use. Ids and random numbers are the same in
// every run of a test as long as they are drawn in the same order.
type World struct {
	rand *rand.Rand

	mu      sync.Mutex
	changed chan struct{} // closed and replaced when a timer is armed
	now     time.Time
	timers  []*timer // by time, then by order of arming
	ids     uint64
}

type timer struct {
	w  *World
	at time.Time
	f  func()
}

var _ system.World = (*World)(nil)

// New makes a world; equal seeds make equal worlds.
func New(seed uint64) *World {
	return &World{
		rand:    rand.New(&lockedSource{src: rand.NewPCG(seed, seed)}),
		changed: make(chan struct{}),
		now:     Start,
	}
}

// Now implements system.World.
func (w *World) Now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

// AfterFunc implements system.World. f is called by Advance, even when d is 0.
func (w *World) AfterFunc(d time.Duration, f func()) system.Timer {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := &timer{w: w, at: w.now.Add(max(d, 0)), f: f}
	i, _ := slices.BinarySearchFunc(w.timers, t.at, func(o *timer, at time.Time) int {
		if o.at.After(at) {
			return 1
		}
		return -1 // equal times keep their order
	})
	w.timers = slices.Insert(w.timers, i, t)
	close(w.changed)
	w.changed = make(chan struct{})
	return t
}

// Stop implements system.Timer.
func (t *timer) Stop() bool {
	t.w.mu.Lock()
	defer t.w.mu.Unlock()
	i := slices.Index(t.w.timers, t)
	if i < 0 {
		return false
	}
	t.w.timers = slices.Delete(t.w.timers, i, i+1)
	return true
}

// Advance moves time by d and calls what falls due, in order, each at its own
// time and on the caller's goroutine; what those calls arm is called too when
// it falls due.
func (w *World) Advance(d time.Duration) {
	end := w.Now().Add(d)
	for {
		t := w.next(end)
		if t == nil {
			return
		}
		t.f()
	}
}

// next takes the first timer that is due by end, or moves time to end.
func (w *World) next(end time.Time) *timer {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.timers) == 0 || w.timers[0].at.After(end) {
		if end.After(w.now) {
			w.now = end
		}
		return nil
	}
	t := w.timers[0]
	w.timers = slices.Delete(w.timers, 0, 1)
	if t.at.After(w.now) {
		w.now = t.at
	}
	return t
}

// Pending gives the waits of the armed timers, shortest first.
func (w *World) Pending() []time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	ds := make([]time.Duration, 0, len(w.timers))
	for _, t := range w.timers {
		ds = append(ds, t.at.Sub(w.now))
	}
	return ds
}

// BlockUntil waits until n timers or more are armed, so that a test may wait
// for what runs on other goroutines before it calls Advance.
func (w *World) BlockUntil(ctx context.Context, n int) error {
	for {
		w.mu.Lock()
		armed, changed := len(w.timers), w.changed
		w.mu.Unlock()
		if armed >= n {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// NewID implements system.World: ascending UUIDv7 of the world's time.
func (w *World) NewID() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ids++
	var id uuid.UUID
	binary.BigEndian.PutUint64(id[:8], uint64(w.now.UnixMilli())<<16)
	binary.BigEndian.PutUint64(id[8:], w.ids)
	id[6] |= 0x70 // version 7
	id[8] |= 0x80 // RFC 9562 variant
	return id.String()
}

// Rand implements system.World.
func (w *World) Rand() *rand.Rand { return w.rand }

// lockedSource makes a source safe for concurrent use.
type lockedSource struct {
	mu  sync.Mutex
	src rand.Source
}

// Uint64 implements rand.Source.
func (s *lockedSource) Uint64() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.src.Uint64()
}
