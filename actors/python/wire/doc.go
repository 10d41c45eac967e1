// Package wire is the host's side of the protocol that the driver program
// (package guest) speaks: a JSON object a line, over two pipes. Every sandbox
// level uses it and brings only the process behind the pipes.
//
// # The guest is hostile
//
// The code it runs can write any line itself. So a line is bounded in size, a
// block's lines in number and rate; what is no message, or belongs to another
// block, is passed over; tool names come from the host's list and ordinals
// from the host; values are checked for depth; texts are cut. A line is never
// trusted for more than "the code asked for this". What breaks the bounds ends
// the interpreter, never the host.
//
// # Concurrency
//
// A Session is used by one goroutine at a time and starts none. It blocks in
// reads and writes of the pipes; killing the process ends both.
package wire
