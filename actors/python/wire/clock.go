package wire

import (
	"sync"
	"time"
)

const (
	// cpuCheck is how often processor time is looked at while calls are out.
	cpuCheck = 250 * time.Millisecond
	// cpuSoon bounds how often it is looked at when it is nearly used up.
	cpuSoon = 10 * time.Millisecond
)

// clock counts the interpreter's own time in a block, in two ways. The wall's
// clock stands still while a call is out. Processor time doesn't: a thread
// could compute behind calls that take their time. When either is over it
// calls expire, once or more, on a goroutine of the runtime's or in pause.
type clock struct {
	limit  time.Duration
	cpu    func() time.Duration // that the process used so far
	expire func()

	mu      sync.Mutex
	timer   *time.Timer
	out     bool // a call is
	stopped bool
	left    time.Duration // of the wall's
	since   time.Time     // when it went on
	start   time.Duration // cpu at the beginning
	used    time.Duration // of cpu, when that was last looked at
	next    time.Time     // when it is looked at if calls are out
}

func startClock(limit time.Duration, cpu func() time.Duration, expire func()) *clock {
	now := time.Now()
	c := &clock{limit: limit, cpu: cpu, expire: expire, left: limit, since: now, start: cpu(), next: now.Add(cpuCheck)}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.timer = time.AfterFunc(limit, c.tick)
	return c
}

// pause reports whether there is time left. The timer alone can't end code
// that calls tools without end: each call might stop it just before it fires.
func (c *clock) pause() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	c.left -= now.Sub(c.since)
	c.out = true
	return c.goOn(now)
}

func (c *clock) resume() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.out, c.since = false, time.Now()
	c.arm(c.since)
}

func (c *clock) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopped = true
	c.timer.Stop()
}

// tick is what the timer calls.
func (c *clock) tick() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		return
	}
	now := time.Now()
	if !c.out {
		c.left -= now.Sub(c.since)
		c.since, c.next = now, now
	}
	c.goOn(now)
}

// goOn looks at what is left and arms the timer for the next look.
func (c *clock) goOn(now time.Time) bool {
	if !now.Before(c.next) {
		c.used, c.next = c.cpu()-c.start, now.Add(cpuCheck)
	}
	if c.left <= 0 || c.used >= c.limit {
		c.timer.Stop()
		c.expire()
		return false
	}
	c.arm(now)
	return true
}

// arm sets the timer to the first moment at which time could be over: one
// thread at a time computes.
func (c *clock) arm(now time.Time) {
	soon := max(c.limit-c.used, cpuSoon)
	if c.out {
		c.timer.Reset(max(c.next.Sub(now), cpuSoon))
		return
	}
	c.timer.Reset(min(c.left, soon))
}
