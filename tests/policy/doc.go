// Package policy holds the rules of this tree as tests: which package may
// import which, what each package must have, and what no file may hold. It
// reads the clone and nothing else. A rule stands beside its reason; whoever
// needs an exception writes it, with its reason, into the table.
package policy
