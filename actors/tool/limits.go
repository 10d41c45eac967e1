package tool

import (
	"context"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
	"golang.org/x/time/rate"

	"github.com/troupe-go/troupe/actors/system"
	"github.com/troupe-go/troupe/messages"
)

// Limits bound all calls of one configured tool on a node, whichever
// invocation makes them. The node builds one a tool with [LimitsOf]; it is
// safe for concurrent use. A nil *Limits limits nothing.
type Limits struct {
	slots     *semaphore.Weighted // first come, first served; nil: no limit
	rate      *rate.Limiter       // nil: no limit
	cache     *cache              // nil: none
	abandoned atomic.Int64
}

// LimitsOf reads concurrency, rate_per_minute and cache_ttl.
//
// Of a rate of n a minute a tenth may begin at once (at least one call); the
// others follow evenly. The cache holds at most 256 results and 16 MiB, the
// least recently used go first; [Shelf.Make] refuses it for tools whose
// results depend on more than arguments, user and language.
func LimitsOf(cfg messages.ToolConfig) *Limits {
	l := &Limits{}
	if cfg.Concurrency > 0 {
		l.slots = semaphore.NewWeighted(int64(cfg.Concurrency))
	}
	if n := cfg.RatePerMin; n > 0 {
		l.rate = rate.NewLimiter(rate.Limit(float64(n)/60), max(1, n/10))
	}
	if cfg.CacheTTL > 0 {
		l.cache = newCache(cfg.CacheTTL)
	}
	return l
}

// Abandoned counts the calls whose function ignored its cancel and was left
// running.
func (l *Limits) Abandoned() int64 {
	if l == nil {
		return 0
	}
	return l.abandoned.Load()
}

// checkLimits refuses a configuration that this tool can't keep.
func checkLimits(s *Spec, cfg messages.ToolConfig) error {
	if cfg.Concurrency < 0 || cfg.RatePerMin < 0 || cfg.CacheTTL < 0 || cfg.Timeout < 0 {
		return configFault("tool %s: timeout, concurrency, rate_per_minute and cache_ttl must not be negative; leave one out for no limit",
			"工具 %s：timeout、concurrency、rate_per_minute 与 cache_ttl 不能为负；不设限请省略", s.Name)
	}
	if cfg.CacheTTL > 0 && (s.Effects.Begins() || s.State != "" && s.State != StateNone) {
		return configFault("tool %s: cache_ttl is only for tools without effects and state; remove it",
			"工具 %s：cache_ttl 仅适用于无副作用且无状态的工具；请删除该项", s.Name)
	}
	return nil
}

// admit waits for a slot and then for the rate, in the order of arrival, and
// gives what lets the slot go. The error is the context's cause.
func (l *Limits) admit(ctx context.Context, w system.World) (release func(), err error) {
	release = func() {}
	if l == nil {
		return release, nil
	}
	if l.slots != nil {
		if err := l.slots.Acquire(ctx, 1); err != nil {
			return nil, context.Cause(ctx)
		}
		release = func() { l.slots.Release(1) }
	}
	if l.rate == nil {
		return release, nil
	}
	if err := l.awaitRate(ctx, w); err != nil {
		release()
		return nil, err
	}
	return release, nil
}

func (l *Limits) awaitRate(ctx context.Context, w system.World) error {
	now := w.Now()
	turn := l.rate.ReserveN(now, 1)
	delay := turn.DelayFrom(now)
	if delay == 0 {
		return nil
	}
	due := make(chan struct{})
	timer := w.AfterFunc(delay, func() { close(due) })
	select {
	case <-due:
		return nil
	case <-ctx.Done():
		timer.Stop()
		turn.CancelAt(w.Now())
		return context.Cause(ctx)
	}
}

// cached looks a call up; nil when there is no cache or no result.
func (l *Limits) cached(key string, now time.Time) *entry {
	if l == nil || l.cache == nil {
		return nil
	}
	return l.cache.get(key, now)
}

func (l *Limits) keeps() bool { return l != nil && l.cache != nil }
