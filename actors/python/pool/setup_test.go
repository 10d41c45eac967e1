package pool_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/actors/python/pool"
)

// What broken fakes say.
var (
	errLaunch = errors.New("no launch")
	errBegin  = errors.New("no begin")
)

// launchTime is what a fake's launch takes, of a bubble's time.
const launchTime = 30 * time.Millisecond

// fake is one interpreter: warm, begun or dead.
type fake struct {
	house  *house
	alive  context.Context
	die    context.CancelFunc
	begun  atomic.Int32
	closed atomic.Int32
}

// Begin implements pool.Warm.
func (f *fake) Begin(ctx context.Context, _ python.Spec) (python.Interpreter, error) {
	f.begun.Add(1)
	if err := f.house.wait(ctx, f.house.beginTime); err != nil {
		return nil, err
	}
	if f.alive.Err() != nil || f.house.breakBegin.Load() {
		return nil, errBegin
	}
	return &interpreter{fake: f}, nil
}

// Alive implements pool.Warm.
func (f *fake) Alive() context.Context { return f.alive }

// Close implements pool.Warm.
func (f *fake) Close() {
	f.closed.Add(1)
	f.die()
}

// interpreter is what a fake becomes.
type interpreter struct {
	*fake
	python.NoSnapshots
}

// Exec implements python.Interpreter.
func (*interpreter) Exec(context.Context, python.Block, python.Host) (*python.Outcome, error) {
	return &python.Outcome{}, nil
}

// wait takes its time; the deaf house doesn't hear that nobody wants it any
// more.
func (h *house) wait(ctx context.Context, d time.Duration) error {
	if h.deaf.Load() {
		ctx = context.Background()
	}
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// house launches fakes and knows all of them.
type house struct {
	beginTime  time.Duration
	broken     atomic.Bool
	breakBegin atomic.Bool
	panics     atomic.Bool
	deaf       atomic.Bool
	tries      atomic.Int32
	launching  atomic.Int32
	most       atomic.Int32 // launches at a time

	mu  sync.Mutex
	all []*fake
}

func (h *house) launch(ctx context.Context) (pool.Warm, error) {
	h.tries.Add(1)
	n := h.launching.Add(1)
	defer h.launching.Add(-1)
	for m := h.most.Load(); n > m && !h.most.CompareAndSwap(m, n); m = h.most.Load() {
	}
	if err := h.wait(ctx, launchTime); err != nil {
		return nil, err
	}
	if h.panics.Load() {
		panic("a launch")
	}
	if h.broken.Load() {
		return nil, errLaunch
	}
	f := &fake{house: h}
	f.alive, f.die = context.WithCancel(context.Background())
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all = append(h.all, f)
	return f, nil
}

func (h *house) fakes() []*fake {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]*fake(nil), h.all...)
}

// idle are the fakes that live and have no spec.
func (h *house) idle() (idle []*fake) {
	for _, f := range h.fakes() {
		if f.begun.Load() == 0 && f.alive.Err() == nil {
			idle = append(idle, f)
		}
	}
	return idle
}

// records keeps the warnings that are logged.
type records struct {
	slog.Handler
	mu   sync.Mutex
	said []string
}

// Enabled implements slog.Handler.
func (*records) Enabled(context.Context, slog.Level) bool { return true }

// Handle implements slog.Handler.
func (r *records) Handle(_ context.Context, rec slog.Record) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if rec.Level >= slog.LevelWarn {
		r.said = append(r.said, rec.Message)
	}
	return nil
}

type bundle struct {
	*pool.Pool
	t     testing.TB
	house *house
	log   *records
}

func setup(t testing.TB, size int) *bundle {
	b := &bundle{t: t, house: &house{}, log: &records{Handler: slog.DiscardHandler}}
	b.Pool = pool.New(pool.Config{Launch: b.house.launch, Size: size, Logger: slog.New(b.log)})
	t.Cleanup(b.Close)
	return b
}

// take gives an interpreter that nobody else has had, and how long that took.
func (b *bundle) take() (*fake, time.Duration) {
	b.t.Helper()
	began := time.Now()
	it, err := b.Start(b.t.Context(), python.Spec{})
	require.NoError(b.t, err)
	f := it.(*interpreter).fake
	require.EqualValues(b.t, 1, f.begun.Load())
	require.NoError(b.t, f.alive.Err())
	return f, time.Since(began)
}
