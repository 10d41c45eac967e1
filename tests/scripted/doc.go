// Package scripted is a model that says what a script tells it to: an HTTP
// server with the OpenAI streaming wire, for demonstrations and tests. It
// speaks the protocol well, and misbehaves on request in the ways real
// providers do.
//
// A script holds what a model writes, never a result that something else has
// to compute.
//
// # Usage
//
//	script, err := scripted.Parse(yaml)
//	server, err := scripted.Start(script)
//	defer server.Close()
//	// a model with url: server.URL() and any key
//
// # Script
//
// A script is strict YAML: an unknown key is an error with its line.
//
//	chunk: 16            # bytes of text a delta, where a reply doesn't say; default 16
//	turns:               # the first turn that fits and isn't used up answers
//	  - name: look       # for messages and Server.Requests; default turn-<n>
//	    match:           # every key given must fit; none: every request
//	      model: gpt-x             # the request's model
//	      step: 1                  # assistant messages in the request, plus one
//	      last_user: weather       # text in the last user message
//	      last_user_regexp: '^Q'
//	      any: Observation         # text in any message
//	      any_regexp: '(?i)error'
//	    times: 1         # requests it answers; default one for each reply
//	    repeat: true     # instead of times: without end, the last reply again and again
//	    replies:         # given one after the other; `reply:` is short for one
//	      - text: |
//	          <code>
//	          print(1)
//	          </code>
//
// A request that no turn fits is answered by HTTP 400 with a text that says
// what was asked and what was expected, and is recorded all the same.
//
// # Reply
//
// What the model writes:
//
//	text: hello              # streamed in deltas of chunk bytes, never within a character
//	chunk: 4
//	deltas: [he, llo]        # instead of text: exactly these
//	reasoning: hm            # streamed before the text
//	reasoning_field: reasoning_content   # or reasoning
//	finish_reason: stop      # default stop; none leaves it out
//	usage: {prompt_tokens: 11, completion_tokens: 2, cached_tokens: 0}   # after finish_reason; default none
//
// How it is delivered:
//
//	wait: 100ms              # before the headers
//	delay: 5ms               # before each delta
//	status: 429              # other than 200: body (or error) as a plain answer
//	headers: {Retry-After: "2"}
//	error: {message: quota exceeded, code: 429, type: rate_limit}   # an error object, in the stream after the deltas
//	body: <html>login</html> # this instead of a stream
//	content_type: text/html
//	lines: ['data: {"choices":[]}', '']   # these lines instead of a stream, each ended by a line feed
//
// How it misbehaves:
//
//	cut_after: 3             # the connection is broken after so many deltas (or lines)
//	hang: headers            # nothing comes until the client goes away; body: headers come, then nothing
//	endless: true            # the deltas are repeated until the client goes away
//	no_done: true            # the stream ends without [DONE]
//	bytewise: true           # every byte in a write of its own
//
// # Concurrency
//
// Requests are answered in parallel; turns are taken in the order in which the
// requests came.
package scripted
