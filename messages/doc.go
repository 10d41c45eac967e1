// Package messages is the vocabulary of a troupe: every message its actors
// send, every event people watch, the definitions that configuration turns
// into, and the errors and states they share. It imports nothing of ours.
//
// # Messages
//
// Messages are small structs, immutable once sent: neither the sender nor a
// receiver changes a field, a slice element or a map entry afterwards. A
// message is sent by value or by pointer as its constructor's comment says;
// in this package all actor messages travel as pointers.
//
// # Events
//
// [Event] is what people and programs watch. Its JSON form ([Event.AppendJSON])
// keeps the wire shape of the first seed article: type, content, then optional
// keys. [ProcessTypes] lists every type with the part that emits it.
//
// # Facts
//
// What a node needs to take an invocation over lives in package
// messages/fact.
//
// # Compatibility
//
// An unknown message type is an error its sender sees; an unknown field is
// ignored (see [Registry]).
package messages
