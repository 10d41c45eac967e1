//go:build (linux || darwin) && (amd64 || arm64)

package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/actors/python/guest"
)

// censusTime is how often the threads of a running process are counted.
const censusTime = 20 * time.Millisecond

// drainTime is how long what a dead process left in its pipe is read; only a
// process that escaped its group could keep the pipe open.
const drainTime = 200 * time.Millisecond

// process is one interpreter's process. It implements wire.Process.
type process struct {
	cmd      *exec.Cmd
	pid      int
	commands *os.File // to the guest
	messages *os.File // from the guest
	errors   *os.File // what it wrote to its real stdout and stderr, at most a pipe's worth

	alive context.Context
	ended context.CancelFunc

	mu     sync.Mutex
	reaped bool
	reason string
	memory int64 // its limit, 0 before it has a spec
	// running is whether a block runs; census then counts its threads, and is
	// nil where the kernel limits them.
	running bool
	census  *time.Timer
}

// newProcess starts a process that runs the driver program.
func newProcess(s *starter, in *installation, w walls) (*process, error) {
	p := &process{}
	p.alive, p.ended = context.WithCancel(context.Background())
	var theirs files
	defer func() { theirs.close() }() // the child has its own by then
	err := p.open(&theirs)
	if err == nil {
		p.cmd, err = command(in, w)
	}
	if err != nil {
		p.close()
		return nil, err
	}
	p.cmd.Stdout, p.cmd.Stderr = theirs[2], theirs[2]
	p.cmd.ExtraFiles = append([]*os.File{theirs[0], theirs[1]}, p.cmd.ExtraFiles...)
	if err := s.start(p.cmd); err != nil {
		p.close()
		return nil, w.refused(err)
	}
	p.pid = p.cmd.Process.Pid
	// Nobody reads what it writes there until it ends: a full pipe must be an
	// error to it, not a wait.
	if err := s.setNonblock(int(theirs[2].Fd()), true); err != nil {
		p.Kill("")
		p.reap()
		p.close()
		return nil, err
	}
	return p, nil
}

type files []*os.File

func (f files) close() {
	for _, file := range f {
		file.Close()
	}
}

// open makes the pipes: commands, messages, complaints. The child's ends go
// to theirs in this order.
func (p *process) open(theirs *files) error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	p.commands = w
	*theirs = append(*theirs, r)
	if p.messages, w, err = os.Pipe(); err != nil {
		return err
	}
	*theirs = append(*theirs, w)
	if p.errors, w, err = os.Pipe(); err != nil {
		return err
	}
	*theirs = append(*theirs, w)
	return nil
}

func (p *process) close() {
	p.ended()
	for _, f := range []*os.File{p.commands, p.messages, p.errors} {
		if f != nil {
			f.Close()
		}
	}
}

// Kill implements wire.Process.
func (p *process) Kill(reason string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reaped {
		return
	}
	if p.reason == "" {
		p.reason = reason
	}
	_ = unix.Kill(-p.pid, unix.SIGKILL) // ESRCH: it is on its way out by itself
}

// Freeze implements wire.Process. A stopped process still gets SIGKILL.
func (p *process) Freeze() { p.run(false) }

// Thaw implements wire.Process.
func (p *process) Thaw() { p.run(true) }

func (p *process) run(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reaped {
		return
	}
	signal := unix.SIGSTOP
	if on {
		signal = unix.SIGCONT
	}
	p.running = on
	_ = unix.Kill(-p.pid, signal) // ESRCH: it is on its way out by itself
	p.watch()
}

// watch has the threads of a running process counted where the kernel doesn't
// limit them. The caller holds mu.
func (p *process) watch() {
	if p.census == nil {
		return
	}
	if p.running && !p.reaped {
		p.census.Reset(censusTime)
	} else {
		p.census.Stop()
	}
}

// Alive implements wire.Process.
func (p *process) Alive() context.Context { return p.alive }

// Why implements wire.Process.
func (p *process) Why() string {
	<-p.alive.Done()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reason != "" {
		return p.reason
	}
	return p.findReason()
}

// findReason tells what ended a process that nobody killed. A native crash
// near the memory limit is taken for a lack of memory.
func (p *process) findReason() string {
	state := p.cmd.ProcessState
	if state == nil {
		return python.KilledDied
	}
	if state.ExitCode() == guest.ExitMemory {
		return python.KilledMemory
	}
	usage, ok := state.SysUsage().(*syscall.Rusage)
	status, isStatus := state.Sys().(syscall.WaitStatus)
	if ok && isStatus && p.memory > 0 && status.Signaled() && maxResident(usage) > p.memory/10*8 {
		return python.KilledMemory
	}
	return python.KilledDied
}

// reap waits for the process's end and takes it off the process table.
func (p *process) reap() {
	waitable(p.cmd)
	p.mu.Lock()
	_ = unix.Kill(-p.pid, unix.SIGKILL) // what it started, if anything; the group exists until it is reaped
	_ = p.cmd.Wait()                    // the state says how it ended
	p.reaped = true
	p.watch()
	p.mu.Unlock()
	_ = p.messages.SetReadDeadline(time.Now().Add(drainTime)) // a pipe takes deadlines
	_ = p.commands.Close()                                    // nobody reads it any more
	p.ended()
}

// giveUp ends a process that didn't come to run anything, and gives err with
// what the process said.
func (p *process) giveUp(err error) error {
	p.Kill("")
	<-p.alive.Done()
	defer p.close()
	return errors.Join(err, p.complaint())
}

// complaint gives what a process that has ended wrote to its real stderr, as
// an error; nil when nothing.
func (p *process) complaint() error {
	var b limitedBuffer
	_ = p.errors.SetReadDeadline(time.Now().Add(drainTime)) // a pipe takes deadlines
	_, _ = io.Copy(&b, p.errors)                            // whatever there is
	if len(b.text) == 0 {
		return nil
	}
	return fmt.Errorf("it said: %s", b.String())
}

// starter starts children from one OS thread that lives as long as it does:
// a child's parent-death signal comes when the thread that forked it ends.
type starter struct {
	work        chan func()
	done        chan struct{}
	once        sync.Once
	works       bool                                 // the last start did; the thread's
	setNonblock func(fd int, nonblocking bool) error // unix.SetNonblock, which tests let fail
}

func newStarter() *starter {
	s := &starter{work: make(chan func()), done: make(chan struct{}), setNonblock: unix.SetNonblock}
	go s.serve()
	return s
}

func (s *starter) start(cmd *exec.Cmd) error {
	result := make(chan error, 1)
	select {
	case s.work <- func() { result <- s.try(cmd) }:
		return <-result
	case <-s.done:
		return errClosed
	}
}

// try starts cmd on the starter's thread. Before its first start, and after one
// that failed, it asks whether a start can work.
func (s *starter) try(cmd *exec.Cmd) error {
	if !s.works {
		if err := probe(cmd); err != nil {
			return err
		}
	}
	err := cmd.Start()
	s.works = err == nil
	return err
}

func (s *starter) serve() {
	runtime.LockOSThread() // for good: the thread ends with the goroutine
	for {
		select {
		case f := <-s.work:
			f()
		case <-s.done:
			return
		}
	}
}

func (s *starter) close() { s.once.Do(func() { close(s.done) }) }

// finalCPU gives the processor time of a process that has been reaped, else 0.
// The caller holds mu.
func (p *process) finalCPU() time.Duration {
	if !p.reaped || p.cmd.ProcessState == nil {
		return 0
	}
	return p.cmd.ProcessState.UserTime() + p.cmd.ProcessState.SystemTime()
}
