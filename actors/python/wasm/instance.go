package wasm

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/sys"

	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/actors/python/guest"
)

// exitKilled is the status with which the host ends a guest.
const exitKilled = 255

// complaintSize bounds what is kept of a guest's stderr, in bytes.
const complaintSize = 8 << 10

// instance is one interpreter: a module with its memory, and the goroutine
// that runs it. It implements wire.Process.
//
// The guest can be held or ended whenever it calls its host, which it does
// every few microseconds: see package rewrite. Nothing outside its goroutine
// touches it.
type instance struct {
	memory    *memory
	commands  *pipe // to the guest
	messages  *pipe // from the guest
	complaint limitedBuffer
	began     time.Time

	alive context.Context
	ended context.CancelFunc
	stop  chan struct{} // closed by the first Kill

	attention atomic.Bool // frozen or killed

	mu      sync.Mutex
	changed sync.Cond // frozen or killed
	frozen  bool
	killed  bool
	gone    bool
	reason  string
	err     error         // how it ended
	used    time.Duration // until since
	since   time.Time     // it runs from here on; zero while it waits
}

// newInstance gives an instance that doesn't run yet. most bounds its memory
// for good, in bytes.
func newInstance(most uint64) (*instance, error) {
	m, err := newMemory(most, most)
	if err != nil {
		return nil, err
	}
	i := &instance{memory: m, commands: newPipe(), messages: newPipe(), began: time.Now(), stop: make(chan struct{})}
	i.complaint.limit = complaintSize
	i.alive, i.ended = context.WithCancel(context.Background())
	i.changed.L = &i.mu
	return i, nil
}

// run runs the guest to its end.
func (i *instance) run(rt wazero.Runtime, code wazero.CompiledModule, argv []string) {
	i.resume()
	err := i.call(rt, code, argv)
	i.pause()
	err = errors.Join(err, i.memory.release())
	i.mu.Lock()
	i.gone, i.err = true, err // before the host hears of the end, and kills what is gone
	i.mu.Unlock()
	i.commands.end()
	i.messages.end()
	i.ended()
}

// call runs the module's start function. What the guest has is all here: two
// pipes, a stderr that is cut, a variable, a clock, and numbers that look
// random and are always the same.
func (i *instance) call(rt wazero.Runtime, code wazero.CompiledModule, argv []string) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the host of the interpreter panicked: %v", r)
		}
	}()
	ctx := context.WithValue(experimental.WithMemoryAllocator(context.Background(), i.memory), instanceKey{}, i)
	module, err := rt.InstantiateModule(ctx, code, wazero.NewModuleConfig().WithName("").WithArgs(argv...).
		WithEnv("PYTHONHASHSEED", "1").
		WithStdin(guestEnd{i}).WithStdout(guestEnd{i}).WithStderr(&i.complaint).
		WithWalltime(i.walltime, sys.ClockResolution(time.Millisecond)).
		WithNanotime(func() int64 { return int64(time.Since(i.began)) }, sys.ClockResolution(time.Microsecond)).
		WithOsyield(i.yield).
		WithRandSource(&numbers{source: rand.NewChaCha8([32]byte{}), yield: i.yield}))
	if module != nil {
		err = errors.Join(err, module.Close(ctx))
	}
	return err
}

// Kill implements wire.Process.
func (i *instance) Kill(reason string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.gone {
		return
	}
	if i.reason == "" {
		i.reason = reason
	}
	if i.killed {
		return
	}
	i.killed = true
	i.attention.Store(true)
	close(i.stop)
	i.commands.end()
	i.messages.end()
	i.changed.Broadcast()
}

// Alive implements wire.Process.
func (i *instance) Alive() context.Context { return i.alive }

// Why implements wire.Process.
func (i *instance) Why() string {
	<-i.alive.Done()
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.reason != "" {
		return i.reason
	}
	var exit *sys.ExitError
	if errors.As(i.err, &exit) && exit.ExitCode() == guest.ExitMemory {
		return python.KilledMemory
	}
	if i.memory.denied.Load() && !i.killed && !errors.As(i.err, &exit) { // it broke down for want of memory
		return python.KilledMemory
	}
	return python.KilledDied
}

// CPU implements wire.Process: the time in which the guest ran, which is that
// of the wall while it waits for nothing.
func (i *instance) CPU() time.Duration {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.since.IsZero() {
		return i.used
	}
	return i.used + time.Since(i.since)
}

// Freeze implements wire.Process: the guest stops at the next loop.
func (i *instance) Freeze() { i.freeze(true) }

// Thaw implements wire.Process.
func (i *instance) Thaw() { i.freeze(false) }

func (i *instance) freeze(frozen bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.frozen = frozen
	i.attention.Store(frozen || i.killed)
	i.changed.Broadcast()
}

// yield is where the guest is held and ended. It runs in the guest's
// goroutine; the panic unwinds the guest.
func (i *instance) yield() {
	if !i.attention.Load() {
		return
	}
	i.pause()
	i.mu.Lock()
	for i.frozen && !i.killed {
		i.changed.Wait()
	}
	killed := i.killed
	i.mu.Unlock()
	if killed {
		panic(sys.NewExitError(exitKilled))
	}
	i.resume()
}

// sleep is the guest's.
func (i *instance) sleep(d time.Duration) {
	i.pause()
	timer := time.NewTimer(d)
	select {
	case <-timer.C:
	case <-i.stop:
		timer.Stop()
	}
	i.resume()
	i.yield()
}

// walltime gives the time of day in milliseconds.
func (i *instance) walltime() (int64, int32) {
	now := time.Now().Truncate(time.Millisecond)
	return now.Unix(), int32(now.Nanosecond())
}

// pause says that the guest waits from here on, resume that it runs.
func (i *instance) pause() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !i.since.IsZero() {
		i.used += time.Since(i.since)
		i.since = time.Time{}
	}
}

func (i *instance) resume() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.since = time.Now()
}

// guestEnd is the guest's side of the pipes.
type guestEnd struct{ *instance }

// Read gives commands.
func (g guestEnd) Read(p []byte) (int, error) {
	g.pause()
	n, err := g.commands.Read(p)
	g.resume()
	g.yield()
	return n, err
}

// Write takes messages.
func (g guestEnd) Write(p []byte) (int, error) {
	g.pause()
	n, err := g.messages.Write(p)
	g.resume()
	g.yield()
	return n, err
}

// numbers is a source of bytes that are the same for every instance: what is
// random in an interpreter comes from its seed.
type numbers struct {
	source *rand.ChaCha8
	yield  func()
}

// Read fills a part of p, so that a guest which asks for gigabytes can be
// stopped.
func (n *numbers) Read(p []byte) (int, error) {
	n.yield()
	return n.source.Read(p[:min(len(p), 64<<10)])
}

// close ends the instance and waits until it is gone.
func (i *instance) close() {
	i.Kill(python.KilledCancelled)
	<-i.alive.Done()
}

// usage says what a live instance takes.
func (i *instance) usage() python.Usage {
	if i.alive.Err() != nil {
		return python.Usage{}
	}
	return python.Usage{Linear: int64(i.memory.size.Load()), CPU: i.CPU()}
}

// fault says how the instance ended; it waits for that.
func (i *instance) fault() error {
	<-i.alive.Done()
	i.mu.Lock()
	defer i.mu.Unlock()
	if text := i.complaint.String(); text != "" {
		return fmt.Errorf("%w; it said: %s", i.err, text)
	}
	return i.err
}
