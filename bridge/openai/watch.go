package openai

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/troupe-go/troupe/actors/system"
	"github.com/troupe-go/troupe/messages"
)

// How long a stream may stay open without a word once it is complete.
const (
	afterFinish = 2 * time.Second       // after finish_reason: usage and [DONE] come at once or never
	afterDone   = 50 * time.Millisecond // after [DONE]: its end comes with it; waiting for that keeps the connection
)

// limits are a call's time-outs.
type limits struct{ whole, firstByte, token time.Duration }

func newLimits(m messages.ModelConfig) limits {
	l := limits{whole: time.Duration(m.TimeoutSeconds * float64(time.Second)), firstByte: m.FirstByteTimeout, token: m.TokenTimeout}
	if l.whole <= 0 {
		l.whole = DefaultTimeout
	}
	if l.firstByte <= 0 {
		l.firstByte = DefaultFirstByteTimeout
	}
	if l.token <= 0 {
		l.token = DefaultTokenTimeout
	}
	return l
}

// errSettled ends a stream that is complete but doesn't end itself.
var errSettled = errors.New("the stream is complete")

// timeout is the cause of a call that took too long.
type timeout struct{ en, zh string }

func (t *timeout) Error() string { return t.en }

// watch cancels a call that is silent for too long, or too long as a whole.
type watch struct {
	world  system.World
	limits limits
	cancel context.CancelCauseFunc
	whole  system.Timer

	mu      sync.Mutex
	last    time.Time // last sign of life
	silence time.Duration
	cause   error // when silence is broken
	timer   system.Timer
	begun   bool
	settled time.Duration
	stopped bool
}

func newWatch(world system.World, l limits, cancel context.CancelCauseFunc) *watch {
	w := &watch{world: world, limits: l, cancel: cancel, last: world.Now()}
	w.whole = world.AfterFunc(l.whole, func() {
		cancel(&timeout{
			fmt.Sprintf("the whole call took longer than %s (timeout_seconds)", l.whole),
			fmt.Sprintf("整个调用超过 %s（timeout_seconds）", l.whole),
		})
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.arm(l.firstByte, &timeout{
		fmt.Sprintf("nothing came within %s (first_byte_timeout)", l.firstByte),
		fmt.Sprintf("%s 内没有任何响应（first_byte_timeout）", l.firstByte),
	})
	return w
}

// alive notes that bytes of the answer came. It costs no timer.
func (w *watch) alive() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last = w.world.Now()
	if w.begun {
		return
	}
	w.begun = true
	w.arm(w.limits.token, &timeout{
		fmt.Sprintf("the answer stood still for %s (token_timeout)", w.limits.token),
		fmt.Sprintf("应答停顿超过 %s（token_timeout）", w.limits.token),
	})
}

// settle notes that the answer is complete, and how long its end may take.
func (w *watch) settle(within time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.settled == within {
		return
	}
	w.settled = within
	w.arm(min(within, w.limits.token), errSettled)
}

// arm starts another bound on silence. It needs w.mu.
func (w *watch) arm(silence time.Duration, cause error) {
	if w.timer != nil {
		w.timer.Stop()
	}
	w.silence, w.cause = silence, cause
	w.timer = w.world.AfterFunc(silence, w.check)
}

// check runs when the call may have been silent too long; when it wasn't, it
// looks again at the earliest time at which it can have been.
func (w *watch) check() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped {
		return
	}
	if rest := w.silence - w.world.Now().Sub(w.last); rest > 0 {
		w.timer = w.world.AfterFunc(rest, w.check)
		return
	}
	w.cancel(w.cause)
}

func (w *watch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = true
	w.timer.Stop()
	w.whole.Stop()
}
