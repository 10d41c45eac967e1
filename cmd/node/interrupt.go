package main

import (
	"context"
	"fmt"
	"os"
	"sync"

	"github.com/troupe-go/troupe/messages"
)

// interrupts turns signals into stops of one run: the first Ctrl-C after its
// running step, the second at once, the third ends the process. SIGTERM and
// SIGHUP are at least the second.
type interrupts struct {
	app   *app
	node  runner
	run   string
	lang  string
	level int
	wg    sync.WaitGroup
}

// watchSignals listens until ctx ends.
func (a *app) watchSignals(ctx context.Context, node runner, run, lang string) *interrupts {
	in := &interrupts{app: a, node: node, run: run, lang: lang}
	in.wg.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case sig := <-a.signals:
				in.signal(ctx, sig)
			}
		}
	})
	return in
}

// wait waits until all has ended, once the context has, and reports whether
// there was a signal.
func (in *interrupts) wait() bool {
	in.wg.Wait()
	return in.level > 0
}

func (in *interrupts) signal(ctx context.Context, sig os.Signal) {
	in.level++
	if sig != os.Interrupt {
		in.level = max(in.level, 2)
	}
	switch in.level {
	case 1:
		in.say(tx.stopStep)
		in.stop(ctx, messages.StopStep)
	case 2:
		in.say(tx.stopNow)
		in.stop(ctx, messages.StopNow)
	default:
		in.app.exit(exitInterrupted)
	}
}

// stop asks for a stop and goes on listening: the answer comes when it has
// taken effect, and the next signal may be sooner.
func (in *interrupts) stop(ctx context.Context, after messages.StopAfter) {
	in.wg.Go(func() {
		_, err := in.node.Stop(ctx, messages.Stop{Run: in.run, After: after, Reason: "signal"})
		if err != nil && ctx.Err() == nil {
			in.say(tx.stopFailed, errorText(err, in.lang))
		}
	})
}

// say writes on a line of its own: the stream on stdout may be in mid-line.
func (in *interrupts) say(p phrase, args ...any) {
	fmt.Fprintf(in.app.stderr, "\n%s\n", p.in(in.lang, args...))
}
