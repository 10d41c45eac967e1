package system

import (
	cryptorand "crypto/rand"
	"encoding/binary"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
)

// World is the one seam for time, randomness and ids. Production uses
// RealWorld; tests a virtual one.
type World interface {
	Now() time.Time
	// AfterFunc calls f on its own goroutine after d; the Timer's Stop reports
	// whether it prevented the call.
	AfterFunc(d time.Duration, f func()) Timer
	// NewID gives a random, URL- and subject-safe id (UUIDv7 text).
	NewID() string
	Rand() *rand.Rand // safe for concurrent use
}

// Timer is a pending AfterFunc.
type Timer interface{ Stop() bool }

// RealWorld is the machine's clock and randomness.
func RealWorld() World { return &realWorld{rand: rand.New(runtimeSource{})} }

type realWorld struct {
	rand *rand.Rand
	ids  sequence
}

// Now implements World.
func (*realWorld) Now() time.Time { return time.Now() }

// AfterFunc implements World.
func (*realWorld) AfterFunc(d time.Duration, f func()) Timer { return time.AfterFunc(d, f) }

// NewID implements World.
func (w *realWorld) NewID() string {
	var id uuid.UUID
	// It never fails: where there is no randomness the program ends.
	_, _ = cryptorand.Read(id[8:])
	at := w.ids.next(time.Now())
	binary.BigEndian.PutUint64(id[:], at<<4) // 48 bits of milliseconds, and 12 below
	id[7], id[6] = byte(at), 0x70|byte(at>>8)&0x0f
	id[8] = id[8]&0x3f | 0x80
	return id.String()
}

// sequence gives the time in units of 1/4096 ms, each value once: ids of one
// process are in the order they were made.
type sequence struct{ last atomic.Uint64 }

func (s *sequence) next(now time.Time) uint64 {
	ns := uint64(now.UnixNano())
	at := ns/1e6<<12 + ns%1e6<<12/1e6
	for {
		last := s.last.Load()
		at = max(at, last+1)
		if s.last.CompareAndSwap(last, at) {
			return at
		}
	}
}

// Rand implements World.
func (w *realWorld) Rand() *rand.Rand { return w.rand }

// runtimeSource is the runtime's generator, which is safe for concurrent use;
// a Rand over it holds no state of its own.
type runtimeSource struct{}

// Uint64 implements rand.Source.
func (runtimeSource) Uint64() uint64 { return rand.Uint64() }
