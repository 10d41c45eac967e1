package messages

import "fmt"

// Missed tells a reader of events, as an error, that those at positions From
// to To, both included, are not kept any more. The events after them follow.
type Missed struct{ From, To uint64 }

// Error implements error.
func (m *Missed) Error() string {
	return fmt.Sprintf("events %d to %d are not kept any more: read more quickly, or keep more events", m.From, m.To)
}

// Withdraws reports whether the event takes back the one with the given id,
// which was shown before: an adopted event what its predecessor published above
// Keep, a text that is published again as a whole (phase replace) its pieces.
func (ev *Event) Withdraws(id EventID) bool {
	if id.Invocation != ev.ID.Invocation {
		return false
	}
	switch ev.Phase {
	case PhaseAdopted:
		return ev.Epoch > 0 && id.Epoch == ev.Epoch-1 && id.N > ev.Keep
	case PhaseReplace:
		return id.Epoch == ev.ID.Epoch && id.N > ev.Keep && id.N < ev.ID.N
	}
	return false
}

// Reader applies the rules by which a reader sees each event of a run once,
// and none of an owner that was replaced. The zero value is ready; it is not
// safe for concurrent use. Whoever watches a run has its events read like this
// already; one that goes on from a position later, or on another node, goes on
// with the same Reader.
//
// What it can't do, as it keeps no text, is [Event.Withdraws]. And the text of
// an attempt that was neither committed nor rolled back when an adopted event
// comes is withdrawn by it, too: the new owner asks the model again.
type Reader struct{ last map[string]EventID } // by invocation

// Take reports whether the event is one to show: neither seen before nor of
// an owner older than one that was seen.
func (r *Reader) Take(ev *Event) bool {
	id := ev.ID
	if id.Invocation == "" {
		return true // not from a journal
	}
	last := r.last[id.Invocation]
	if id.Epoch < last.Epoch || id.Epoch == last.Epoch && id.N <= last.N {
		return false
	}
	if r.last == nil {
		r.last = make(map[string]EventID)
	}
	r.last[id.Invocation] = id
	return true
}
