package python

import (
	"context"
	"fmt"
	"sync"

	"github.com/troupe-go/troupe/messages"
	"github.com/troupe-go/troupe/messages/fact"
)

// record answers the calls of a block that is run again, in the order in which
// it made them. The first call that is another one ends the block.
type record struct {
	calls []messages.RecordedCall
	then  Host // takes the calls after the last recorded one, and pending ones; nil: there must be none
	end   context.CancelFunc

	mu       sync.Mutex
	met      int    // calls that were made again
	mismatch string // "" while all is as it was
}

// Call implements Host.
func (r *record) Call(ctx context.Context, c Call) Result {
	want, live := r.meet(c)
	switch {
	case live:
		return r.then.Call(ctx, c)
	case want != nil:
		return Result{Value: want.Value, Err: want.Err, At: want.At}
	}
	r.end() // no code runs after it: the session sees that its context is over
	return Result{Err: &messages.ToolError{Type: "RuntimeError", Message: "the block is interrupted"}}
}

// meet finds the recorded call that c is, or reports that c is to be made; both
// nil and false: it is neither.
func (r *record) meet(c Call) (want *messages.RecordedCall, live bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.mismatch != "" {
		return nil, false
	}
	if r.met == len(r.calls) {
		if r.then == nil {
			r.mismatch = fmt.Sprintf("call %d, of %s, was not made before", c.Ordinal, c.Tool)
		}
		return nil, r.then != nil
	}
	want = &r.calls[r.met]
	hash := fact.CallHash(c.Tool, c.Args, c.Kwargs)
	switch {
	case c.Ordinal != want.Call || c.Tool != want.Tool:
		r.mismatch = fmt.Sprintf("call %d was of %s, now call %d is of %s", want.Call, want.Tool, c.Ordinal, c.Tool)
	case hash != want.Hash:
		r.mismatch = fmt.Sprintf("call %d, of %s, has other arguments than before", c.Ordinal, c.Tool)
	default:
		r.met++
		return want, want.Pending
	}
	return nil, false
}

// rest says what went another way once the block has ended; "" for nothing.
func (r *record) rest() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.mismatch == "" && r.met < len(r.calls) {
		r.mismatch = fmt.Sprintf("call %d, of %s, was made before and is not made now", r.calls[r.met].Call, r.calls[r.met].Tool)
	}
	return r.mismatch
}

// resume runs a block that an earlier owner had begun. Until its last recorded
// call was met nothing is called. Where it goes another way it is ended, and
// interrupted says so: what it did in between is not known to be what it did
// before, so the interpreter goes too.
func resume(ctx context.Context, it Interpreter, b Block, calls []messages.RecordedCall, live Host) (out *Outcome, interrupted string, err error) {
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	r := &record{calls: calls, then: live, end: cancel}
	out, err = it.Exec(inner, b, r)
	if err != nil {
		return nil, "", err
	}
	if out.Killed != "" && r.mismatch == "" { // by a limit or a stop
		return out, "", nil
	}
	if interrupted = r.rest(); interrupted != "" {
		out = &Outcome{Output: out.Output, Printed: out.Printed, Killed: KilledCancelled, CPU: out.CPU}
	}
	return out, interrupted, nil
}
