package wire

import "time"

// clock counts the interpreter's own time in a block; it stands still while a
// call is out. When the time is over it calls expire, on a goroutine of the
// runtime's.
type clock struct {
	timer *time.Timer
	left  time.Duration
	since time.Time
}

func startClock(limit time.Duration, expire func()) *clock {
	return &clock{timer: time.AfterFunc(limit, expire), left: limit, since: time.Now()}
}

func (c *clock) pause() {
	c.timer.Stop()
	c.left = max(c.left-time.Since(c.since), time.Millisecond)
}

func (c *clock) resume() {
	c.since = time.Now()
	c.timer.Reset(c.left)
}

func (c *clock) stop() { c.timer.Stop() }
