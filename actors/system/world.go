package system

import (
	"math/rand/v2"
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
func RealWorld() World { return realWorld{rand.New(runtimeSource{})} }

type realWorld struct{ rand *rand.Rand }

// Now implements World.
func (realWorld) Now() time.Time { return time.Now() }

// AfterFunc implements World.
func (realWorld) AfterFunc(d time.Duration, f func()) Timer { return time.AfterFunc(d, f) }

// NewID implements World.
func (realWorld) NewID() string { return uuid.Must(uuid.NewV7()).String() }

// Rand implements World.
func (w realWorld) Rand() *rand.Rand { return w.rand }

// runtimeSource is the runtime's generator, which is safe for concurrent use;
// a Rand over it holds no state of its own.
type runtimeSource struct{}

// Uint64 implements rand.Source.
func (runtimeSource) Uint64() uint64 { return rand.Uint64() }
