// Package pool keeps interpreters ready that have started and know no spec
// yet, so that a block need not wait for a start. Every sandbox level uses it
// and brings only the launch of its interpreters.
//
// # What a caller sees
//
// [Pool.Start] gives a kept interpreter at once, else a new one. One that died
// while it was kept is passed over. An error of Start is that of a launch made
// for this very caller, never one from before. No interpreter is given out
// twice: nothing ever comes back into a pool.
//
// # Refilling
//
// A new pool is empty. The first Start or [Pool.Warm] fills it, and each Start
// fills the place it made, one launch at a time. After a launch that failed,
// or an idle interpreter that died, the next launch waits, each time twice as
// long; after [maxFailures] in a row the pool stays as it is until the next
// Start or Warm, which allow one more launch. The first failure in a row is
// logged.
//
// # Concurrency
//
// A [Pool] may be used from any goroutine. It has one goroutine while it
// refills, else none. [Pool.Close] ends everything and waits for it.
package pool
