// Package runlog is the log of runs: facts, which are the truth and the lock of
// an invocation, and events, which are what facts look like to people
// (DESIGN §5). It implements the Journal of package observer over a small
// [Store].
//
// # Owners
//
// Only the owner of an invocation appends facts to it, each time expecting the
// last position it knows. Who wrote run_started, or the last adopted fact, is
// the owner; the append of an older one is refused, and it stops quietly
// ([ErrStale]). So the log needs no lease and no clock.
//
// # Records
//
// An append carries a [Frozen] record: the facts that waited, the events they
// settle, and how far this owner's events are known to be stored. It is frozen
// when first sent and repeated byte for byte until the store takes or refuses
// it; what arrives meanwhile waits for the next record. After a refusal the
// facts since are read: this owner's own record is success, a newer owner's
// means stale, anything else parks the invocation ([ErrDiverged]).
//
// # Events
//
// Events get their ids, (invocation, epoch, number), in the order of the calls
// and are stored in that order. The events that a fact makes true wait for it,
// and what comes after them waits too. Text of a model attempt is settled by
// the thought that accepts it, everything else by the next fact of any kind.
// A new owner publishes again what was settled and may not have been stored,
// with the old ids, and then its own first event, which withdraws what the old
// owner published and no fact settled; see [messages.Reader].
//
// # Concurrency
//
// A [Log] and a [Journal] are safe for concurrent use. The rules are one state
// machine (machine.go) without goroutines or clock; a Journal drives it. Over
// a [Local] store the caller's own goroutine does the work; else goroutines
// are started on demand, one for facts and one for events, and end when there
// is nothing to do. An idle journal holds no goroutine and no timer.
//
// # Slow readers
//
// Readers pull by position. A reader that falls behind what the store keeps is
// told which positions it missed ([messages.Missed]) and goes on; it slows nobody.
//
// # Testing
//
// Package storetest holds the contract that every Store passes, and the
// contract of a Log over it. A Local store and a World of package worldtest
// make a Log that runs on one goroutine in virtual time.
package runlog
