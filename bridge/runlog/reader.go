package runlog

import (
	"github.com/troupe-go/troupe/messages"
)

// Reader applies the rules by which a reader sees each event of a run once,
// and none of an owner that was replaced. The zero value is ready; it is not
// safe for concurrent use. A reader that goes on from a position later, or on
// another node, goes on with the same Reader.
//
// What it can't do, as it keeps no text, is [Withdraws]. And the text of an
// attempt that was neither committed nor rolled back when an adopted event
// comes is withdrawn by it, too: the new owner asks the model again.
type Reader struct{ at map[string]mark }

// Take reports whether the event is one to show: neither seen before nor of
// an owner older than one that was seen.
func (r *Reader) Take(ev *messages.Event) bool {
	id := ev.ID
	if id.Invocation == "" {
		return true // not from a journal
	}
	last := r.at[id.Invocation]
	if id.Epoch < last.epoch || id.Epoch == last.epoch && id.N <= last.n {
		return false
	}
	if r.at == nil {
		r.at = make(map[string]mark)
	}
	r.at[id.Invocation] = mark{id.Epoch, id.N}
	return true
}

// Withdraws reports whether ev takes back the event with the given id, which
// was shown before: an adopted event what its predecessor published above
// Keep, a text that is published again as a whole (phase replace) its pieces.
func Withdraws(ev *messages.Event, id messages.EventID) bool {
	if id.Invocation != ev.ID.Invocation {
		return false
	}
	switch ev.Phase {
	case messages.PhaseAdopted:
		return ev.Epoch > 0 && id.Epoch == ev.Epoch-1 && id.N > ev.Keep
	case messages.PhaseReplace:
		return id.Epoch == ev.ID.Epoch && id.N > ev.Keep && id.N < ev.ID.N
	}
	return false
}
