package model

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/troupe-go/troupe/actors/system"
	"github.com/troupe-go/troupe/messages"
)

// DefaultConcurrencyWait is how long a call waits for its turn when
// ModelConfig.ConcurrencyWait is 0.
const DefaultConcurrencyWait = 30 * time.Second

// Limiters are the concurrency limits of a node, by key (nexent-core §11.4).
// The node owns the one object; it is safe for concurrent use.
type Limiters struct {
	world system.World

	mu   sync.Mutex
	live map[string]*Limiter
}

// NewLimiters makes an empty registry. Waits are measured in world's time.
func NewLimiters(world system.World) *Limiters {
	return &Limiters{world: world, live: map[string]*Limiter{}}
}

// Get gives the limiter of a model, made when its key is new; nil when the
// model has no limit. A key that is in use keeps its limit: another one is
// ErrLimit, a negative one ErrNegativeLimit. Give every Get back with Close; the last one forgets the key.
func (ls *Limiters) Get(cfg messages.ModelConfig) (*Limiter, error) {
	key := ConcurrencyKey(cfg)
	if cfg.ConcurrencyLimit < 0 || cfg.ConcurrencyWait < 0 {
		return nil, ErrNegativeLimit.Withf(cfg.ConcurrencyLimit, key, cfg.ConcurrencyWait)
	}
	if cfg.ConcurrencyLimit == 0 {
		return nil, nil
	}
	ls.mu.Lock()
	defer ls.mu.Unlock()
	l := ls.live[key]
	if l == nil {
		l = &Limiter{owner: ls, key: key, limit: cfg.ConcurrencyLimit, permits: semaphore.NewWeighted(int64(cfg.ConcurrencyLimit))}
		ls.live[key] = l
	}
	if l.limit != cfg.ConcurrencyLimit {
		return nil, ErrLimit.Withf(cfg.ConcurrencyLimit, key, l.limit)
	}
	l.refs++
	return l, nil
}

// ConcurrencyKey names what a model shares its limit with.
func ConcurrencyKey(cfg messages.ModelConfig) string {
	if cfg.ConcurrencyKey != "" {
		return cfg.ConcurrencyKey
	}
	return cfg.ModelFactory + "/" + cfg.ModelName
}

// Limiter bounds the calls that stream at a time under one key. Waiting is
// fair: first come, first served. Safe for concurrent use.
type Limiter struct {
	owner   *Limiters
	key     string
	limit   int
	permits *semaphore.Weighted
	refs    int // guarded by owner.mu
}

// Close gives back one Get. Permits that are held stay valid.
func (l *Limiter) Close() {
	l.owner.mu.Lock()
	defer l.owner.mu.Unlock()
	l.refs--
	if l.refs == 0 {
		delete(l.owner.live, l.key)
	}
}

var errWaited = errors.New("waited for a permit")

// Acquire waits at most wait (0: DefaultConcurrencyWait) for a permit.
// ErrConcurrency says that none came, ctx's error that the caller went away.
// release gives the permit back; calling it again does nothing.
func (l *Limiter) Acquire(ctx context.Context, wait time.Duration) (release func(), err error) {
	if !l.permits.TryAcquire(1) {
		if err := l.queue(ctx, wait); err != nil {
			return nil, err
		}
	}
	return sync.OnceFunc(func() { l.permits.Release(1) }), nil
}

func (l *Limiter) queue(ctx context.Context, wait time.Duration) error {
	if wait == 0 {
		wait = DefaultConcurrencyWait
	}
	bounded, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := l.owner.world.AfterFunc(wait, func() { cancel(errWaited) })
	defer timer.Stop()
	err := l.permits.Acquire(bounded, 1)
	if err != nil && errors.Is(context.Cause(bounded), errWaited) {
		return ErrConcurrency.Withf(l.key, wait, l.limit)
	}
	return err
}
