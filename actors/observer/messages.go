package observer

import (
	"github.com/troupe-go/troupe/messages"
	"github.com/troupe-go/troupe/messages/fact"
)

// Record asks the observer to append a fact and then publish the events that
// it makes true. Answered, to the sender, by Recorded with the same ID.
type Record struct {
	ID    uint64
	Fact  fact.Fact
	After []messages.Event
}

// Recorded says that a fact is stored and its events are published, or, with
// Err, that this owner can't write any more.
type Recorded struct {
	ID  uint64
	Err error
}
