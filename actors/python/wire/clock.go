package wire

import "time"

// clock counts the interpreter's own time in a block; it stands still while a
// call is out. When the time is over it calls expire, on a goroutine of the
// runtime's or in pause.
type clock struct {
	timer  *time.Timer
	expire func()
	left   time.Duration
	since  time.Time
}

func startClock(limit time.Duration, expire func()) *clock {
	return &clock{timer: time.AfterFunc(limit, expire), expire: expire, left: limit, since: time.Now()}
}

// pause reports whether there is time left. The timer alone can't end code
// that calls tools without end: each call might stop it just before it fires.
func (c *clock) pause() bool {
	c.timer.Stop()
	c.left -= time.Since(c.since)
	if c.left <= 0 {
		c.expire()
		return false
	}
	return true
}

func (c *clock) resume() {
	c.since = time.Now()
	c.timer.Reset(c.left)
}

func (c *clock) stop() { c.timer.Stop() }
