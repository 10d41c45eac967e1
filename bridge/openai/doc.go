// Package openai asks models over the OpenAI chat completions wire, which most
// providers and local servers speak. It implements model.Client.
//
// The request is sent and the stream is read by go-openai's client, with an
// HTTP doer of ours under it (exchange.go). The doer does what that client
// can't: it writes the body from messages that were encoded once (body.go), so
// a long history costs no encoding; it classifies refusals while their headers
// are at hand; it accepts a whole completion where a stream was asked for and
// refuses a web page; and it hands on a normalised, bounded event stream
// (events.go). Chunks are read into types of ours (chunk.go), which keep what
// providers really send.
//
// # Time-outs
//
// Three, in the world's time, each a model_timeout fault that names itself:
// to the first byte of the answer, between two signs of life (keep-alive
// comments count: a busy provider sends them while the call waits in its
// queue), and for the whole call, which nothing extends.
//
// # Secrets
//
// Keys and headers leave this package in the request only. What a provider
// says is bounded, put on one line and freed of them before anybody sees it.
// Not looked for are values of fewer than 6 bytes, and one that is the model's
// own name, as local servers are given: they would blot out ordinary words.
package openai
