//go:build (linux || darwin) && (amd64 || arm64)

package local

// Bare makes a Config start interpreters without any wall.
func Bare(c Config) Config { c.bare = true; return c }

// FailNonblock lets the step after a process's start fail.
func FailNonblock(d *Driver, err error) {
	d.starter.setNonblock = func(int, bool) error { return err }
}

// Without makes a Config believe that walls can't be had here.
func Without(c Config, walls ...string) Config { c.without = walls; return c }

// Ready says how many interpreters a driver keeps ready.
func Ready(d *Driver) int { return d.pool.Idle() }

// Idle gives the process ids of the interpreters that have no spec.
func Idle(d *Driver) (pids []int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for p := range d.live {
		p.mu.Lock()
		if p.memory == noLimit {
			pids = append(pids, p.pid)
		}
		p.mu.Unlock()
	}
	return pids
}
