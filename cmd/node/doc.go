// Command node is the one binary of Troupe, `troupe`: it runs an agent from
// the command line and says what is wrong with a configuration.
//
//	go run ./cmd/node demo                  a real run with a scripted model; needs no key
//	troupe run "question"                   one question to an agent
//	troupe config check [FILE]              every fault of a configuration at once
//	troupe version                          what this binary is
//
// # Output
//
// Answers and events go to stdout, diagnostics and logs to stderr. For people
// a run is a stream of text; with --json each event is a line. Colour is used
// on a terminal unless NO_COLOR is set. Whatever a person reads is in English
// or Chinese: --lang, else LC_ALL, LC_MESSAGES, LANG.
//
// # Exit codes
//
//	0    answered; nothing wrong
//	1    the run ended without an answer of its own: failed, blocked,
//	     max_steps, budget, or stopped by somebody else
//	2    usage or configuration: nothing was run
//	130  interrupted by Ctrl-C, SIGTERM or SIGHUP: a run that was stopped by it,
//	     or a command that followed no run, or none any more, and ended at once
//
// # Structure
//
// [app] holds everything the commands touch outside (streams, environment,
// signals, the node itself), so that each command is tested with fakes. This
// is the only package that reads the environment.
package main
