package pool

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/actors/system"
	"github.com/troupe-go/troupe/messages"
)

// maxFailures is how many launches in a row may fail before the pool waits to
// be asked again.
const maxFailures = 5

// pause is the wait after a failure: long enough for a shortage to pass, short
// enough that a recovered machine is soon as fast as before.
var pause = system.Backoff{Base: 100 * time.Millisecond, Cap: 5 * time.Second, Factor: 2}

// ErrClosed says that the pool, and with it the sandbox, is closed.
var ErrClosed = &messages.Fault{
	Code: "sandbox_closed", Class: messages.Permanent,
	EN: "the sandbox is closed", ZH: "沙箱已关闭",
}

// Warm is an interpreter that has started and has no spec yet. Alive and Close
// may be called from any goroutine.
type Warm interface {
	// Begin makes it an interpreter with a spec. It is called at most once;
	// after an error the interpreter is gone and holds nothing any more. ctx
	// bounds the call only.
	Begin(ctx context.Context, spec python.Spec) (python.Interpreter, error)
	// Alive is cancelled when it has ended, for whatever reason.
	Alive() context.Context
	// Close kills it, waits until it is gone and gives back what it held; it
	// may be called twice, and after Begin failed.
	Close()
}

// Config says how a Pool works. Launch is required.
type Config struct {
	// Launch starts an interpreter; ctx bounds the start only. It returns soon
	// after ctx has ended, and leaves nothing behind with an error. It is
	// called by several goroutines at a time.
	Launch func(ctx context.Context) (Warm, error)
	// Size is how many interpreters are kept. Default 0: none.
	Size int
	// Logger hears of failures that no caller sees. Default: discards.
	Logger *slog.Logger
	// World gives the time between tries. Default: the real one.
	World system.World
}

// Pool keeps interpreters ready.
type Pool struct {
	cfg    Config
	ctx    context.Context // of launches; ends with Close
	cancel context.CancelFunc
	work   sync.WaitGroup // goroutines of ours, and Starts

	mu       sync.Mutex
	idle     []*kept // the oldest first
	filling  bool    // a goroutine is at it
	failures int     // in a row
	closed   bool
}

// kept is an idle interpreter and how to stop watching it.
type kept struct {
	Warm
	unwatch func() bool
}

// New makes a pool that is empty; nothing is launched before the first Start
// or Warm.
func New(cfg Config) *Pool {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.World == nil {
		cfg.World = system.RealWorld()
	}
	p := &Pool{cfg: cfg}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	return p
}

// Start gives an interpreter with spec: a kept one, or a new one when there is
// none that lives. ctx bounds the start only. The error is Launch's, Begin's of
// a new interpreter, ctx's or ErrClosed.
func (p *Pool) Start(ctx context.Context, spec python.Spec) (python.Interpreter, error) {
	if err := ctx.Err(); err != nil { // no interpreter is spent on it
		return nil, err
	}
	if !p.enter() {
		return nil, ErrClosed
	}
	defer p.work.Done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(p.ctx, cancel)()
	it, err := p.begin(ctx, spec)
	if p.ctx.Err() != nil { // nobody would close what a closed pool gives
		if it != nil {
			it.Close()
		}
		return nil, ErrClosed
	}
	p.again(err == nil)
	return it, err
}

// begin tries the kept interpreters, each dead one costing a moment, and then
// a new one.
func (p *Pool) begin(ctx context.Context, spec python.Spec) (python.Interpreter, error) {
	for range p.cfg.Size {
		k := p.take()
		if k == nil {
			break
		}
		it, err := k.Begin(ctx, spec)
		if err == nil {
			python.MarkWarm(ctx)
			return it, nil
		}
		k.Close()
		if ctx.Err() != nil {
			return nil, err
		}
		p.cfg.Logger.Debug("a kept interpreter could not begin; a new one takes its place", "error", err)
	}
	w, err := p.cfg.Launch(ctx)
	if err != nil {
		return nil, err
	}
	it, err := w.Begin(ctx, spec)
	if err != nil {
		w.Close()
		return nil, err
	}
	return it, nil
}

// Warm says that an interpreter will be needed soon. It never blocks.
func (p *Pool) Warm() { p.again(false) }

// Idle says how many interpreters are ready.
func (p *Pool) Idle() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.idle)
}

// Close kills the idle interpreters, ends launches and Starts that are under
// way, and waits for all of them. Interpreters that were given out live on.
// It may be called twice.
func (p *Pool) Close() {
	p.mu.Lock()
	p.closed = true
	idle := p.idle
	p.idle = nil
	p.mu.Unlock()
	p.cancel()
	for _, k := range idle {
		p.leave(k)
		k.Close()
	}
	p.work.Wait()
}

// enter counts a Start that Close waits for.
func (p *Pool) enter() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.work.Add(1)
	}
	return !p.closed
}

// take gives the oldest idle interpreter that lives, nil when there is none.
func (p *Pool) take() *kept {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, k := range p.idle {
		if k.Alive().Err() == nil { // the watch drops the others
			p.idle = slices.Delete(p.idle, i, i+1)
			p.leave(k)
			return k
		}
	}
	return nil
}

// leave ends the watch over an interpreter; one that began already goes to
// its end.
func (p *Pool) leave(k *kept) {
	if k.unwatch() {
		p.work.Done()
	}
}

// again lets the pool fill itself, also when it had given up: one launch more
// then. healthy says that an interpreter just began.
func (p *Pool) again(healthy bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failures = min(p.failures, maxFailures-1)
	if healthy {
		p.failures = 0
	}
	p.fill()
}

// fill starts the goroutine that fills the pool, unless one is at it or there
// is nothing to do. The caller holds mu.
func (p *Pool) fill() {
	if p.filling || !p.wants() {
		return
	}
	p.filling = true
	p.work.Go(func() {
		for p.next() {
			p.keep(p.launch())
		}
	})
}

// wants reports whether there is a launch to make. The caller holds mu.
func (p *Pool) wants() bool {
	return !p.closed && len(p.idle) < p.cfg.Size && p.failures < maxFailures
}

// next waits until the next launch is due; false: there is none, and the
// goroutine is no more.
func (p *Pool) next() bool {
	p.mu.Lock()
	failures := p.failures
	p.mu.Unlock()
	if failures > 0 {
		p.wait(pause.Delay(failures, p.cfg.World.Rand()))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.filling = p.wants()
	return p.filling
}

func (p *Pool) wait(d time.Duration) {
	due := make(chan struct{})
	timer := p.cfg.World.AfterFunc(d, func() { close(due) })
	defer timer.Stop()
	select {
	case <-due:
	case <-p.ctx.Done():
	}
}

// launch makes one launch on the pool's goroutine, where a panic would end the
// process.
func (p *Pool) launch() (w Warm, err error) {
	defer func() {
		if r := recover(); r != nil {
			w, err = nil, fmt.Errorf("the launch of an interpreter panicked: %v", r)
		}
	}()
	return p.cfg.Launch(p.ctx)
}

// keep takes the outcome of a launch.
func (p *Pool) keep(w Warm, err error) {
	p.mu.Lock()
	if err != nil {
		p.failed("an interpreter to keep ready did not start", err)
		p.mu.Unlock()
		return
	}
	if p.closed {
		p.mu.Unlock()
		w.Close()
		return
	}
	defer p.mu.Unlock()
	k := &kept{Warm: w}
	p.work.Add(1)
	k.unwatch = context.AfterFunc(w.Alive(), func() {
		defer p.work.Done()
		p.drop(k)
	})
	p.idle = append(p.idle, k)
}

// errDied is why an idle interpreter is replaced.
var errDied = errors.New("it ended by itself")

// drop replaces an interpreter that died. One that is not among the idle ones
// is somebody else's by now.
func (p *Pool) drop(k *kept) {
	p.mu.Lock()
	i := slices.Index(p.idle, k)
	if i >= 0 {
		p.idle = slices.Delete(p.idle, i, i+1)
		p.failed("an idle interpreter died", errDied)
		p.fill()
	}
	p.mu.Unlock()
	if i >= 0 {
		k.Close()
	}
}

// failed counts a failure and logs the first in a row. The caller holds mu.
func (p *Pool) failed(what string, err error) {
	if p.closed { // it was ended by that
		return
	}
	p.failures++
	if p.failures == 1 {
		p.cfg.Logger.Warn(what+"; blocks may wait for a start", "error", err)
	}
}
