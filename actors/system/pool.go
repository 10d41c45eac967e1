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

// keepJobs is the room for jobs that an empty queue keeps.
const keepJobs = 1024

// pool is a dispatcher that reuses goroutines: a new goroutine for each
// activation would pay for growing its stack each time.
//
// A job that is scheduled goes into a queue and wakes a worker, but only one
// that is on its way at a time. A worker that has done its job takes the next
// from the queue itself. So a chain of actors that send to each other runs on
// one goroutine, while the one that was woken finds nothing and goes back to
// sleep, and a wake-up is not paid for each message.
//
// No job waits for another to end, whatever that does. While the queue holds
// jobs a worker is on its way to it; when that one comes it takes a job and,
// if more are left, wakes the next before it begins. Where no worker is idle
// one is started: jobs may block, there is no greatest number of them. The
// queue is first in, first out, so that no chain, however long, keeps others
// waiting.
//
// Idle workers form a stack, so that the same few, whose stacks have grown
// and are in the cache, do the work, and the others are seen to be of no use.
type pool struct {
	throughput int
	log        *slog.Logger

	mu      sync.Mutex
	jobs    queue[job]
	coming  bool // a worker is on its way to the queue
	idle    []*worker
	spare   int         // fewest idle ones since the last sweep: nobody needed them
	timer   *time.Timer // nil when no sweep is due
	closed  bool
	workers int        // that close waits for
	gone    *sync.Cond // one of them ended, or went to a job that close doesn't wait for
}

// job is a function; loose says that close doesn't wait for it.
type job struct {
	f     func()
	loose bool
}

// worker is one goroutine. It is idle until told to come to the queue, or,
// with false, to end.
type worker struct{ come chan bool }

func newPool(throughput int, log *slog.Logger) *pool {
	p := &pool{throughput: throughput, log: log}
	p.gone = sync.NewCond(&p.mu)
	return p
}

// Throughput implements actor.Dispatcher.
func (p *pool) Throughput() int { return p.throughput }

// Schedule implements actor.Dispatcher. After close it runs f on a goroutine
// of its own, so that nothing an actor still does is lost.
func (p *pool) Schedule(f func()) { p.add(job{f: f}) }

func (p *pool) add(j job) {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		go p.do(j.f)
		return
	}
	p.jobs.push(j)
	w := p.call()
	p.mu.Unlock()
	w.wake()
}

// call sees to it that a worker is on its way to the queue, with mu held. The
// worker it gives, if any, is to be woken.
func (p *pool) call() *worker {
	if p.coming {
		return nil
	}
	p.coming = true
	n := len(p.idle)
	if n == 0 {
		p.workers++
		go p.serve(&worker{come: make(chan bool, 1)})
		return nil
	}
	w := p.idle[n-1]
	p.idle = p.idle[:n-1]
	p.spare = min(p.spare, n-1)
	return w
}

func (w *worker) wake() {
	if w != nil {
		w.come <- true
	}
}

// serve is a worker's life. Goexit in a job (a test's FailNow) ends it early;
// the deferred call keeps the count right.
func (p *pool) serve(w *worker) {
	defer p.count(-1)
	for called := true; ; {
		j, ok := p.take(w, called)
		if called = !ok; ok {
			p.run(j)
		} else if !<-w.come {
			return
		}
	}
}

// take gives w a job; called says that w is the one that was on its way. When
// there is none w is idle from then on.
func (p *pool) take(w *worker, called bool) (job, bool) {
	p.mu.Lock()
	if called {
		p.coming = false
	}
	if p.jobs.n == 0 {
		p.park(w)
		p.mu.Unlock()
		return job{}, false
	}
	j := p.jobs.pop()
	var next *worker
	if p.jobs.n > 0 {
		next = p.call()
	}
	p.jobs.trim(keepJobs)
	p.mu.Unlock()
	next.wake()
	return j, true
}

// park makes w idle, with mu held, or tells it to end when the pool is closed.
func (p *pool) park(w *worker) {
	if p.closed {
		w.come <- false
		return
	}
	p.idle = append(p.idle, w)
	if p.timer == nil {
		p.spare = 0
		p.timer = time.AfterFunc(idleTime, p.sweep)
	}
}

func (p *pool) run(j job) {
	if j.loose {
		p.count(-1)
		defer p.count(1)
	}
	p.do(j.f)
}

func (p *pool) do(f func()) {
	defer func() {
		if r := recover(); r != nil {
			p.log.Error("panic on a pooled goroutine", "reason", r, "stack", string(debug.Stack()))
		}
	}()
	f()
}

// count changes the number of workers that close waits for.
func (p *pool) count(by int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.workers += by
	p.gone.Broadcast()
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
		w.come <- false
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

// close ends all workers, idle ones at once and others when the queue is empty
// and their job done, and waits for them; not for those in a loose job.
func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	if p.timer != nil {
		p.timer.Stop()
	}
	for _, w := range p.idle {
		w.come <- false
	}
	p.idle = nil
	for p.workers > 0 {
		p.gone.Wait()
	}
}
