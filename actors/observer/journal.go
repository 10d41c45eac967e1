package observer

import (
	"github.com/troupe-go/troupe/messages"
	"github.com/troupe-go/troupe/messages/fact"
)

// Journal is one owner's hold on an invocation's log. The observer is its only
// user, so that facts and events keep one order.
type Journal interface {
	// Publish gives the event its id and publishes it. It never blocks; events
	// are stored in the order of the calls.
	Publish(ev messages.Event)
	// Append queues a fact. It is written after all earlier ones; settles names
	// how many of the events published so far it makes permanent. When it is
	// stored the events of after are published, then done(nil) is called, on
	// any goroutine. done(err) says that this owner has lost the invocation
	// (ErrStale) or that the log refused for good. It never blocks.
	Append(f fact.Fact, after []messages.Event, done func(error))
	// Withdraw marks the attempt's published text as rolled back: no later
	// fact settles it.
	Withdraw(attemptID string)
	// Epoch is this owner's epoch.
	Epoch() uint64
}
