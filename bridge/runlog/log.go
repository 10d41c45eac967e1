package runlog

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/troupe-go/troupe/actors/system"
	"github.com/troupe-go/troupe/messages/fact"
)

// Config is what a Log is made of. The zero value is a log in memory.
type Config struct {
	Store  Store        // default NewMemory(MemoryConfig{})
	World  system.World // default system.RealWorld()
	Logger *slog.Logger // default: discards
	// Go starts f on a goroutine; default a new one. A Local store needs none.
	Go    func(f func())
	Retry Retry
	// OnPaused is told when an invocation's facts or events couldn't be stored
	// for Retry.PauseAfter, and again when they can. It must not block: it is
	// called where the journal works. It is for a store that can be away; one in
	// memory never is.
	OnPaused func(Pause)
}

// Retry says how a journal repeats what a store could not do. Zero values mean
// the defaults.
type Retry struct {
	// Backoff between two tries; default 5 ms doubled up to 500 ms, ±50 %: a
	// lost leader is back after seconds, and many journals wait for it.
	Backoff system.Backoff
	// Timeout of one call of a store that isn't Local; default 2 s.
	Timeout time.Duration
	// PauseAfter is how long something fails before people are told; default
	// 2 s (DESIGN §4).
	PauseAfter time.Duration
}

func (r *Retry) defaults() {
	if r.Backoff == (system.Backoff{}) {
		r.Backoff = system.Backoff{Base: 5 * time.Millisecond, Cap: 500 * time.Millisecond, Factor: 2, Jitter: 0.5}
	}
	if r.Timeout <= 0 {
		r.Timeout = 2 * time.Second
	}
	if r.PauseAfter <= 0 {
		r.PauseAfter = 2 * time.Second
	}
}

// Pause says that an invocation's log can't be written, or can again.
type Pause struct {
	Run, Invocation string
	Paused          bool
	Err             error // what the store said last; nil when it can again
}

// Log is a node's door to the log. It is safe for concurrent use.
type Log struct {
	store    Store
	local    bool
	world    system.World
	logger   *slog.Logger
	goFunc   func(func())
	retry    Retry
	onPaused func(Pause)

	ctx     context.Context // of all work; ends with Close
	cancel  context.CancelFunc
	mu      sync.Mutex // orders spawn and Close
	running sync.WaitGroup
}

// New makes a Log. Close ends it.
func New(cfg Config) *Log {
	cfg.Retry.defaults()
	l := &Log{
		store: cfg.Store, world: cfg.World, logger: cfg.Logger, goFunc: cfg.Go,
		retry: cfg.Retry, onPaused: cfg.OnPaused,
	}
	if l.store == nil {
		l.store = NewMemory(MemoryConfig{})
	}
	if l.world == nil {
		l.world = system.RealWorld()
	}
	if l.logger == nil {
		l.logger = slog.New(slog.DiscardHandler)
	}
	if l.goFunc == nil {
		l.goFunc = func(f func()) { go f() }
	}
	if l.onPaused == nil {
		l.onPaused = func(Pause) {}
	}
	_, l.local = l.store.(Local)
	l.ctx, l.cancel = context.WithCancel(context.Background())
	return l
}

// Close ends all readers, cancels what the journals do and waits for their
// goroutines. What was
// not stored is lost to this process; a next owner goes on from the facts.
// Readers, and appends that wait, get messages.ErrShutdown; appends at the
// latest when their back-off has passed. Closing twice is fine.
func (l *Log) Close() {
	l.mu.Lock()
	l.cancel()
	l.mu.Unlock()
	l.running.Wait()
}

// spawn runs f on a goroutine that Close waits for, or here when the log is
// closed: then f finds nothing to wait for.
func (l *Log) spawn(f func()) {
	l.mu.Lock()
	if l.ctx.Err() != nil {
		l.mu.Unlock()
		f()
		return
	}
	l.running.Add(1)
	l.mu.Unlock()
	l.goFunc(func() {
		defer l.running.Done()
		f()
	})
}

// Begin makes the caller the first owner of a new invocation: start is its
// first fact, of which the Owner is filled in and nothing is changed from then
// on. It returns when that is stored, or when ctx ends; then the log may have
// begun, without an owner. ErrExists: the invocation has a log.
func (l *Log) Begin(ctx context.Context, run, invocation string, start *fact.RunStarted) (*Journal, error) {
	if start == nil {
		return nil, ErrInput.Withf("no run_started fact", "one")
	}
	if err := checkIDs(run, invocation); err != nil {
		return nil, err
	}
	start.Owner = l.world.NewID()
	j := l.journal(Invocation{Tenant: start.Tenant, Run: run, Invocation: invocation})
	done := make(chan error, 1)
	j.mu.Lock()
	j.m.begin(l.world.Now(), start, func(err error) { done <- err })
	j.work()
	if err := j.await(ctx, done); err != nil {
		return nil, err
	}
	return j, nil
}

// Adoption is an invocation taken over.
type Adoption struct {
	Journal    *Journal
	Records    []*fact.Record // the log as it was found, in order
	CrashCount int            // adoptions of this cause, this one included, with no thought or executed in between; 0 after a release
	// Finished is set when the invocation has ended: its last events are
	// stored, and the journal takes nothing.
	Finished *fact.RunFinished
}

// Adopt makes the caller the next owner of an invocation, for a cause of
// package fact; after a released fact the cause is release, whatever is given.
// The adopted fact is stored when Adopt returns; the events that the old
// owner may have left unpublished, and this owner's own, go before the next
// ones. ErrStale: another owner was quicker. ErrUnknownRun: there is no log.
func (l *Log) Adopt(ctx context.Context, run, invocation, cause, reason string) (*Adoption, error) {
	if err := checkIDs(run, invocation); err != nil {
		return nil, err
	}
	done := make(chan error, 1)
	c := &claim{cause: cause, reason: reason, done: func(err error) { done <- err }}
	j := l.claim(Invocation{Run: run, Invocation: invocation}, c)
	if err := j.await(ctx, done); err != nil {
		return nil, err
	}
	a := &Adoption{Journal: j, CrashCount: c.plan.crashes, Finished: c.plan.finished}
	for _, s := range c.records {
		rec := s.Record.Record()
		rec.Seq = s.Seq
		a.Records = append(a.Records, rec)
	}
	return a, nil
}

// claim starts an adoption; its done is called when it is decided.
func (l *Log) claim(inv Invocation, c *claim) *Journal {
	c.at, c.owner = l.world.Now(), l.world.NewID()
	j := l.journal(inv)
	j.mu.Lock()
	j.m.adopt(c)
	j.work()
	return j
}

// Forget drops what the store keeps of an ended run, if it can; readers of it
// end with ErrUnknownRun. It doesn't block.
func (l *Log) Forget(run string) {
	if s, ok := l.store.(Forgetter); ok {
		s.Forget(run)
	}
}

func (l *Log) journal(inv Invocation) *Journal {
	return &Journal{log: l, m: machine{inv: inv, rules: &l.retry}}
}

func checkIDs(run, invocation string) error {
	if run == "" || invocation == "" {
		return ErrInput.Withf("run "+run+", invocation "+invocation, "two ids")
	}
	return nil
}
