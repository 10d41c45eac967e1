// Package supervisor is the node's root and a run's tree: it admits runs,
// begins their logs, spawns their agents, and takes an invocation over from
// its log when its agent is lost.
//
// # Who restarts whom
//
// The root supervises runs; a run supervises its agent; an agent its observer,
// model, executor and tools. Nobody is restarted in place: a failed actor is
// stopped with all below it, and what replaces it begins from facts. So a
// panic, a kill and, later, the loss of a node are one path: adoption.
//
// # Admission
//
// A run is on the log before its caller is told that it exists. It then waits,
// in order, for one of limits.max_runs places; limits.queue_size bounds how
// many wait.
package supervisor
