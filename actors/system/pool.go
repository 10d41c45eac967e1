package system

import (
	"log/slog"
	"runtime/debug"
	"sync"
	"time"
)

// idleTime is how long a goroutine waits for work, at least, before it ends;
// at most twice as long.
const idleTime = 10 * time.Second

// pool is a dispatcher that reuses goroutines: a new goroutine for each
// activation would pay for growing its stack each time. It never queues:
// when no goroutine is idle it starts one.
//
// Idle goroutines form a stack, so that the same few, whose stacks have grown
// and are in the cache, do the work, and the others are seen to be of no use.
type pool struct {
	throughput int
	log        *slog.Logger
	running    sync.WaitGroup

	mu     sync.Mutex
	idle   []*worker
	spare  int         // fewest idle ones since the last sweep: nobody needed them
	timer  *time.Timer // nil when no sweep is due
	closed bool
}

// worker is one goroutine; a nil function ends it.
type worker struct{ work chan func() }

func newPool(throughput int, log *slog.Logger) *pool {
	return &pool{throughput: throughput, log: log}
}

// Throughput implements actor.Dispatcher.
func (p *pool) Throughput() int { return p.throughput }

// Schedule implements actor.Dispatcher. After close it runs f on a goroutine
// of its own, so that nothing an actor still does is lost.
func (p *pool) Schedule(f func()) {
	p.mu.Lock()
	if n := len(p.idle); n > 0 {
		w := p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.spare = min(p.spare, n-1)
		p.mu.Unlock()
		w.work <- f
		return
	}
	if p.closed {
		p.mu.Unlock()
		go p.do(f)
		return
	}
	p.running.Add(1)
	p.mu.Unlock()
	go p.serve(&worker{work: make(chan func(), 1)}, f)
}

// serve is a worker's life. Goexit in f (a test's FailNow) ends it early; the
// deferred call keeps the count right.
func (p *pool) serve(w *worker, f func()) {
	defer p.running.Done()
	for f != nil {
		p.do(f)
		if !p.park(w) {
			return
		}
		f = <-w.work
	}
}

func (p *pool) do(f func()) {
	defer func() {
		if r := recover(); r != nil {
			p.log.Error("panic on a pooled goroutine", "reason", r, "stack", string(debug.Stack()))
		}
	}()
	f()
}

// park makes w idle; false says that the pool is closed.
func (p *pool) park(w *worker) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.idle = append(p.idle, w)
	if p.timer == nil {
		p.spare = 0
		p.timer = time.AfterFunc(idleTime, p.sweep)
	}
	return true
}

// sweep ends the workers that nobody needed since the last one.
func (p *pool) sweep() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	n := p.spare
	for _, w := range p.idle[:n] {
		w.work <- nil
	}
	left := copy(p.idle, p.idle[n:])
	clear(p.idle[left:])
	p.idle = p.idle[:left]
	p.spare = left
	p.timer = nil
	if left > 0 {
		p.timer = time.AfterFunc(idleTime, p.sweep)
	}
}

// close ends all workers, idle ones at once and others after what they run,
// and waits for them.
func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	if p.timer != nil {
		p.timer.Stop()
	}
	for _, w := range p.idle {
		w.work <- nil
	}
	p.idle = nil
	p.mu.Unlock()
	p.running.Wait()
}
