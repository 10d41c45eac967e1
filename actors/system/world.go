package system

import (
	"math/rand/v2"
	"time"
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
