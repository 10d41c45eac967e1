package agent_test

import (
	"sync"

	"github.com/troupe-go/troupe/actors/observer"
	"github.com/troupe-go/troupe/messages"
	"github.com/troupe-go/troupe/messages/fact"
)

// journal is a log that a test reads, and whose acknowledgements it may delay.
type journal struct {
	mu      sync.Mutex
	entries []entry          // what is stored, in order
	queue   []pendingFact    // what is not
	hold    string           // kind of fact that is not stored until release
	held    chan fact.Fact   // gets the fact that is held
	refuse  map[string]error // kinds that are refused for good
	changed chan struct{}    // closed and replaced with each entry
}

// entry is an event or a fact.
type entry struct {
	event *messages.Event
	fact  fact.Fact
}

func (e entry) String() string {
	if e.fact != nil {
		return "fact:" + e.fact.Kind()
	}
	if e.event.Phase != "" {
		return string(e.event.Type) + ":" + e.event.Phase
	}
	return string(e.event.Type)
}

type pendingFact struct {
	fact  fact.Fact
	after []messages.Event
	done  func(error)
}

var _ observer.Journal = (*journal)(nil)

func newJournal() *journal {
	return &journal{held: make(chan fact.Fact, 1), changed: make(chan struct{})}
}

// Publish implements observer.Journal.
func (j *journal) Publish(ev *messages.Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.add(entry{event: ev})
}

// Append implements observer.Journal.
func (j *journal) Append(f fact.Fact, after []messages.Event, done func(error)) {
	j.mu.Lock()
	j.queue = append(j.queue, pendingFact{f, after, done})
	if f.Kind() == j.hold {
		j.held <- f
	}
	j.mu.Unlock()
	j.store()
}

// Withdraw implements observer.Journal.
func (j *journal) Withdraw(string) {}

// Epoch implements observer.Journal.
func (j *journal) Epoch() uint64 { return 1 }

// release lets the held fact, and what waits behind it, be stored.
func (j *journal) release() {
	j.mu.Lock()
	j.hold = ""
	j.mu.Unlock()
	j.store()
}

func (j *journal) store() {
	for {
		j.mu.Lock()
		if len(j.queue) == 0 || j.queue[0].fact.Kind() == j.hold {
			j.mu.Unlock()
			return
		}
		next := j.queue[0]
		j.queue = j.queue[1:]
		err := j.refuse[next.fact.Kind()]
		if err == nil {
			j.add(entry{fact: next.fact})
			for i := range next.after {
				j.add(entry{event: &next.after[i]})
			}
		}
		j.mu.Unlock()
		next.done(err)
	}
}

// add is called with mu held.
func (j *journal) add(e entry) {
	j.entries = append(j.entries, e)
	close(j.changed)
	j.changed = make(chan struct{})
}

func (j *journal) all() []entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	return append([]entry(nil), j.entries...)
}
