// Package troupe runs AI agents as a troupe of actors: an agent thinks, writes
// Python, calls tools, observes and answers, under supervision, with every run
// a log that anyone may watch.
//
// # Usage
//
//	t, err := troupe.New(troupe.Config{Definitions: defs})
//	…
//	defer t.Close(ctx)
//	for event, err := range t.Run(ctx, troupe.RunRequest{Query: "…"}) { … }
//
// Definitions come from cluster.yaml (the troupe command reads it) or are
// written in Go. Tools written in Go are registered with [Config.GoTools].
//
// # Concurrency
//
// All methods of a Troupe may be called from any goroutine. Leaving a Run loop
// early, or the end of its context, stops nothing: the run goes on, [Troupe.Watch]
// attaches again and [Troupe.Stop] ends it.
//
// # Durability
//
// In this release the log lives in memory: a run survives the crash of its
// agent, its executor and its tools, not that of the process.
package troupe
