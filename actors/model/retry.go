package model

import (
	"context"
	"time"

	"github.com/troupe-go/troupe/actors/system"
	"github.com/troupe-go/troupe/messages"
)

// Retry says how often and how fast a model is asked again after a transient
// failure. Zero fields mean the defaults.
type Retry struct {
	Attempts      int            // of one model, the first included; default 3
	Backoff       system.Backoff // before the second and later ones; default system.DefaultModelBackoff
	MaxRetryAfter time.Duration  // a provider that asks to wait longer is given up; default 60s
}

// The defaults of Retry.
const (
	DefaultAttempts      = 3
	DefaultMaxRetryAfter = time.Minute
)

func (r Retry) withDefaults() Retry {
	if r.Attempts == 0 {
		r.Attempts = DefaultAttempts
	}
	if r.Backoff == (system.Backoff{}) {
		r.Backoff = system.DefaultModelBackoff
	}
	if r.MaxRetryAfter == 0 {
		r.MaxRetryAfter = DefaultMaxRetryAfter
	}
	return r
}

// verdict is what follows a failed attempt.
type verdict int

const (
	again   verdict = iota // the same model, after the back-off
	plainly                // the same model at once, without sampling parameters
	onward                 // the next model, or the end
)

// judge decides what follows the failure of a model's n-th attempt, and after
// which wait.
func (c *call) judge(f *messages.Fault, n int, plain bool) (verdict, time.Duration) {
	if f.Code == ErrSampling.Code && !plain {
		return plainly, 0
	}
	asked := RetryAfter(f)
	if f.Class != messages.Transient || n >= c.cfg.Retry.Attempts || asked > c.cfg.Retry.MaxRetryAfter {
		return onward, 0
	}
	delay := c.cfg.Retry.Backoff.Delay(n, c.cfg.System.World().Rand())
	return again, max(delay, asked)
}

// wait waits in the world's time; false when ctx ended first.
func (c *call) wait(ctx context.Context, d time.Duration) bool {
	due := make(chan struct{})
	timer := c.cfg.System.World().AfterFunc(d, func() { close(due) })
	defer timer.Stop()
	select {
	case <-due:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
