// Package model is an invocation's model actor: each streamed call one
// goroutine and one cancel it owns; retry, the model chain, limits.
package model

import (
	"context"

	"github.com/troupe-go/troupe/messages"
)

// Client streams one answer of one model. It makes exactly one request: trying
// again is the actor's part. It must return soon after ctx is cancelled, and
// must close the provider's connection then.
//
// Errors are *messages.Fault with a class: Transient ones are tried again
// (see RetryAfter), Permanent ones move on to the next model.
type Client interface {
	Stream(ctx context.Context, req *Request, on func(Delta)) (*Reply, error)
}

// Request is one call. Messages are shared and must not be changed.
type Request struct {
	Messages   []messages.ChatMessage
	MaxTokens  int  // 0: the configuration's
	NoSampling bool // leave temperature and top_p out
}

// Delta is a piece of streamed text; never empty.
type Delta struct {
	Content   string
	Reasoning string
}

// Reply is what a whole stream came to.
type Reply struct {
	Text         string
	Reasoning    string
	FinishReason string // as the provider wrote it; "" when the stream ended without one but with [DONE]
	Usage        messages.Usage
	ToolCalls    []messages.ToolCallDelta
}

// Model is a definition with what serves it on this node.
type Model struct {
	Config  messages.ModelConfig
	Client  Client
	Limiter *Limiter // shared by models with the same concurrency key; nil: no limit
}
