package observer

import (
	"github.com/troupe-go/troupe/messages"
	"github.com/troupe-go/troupe/messages/fact"
)

// Journal is one owner's hold on an invocation's log. The observer is its only
// user, so that facts and events keep one order.
type Journal interface {
	// Publish gives the event its id and publishes it. It never blocks; events
	// are stored in the order of the calls. The event is the journal's from then
	// on.
	Publish(ev *messages.Event)
	// Append queues a fact. It is written after all earlier ones and settles the
	// events published so far; the text of a model attempt only when it is the
	// thought that accepts it. When it is stored the events of after, which are
	// the journal's from the call on, are published, then done(nil) is called, on
	// any goroutine, the caller's included and perhaps before Append returns.
	// done(err) says that this owner has lost the invocation (code stale_owner)
	// or that the log refused for good. It never blocks.
	Append(f fact.Fact, after []messages.Event, done func(error))
	// Withdraw marks the attempt's published text as rolled back: no later
	// fact settles it.
	Withdraw(attemptID string)
	// Epoch is this owner's epoch.
	Epoch() uint64
}
