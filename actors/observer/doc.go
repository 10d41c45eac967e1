// Package observer is the actor that turns an invocation's life into events:
// it splits streamed model text into thinking, deep thinking and code, joins
// small pieces, stamps every event with where it happened, and is the only
// user of the invocation's Journal, so that facts and events keep one order.
//
// # Messages
//
// AttemptBegin, AttemptDelta, AttemptEnd, AttemptRollback and Emit of package
// messages, and Record of this one, which is answered by Recorded. A delta of
// an attempt that is not open is dropped: its attempt was ended or withdrawn.
//
// # Joining
//
// Text that comes when none was published for Config.JoinDelay goes out at
// once, so a first token and a slow stream are never delayed. What follows
// sooner is joined until the delay is over, the kind of text changes, a block
// begins, Config.JoinBytes are there, or anything else is published.
package observer
