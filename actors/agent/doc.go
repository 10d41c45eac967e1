// Package agent is the ReAct loop as an actor: it thinks, lets the code it
// wrote run, observes, and answers. It is a state machine that never blocks.
//
// # States
//
// An agent is idle until [Begin]; then it is thinking (a model call is out),
// acting (a block of its code runs) or settling (a fact is on its way to the
// log) by turns, until it is closing (its last fact is on its way) and ended.
// A stop adds stopping: what was cancelled still has to say so.
//
// # Children
//
// The observer is spawned at the start: every fact and event of the invocation
// goes through it in one order. The model actor, the executor and one actor a
// tool are spawned when first needed. A child that crashes is stopped, never
// restarted by the actor library: the agent decides what its loss means. The
// loss of the observer is the agent's own, which its supervisor answers with
// an adoption from the log.
//
// # Facts before effects
//
// An answer of the model is on the log before its code runs; the intent of a
// call with effects before the call begins; its result before the code sees
// it; the end of the run before anybody is told.
package agent
