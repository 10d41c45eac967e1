// Package system is what every actor stands on: a small layer over
// protoactor-go's actor package that closes the traps we measured there.
//
// # Usage
//
// [New] makes a [System]; [System.Props] makes props with everything below
// built in; [Ask] asks an actor and waits for the first reply.
//
// # What is guarded
//
// A panic in Receive keeps its stack and reaches the supervisor strategy as a
// [Failure]. A panic in Stopping, Stopped or Restarting, or in anything an
// actor handles after them, is logged and ends there: left alone it would
// restart an actor that was told to stop, or hang its parent. What is queued
// behind a stop becomes a dead letter, so that who asked hears of it. The
// default strategy restarts for ever, slower when panics come fast, and never
// stops an actor silently. An unknown message is an error its sender sees
// ([Unknown]).
//
// # Concurrency
//
// Actors run on a pool of goroutines that are reused ([System.Go] runs on it
// too) and ended when nothing needs them. [System.Close] waits for all.
//
// # Time
//
// Time, randomness and ids come from one seam, [World]; package worldtest has
// one that tests step by hand.
package system
