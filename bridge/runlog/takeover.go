package runlog

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/troupe-go/troupe/messages"
	"github.com/troupe-go/troupe/messages/fact"
)

// takeover is what an invocation's facts tell its next owner.
type takeover struct {
	start    *fact.RunStarted
	epoch    uint64 // the next owner's
	seq      uint64 // position of the last record
	keep     uint64 // number of the last event that the last epoch settled
	cause    string
	crashes  int
	again    []*messages.Event // settled, and not known to be stored
	finished *fact.RunFinished // it has ended: there is no next owner
}

// planTakeover reads an invocation's whole log. Errors match ErrUnknownRun
// when the log is empty, ErrRefused when no owner of ours wrote it, ErrInput
// when the cause is unknown.
func planTakeover(inv Invocation, records []Stored, cause string) (*takeover, error) {
	if cause != fact.CausePanic && cause != fact.CauseLoss && cause != fact.CauseRelease {
		return nil, ErrInput.Withf(fmt.Sprintf("cause %q", cause), "panic, loss or release")
	}
	if len(records) == 0 {
		return nil, messages.ErrUnknownRun.Withf(inv.Run)
	}
	t := &takeover{cause: cause, seq: records[len(records)-1].Seq}
	var unsure unsure
	var tally tally
	for _, s := range records {
		if s.Record.epoch < t.epoch {
			return nil, fmt.Errorf("%w: record %d is of epoch %d, after one of epoch %d", ErrRefused, s.Seq, s.Record.epoch, t.epoch)
		}
		if s.Record.epoch > t.epoch {
			t.epoch, t.keep = s.Record.epoch, 0
		}
		for _, ev := range s.Record.settles {
			t.keep = max(t.keep, ev.ID.N)
		}
		unsure.add(s.Record)
		for _, f := range s.Record.facts {
			tally.add(f)
			t.note(f)
		}
	}
	if t.start == nil {
		return nil, errors.Join(ErrRefused, errors.New("the log does not begin with run_started"))
	}
	t.again = unsure.inOrder()
	if t.finished != nil {
		return t, nil
	}
	if tally.released {
		t.cause = fact.CauseRelease
	}
	t.crashes = tally.next(t.cause)
	t.epoch++
	return t, nil
}

func (t *takeover) note(f fact.Fact) {
	switch f := f.(type) {
	case *fact.RunStarted:
		t.start = f
	case *fact.RunFinished:
		t.finished = f
	}
}

// fact is the new owner's first one.
func (t *takeover) fact(owner, reason string) *fact.Adopted {
	return &fact.Adopted{Prev: t.epoch - 1, Keep: t.keep, CrashCount: t.crashes, Cause: t.cause, Reason: reason, Owner: owner}
}

// event is the new owner's first one: it withdraws what the old owner
// published above keep.
func (t *takeover) event(inv Invocation) messages.Event {
	ev := messages.Event{
		Type: messages.ModelAttemptControl, Phase: messages.PhaseAdopted,
		Epoch: t.epoch, Keep: t.keep, Depth: t.start.Depth,
	}
	if ev.Depth > 0 {
		ev.InvocationID, ev.AgentName = inv.Invocation, t.start.Agent
	}
	return ev
}

// unsure keeps the settled events that may not be stored. An owner publishes
// first what its predecessors left, so one stored event of an epoch means that
// all of the epochs before it are.
type unsure struct {
	epoch  uint64
	events []*messages.Event
}

func (u *unsure) add(rec *Frozen) {
	u.epoch = rec.epoch
	u.events = append(u.events, rec.settles...)
	if rec.acked == 0 {
		return
	}
	rest := u.events[:0]
	for _, ev := range u.events {
		if ev.ID.Epoch == u.epoch && ev.ID.N > rec.acked {
			rest = append(rest, ev)
		}
	}
	u.events = rest
}

// inOrder gives the events as they were made: a text is settled later than a
// warning that came after it.
func (u *unsure) inOrder() []*messages.Event {
	slices.SortFunc(u.events, func(a, b *messages.Event) int {
		return cmp.Or(cmp.Compare(a.ID.Epoch, b.ID.Epoch), cmp.Compare(a.ID.N, b.ID.N))
	})
	return u.events
}

// tally counts crashes: adoptions of one cause with no thought or executed in
// between, an owner's release not among them.
type tally struct {
	panics, losses int
	released       bool // the last fact is released
}

func (t *tally) add(f fact.Fact) {
	t.released = false
	switch f := f.(type) {
	case *fact.Thought, *fact.Executed:
		t.panics, t.losses = 0, 0
	case *fact.Released:
		t.released = true
	case *fact.Adopted:
		switch f.Cause {
		case fact.CausePanic:
			t.panics++
		case fact.CauseLoss:
			t.losses++
		}
	}
}

// next is the crash count of one more adoption.
func (t *tally) next(cause string) int {
	switch cause {
	case fact.CausePanic:
		return t.panics + 1
	case fact.CauseLoss:
		return t.losses + 1
	}
	return 0
}
