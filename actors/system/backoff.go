package system

import (
	"math"
	"math/rand/v2"
	"time"
)

// Backoff says how long to wait before trying again: Base before the second
// try, Factor times as long before each later one, never above Cap. Each wait
// is multiplied by a factor drawn uniformly from 1-Jitter to 1+Jitter, and
// capped after that.
type Backoff struct {
	Base, Cap time.Duration
	Factor    float64 // below 1: 1
	Jitter    float64 // 0 to 1
}

// DefaultModelBackoff is nexent-core §11.3: 1 s, doubled, at most 30 s, times
// 0.5 to 1.5.
var DefaultModelBackoff = Backoff{Base: time.Second, Cap: 30 * time.Second, Factor: 2, Jitter: 0.5}

// Delay gives the wait after the attempt-th failed try, from 1. A nil r means
// no jitter.
func (b Backoff) Delay(attempt int, r *rand.Rand) time.Duration {
	d := float64(b.Base) * math.Pow(max(b.Factor, 1), float64(max(attempt, 1)-1))
	if b.Cap > 0 {
		d = min(d, float64(b.Cap))
	}
	if r != nil && b.Jitter > 0 {
		d *= 1 + b.Jitter*(2*r.Float64()-1)
	}
	if b.Cap > 0 {
		d = min(d, float64(b.Cap))
	}
	return time.Duration(min(d, math.MaxInt64/2))
}
