package runlog

import (
	"context"
	"errors"

	"github.com/troupe-go/troupe/messages"
)

// ring keeps a run's newest events by position, within both bounds. Readers
// pull; it knows none of them.
type ring struct {
	keep    int
	bytes   int               // bound of used
	events  []*messages.Event // position p lies at (p-1) % keep
	used    int               // bytes of the events kept
	gone    uint64            // position of the newest that is not kept; 0: all are
	last    uint64            // position of the newest; 0: none yet
	ended   uint64            // position of the run's last event; 0: not there yet
	dropped bool
	changed chan struct{} // closed at the next change; nil when nobody waits
}

func (r *ring) add(ev *messages.Event) {
	if r.dropped {
		return
	}
	if r.last-r.gone == uint64(r.keep) {
		r.discard()
	}
	r.last++
	if len(r.events) < r.keep {
		r.events = append(r.events, ev)
	} else {
		*r.at(r.last) = ev
	}
	for r.used += bytesOf(ev); r.used > r.bytes && r.first() < r.last; { // the newest stays, whatever its size
		r.discard()
	}
	if r.ended == 0 && ev.Last() {
		r.ended = r.last
	}
	r.wake()
}

// discard lets go of the oldest event.
func (r *ring) discard() {
	oldest := r.at(r.first())
	r.used -= bytesOf(*oldest)
	*oldest = nil
	r.gone++
}

func (r *ring) at(position uint64) **messages.Event { return &r.events[(position-1)%uint64(r.keep)] }

// eventBytes is what an event takes beside its content: the struct, as it is
// allocated.
const eventBytes = 416

func bytesOf(ev *messages.Event) int {
	return eventBytes + len(ev.Content) + len(ev.Object) + len(ev.ToolArguments)
}

func (r *ring) drop() {
	r.events, r.dropped = nil, true
	r.wake()
}

func (r *ring) wake() {
	if r.changed != nil {
		close(r.changed)
		r.changed = nil
	}
}

// wait gives a channel that is closed at the next change.
func (r *ring) wait() <-chan struct{} {
	if r.changed == nil {
		r.changed = make(chan struct{})
	}
	return r.changed
}

// first is the position of the oldest event kept.
func (r *ring) first() uint64 { return r.gone + 1 }

// end is the position of the newest event that readers get.
func (r *ring) end() uint64 {
	if r.ended > 0 {
		return r.ended
	}
	return r.last
}

// copyTo fills buf with the events above position after, which may be any
// number.
func (r *ring) copyTo(buf []*messages.Event, after uint64) int {
	n := 0
	for p := after; n < len(buf) && p < r.end(); p++ {
		buf[n] = *r.at(p + 1)
		n++
	}
	return n
}

// cursor is one reader.
type cursor struct {
	run   *memoryRun
	name  string
	after uint64 // position of the last event it had, or may do without
	buf   [32]*messages.Event
}

// view is what a cursor finds.
type view struct {
	n       int // events in buf
	missed  *messages.Missed
	over    bool
	gone    bool
	changed <-chan struct{}
}

// more gives the reader what there is, or waits for a change. It reports
// whether there can be more.
func (c *cursor) more(ctx context.Context, yield func(messages.Event, error) bool) bool {
	v := c.look()
	switch {
	case v.gone:
		yield(messages.Event{}, messages.ErrUnknownRun.Withf(c.name))
		return false
	case v.over:
		return false
	case ctx.Err() != nil && (v.n == 0 && v.missed == nil || !errors.Is(context.Cause(ctx), messages.ErrShutdown)):
		yield(messages.Event{}, ctx.Err())
		return false
	case v.missed != nil:
		c.after = v.missed.To
		return yield(messages.Event{}, v.missed)
	}
	for i := range v.n {
		ev := *c.buf[i]
		c.after++
		ev.Seq = c.after
		if !yield(ev, nil) {
			return false
		}
	}
	if v.n > 0 {
		return true
	}
	select {
	case <-v.changed:
	case <-ctx.Done():
	}
	return true
}

func (c *cursor) look() view {
	c.run.mu.Lock()
	defer c.run.mu.Unlock()
	r := &c.run.events
	switch {
	case r.dropped:
		return view{gone: true}
	case r.ended > 0 && c.after >= r.ended:
		return view{over: true}
	case c.after < r.gone:
		return view{missed: &messages.Missed{From: c.after + 1, To: min(r.gone, r.end())}}
	}
	n := r.copyTo(c.buf[:], c.after)
	if n == 0 {
		return view{changed: r.wait()}
	}
	return view{n: n}
}
