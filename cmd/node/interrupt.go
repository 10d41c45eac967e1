package main

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/troupe-go/troupe/messages"
)

// endWait is how long a command that a signal ends may take to close what it
// has open.
const endWait = time.Second

// interrupts takes the signals of one command. While a run is followed they
// stop the run. Before and after, the first one ends the command: its context
// is cancelled, and what hasn't ended within the grace, or when a second signal
// comes, is left behind with the process.
type interrupts struct {
	app    *app
	cancel context.CancelFunc // of the command
	done   chan struct{}
	wg     sync.WaitGroup

	mu    sync.Mutex
	run   *followed   // nil: none is
	grace *time.Timer // nil: the command goes on
}

// takeSignals listens until end.
func (a *app) takeSignals(cancel context.CancelFunc) *interrupts {
	in := &interrupts{app: a, cancel: cancel, done: make(chan struct{})}
	in.wg.Go(func() {
		for {
			select {
			case <-in.done:
				return
			case sig := <-a.signals:
				in.signal(sig)
			}
		}
	})
	return in
}

// end stops listening and reports whether a signal ended the command.
func (in *interrupts) end() bool {
	close(in.done)
	in.wg.Wait()
	if in.grace == nil {
		return false
	}
	in.grace.Stop()
	return true
}

func (in *interrupts) signal(sig os.Signal) {
	in.mu.Lock()
	defer in.mu.Unlock()
	switch {
	case in.run != nil:
		in.run.signal(sig)
	case in.grace != nil:
		in.app.exit(exitInterrupted)
	default:
		in.grace = time.AfterFunc(in.app.grace, func() { in.app.exit(exitInterrupted) })
		in.cancel()
	}
}

// follow turns signals into stops of a run until its done; not those of a
// command that a signal has ended.
func (in *interrupts) follow(ctx context.Context, node runner, run, lang string) *followed {
	f := &followed{in: in, node: node, run: run, lang: lang}
	f.ctx, f.cancel = context.WithCancel(ctx)
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.grace == nil {
		in.run = f
	}
	return f
}

// followed is a run whose events are shown: the first Ctrl-C stops it after its
// running step, the second at once, the third ends the process. SIGTERM and
// SIGHUP are at least the second.
type followed struct {
	in     *interrupts
	node   runner
	run    string
	lang   string
	ctx    context.Context // of its stops
	cancel context.CancelFunc
	level  int // under the lock of in
	wg     sync.WaitGroup
}

// done ends the following once the run has ended, and reports whether there was
// a signal.
func (f *followed) done() bool {
	f.in.mu.Lock()
	f.in.run = nil
	f.in.mu.Unlock()
	f.cancel()
	f.wg.Wait()
	return f.level > 0
}

func (f *followed) signal(sig os.Signal) {
	f.level++
	if sig != os.Interrupt {
		f.level = max(f.level, 2)
	}
	switch f.level {
	case 1:
		f.say(tx.stopStep)
		f.stop(messages.StopStep)
	case 2:
		f.say(tx.stopNow)
		f.stop(messages.StopNow)
	default:
		f.in.app.exit(exitInterrupted)
	}
}

// stop asks for a stop without waiting: the answer comes when it has taken
// effect, and the next signal may be sooner.
func (f *followed) stop(after messages.StopAfter) {
	f.wg.Go(func() {
		_, err := f.node.Stop(f.ctx, messages.Stop{Run: f.run, After: after, Reason: "signal"})
		if err != nil && f.ctx.Err() == nil {
			f.say(tx.stopFailed, errorText(err, f.lang))
		}
	})
}

// say writes on a line of its own: the stream on stdout may be in mid-line.
func (f *followed) say(p phrase, args ...any) {
	fmt.Fprintf(f.in.app.stderr, "\n%s\n", p.in(f.lang, args...))
}
