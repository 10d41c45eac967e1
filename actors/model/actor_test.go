package model_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/model"
	"github.com/troupe-go/troupe/messages"
)

var (
	limited  = model.ErrRateLimit.Withf("one", "HTTP 429: slow down")
	rejected = model.ErrInvalidRequest.Withf("one", "HTTP 400: no")
	tooLong  = model.ErrContextOverflow.Withf("one", "HTTP 400: too long")
	broken   = model.ErrConnection.Withf("one", "cut")
)

func TestAnswer(t *testing.T) {
	b := setup(t, options{}, named("one", client(func(_ context.Context, _ *model.Request, on func(model.Delta)) (*model.Reply, error) {
		on(model.Delta{Reasoning: "hm"})
		on(model.Delta{Content: "yes"})
		return &model.Reply{Text: "yes", Reasoning: "hm", FinishReason: "tool_calls", ToolCalls: []messages.ToolCallDelta{{Name: "f"}}}, nil
	})))
	b.send(&messages.Think{ID: 9, Step: 3, Attempt: 2, MaxTokens: 5})

	begin := next[*messages.AttemptBegin](b, b.observed)
	require.NotEmpty(t, begin.AttemptID)
	require.Equal(t, 2, begin.Attempt)
	require.Equal(t, 3, begin.Step)
	require.Equal(t, &messages.AttemptDelta{AttemptID: begin.AttemptID, Reasoning: "hm"}, next[*messages.AttemptDelta](b, b.observed))
	require.Equal(t, &messages.AttemptDelta{AttemptID: begin.AttemptID, Content: "yes"}, next[*messages.AttemptDelta](b, b.observed))
	require.Equal(t, &messages.AttemptEnd{AttemptID: begin.AttemptID}, next[*messages.AttemptEnd](b, b.observed))
	require.Equal(t, &messages.Thought{
		ID: 9, Text: "yes", Reasoning: "hm", FinishReason: "tool_calls", Model: "one",
		AttemptID: begin.AttemptID, Attempt: 2, Attempts: 1, ToolCalls: []messages.ToolCallDelta{{Name: "f"}},
	}, next[*messages.Thought](b, b.answers))
}

func TestRetry(t *testing.T) {
	t.Run("a failed attempt is withdrawn and tried again", func(t *testing.T) {
		c := client(fails(broken), says("ok"))
		b := setup(t, options{lang: messages.EN}, named("one", c))
		b.think()
		b.rolledBack(1)
		ev := b.warned("model_connection_error")
		require.Contains(t, ev.Content, "attempt 2 of 3")
		require.GreaterOrEqual(t, b.waits(), 500*time.Millisecond)
		thought := next[*messages.Thought](b, b.answers)
		require.Equal(t, 2, thought.Attempt)
		require.Equal(t, 2, thought.Attempts)
	})

	t.Run("WIRE-12", func(t *testing.T) {
		c := client(fails(model.WithRetryAfter(limited, 2*time.Second)), says("ok"))
		b := setup(t, options{}, named("one", c))
		b.think()
		<-c.asked
		b.rolledBack(1)
		b.warned("model_rate_limit")
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		require.NoError(t, b.world.BlockUntil(ctx, 1))
		b.world.Advance(2*time.Second - time.Millisecond)
		require.Empty(t, c.asked, "the provider asked to wait 2 s")
		b.world.Advance(time.Millisecond)
		require.Equal(t, "ok", next[*messages.Thought](b, b.answers).Text)
	})

	t.Run("exhausted", func(t *testing.T) {
		b := setup(t, options{}, named("one", client(fails(limited), fails(limited), fails(limited))))
		b.think()
		for n := 1; n <= 3; n++ {
			b.rolledBack(n)
			if n < 3 {
				b.warned("model_rate_limit")
				b.waits()
			}
		}
		failed := next[*messages.ThinkFailed](b, b.answers)
		require.Equal(t, "model_rate_limit_exhausted", failed.Fault.Code)
		require.False(t, failed.Fault.Retryable)
		require.Equal(t, 3, failed.Attempts)
		require.Contains(t, failed.Fault.EN, "slow down")
		require.Contains(t, failed.Fault.EN, "3 attempts")
		require.Contains(t, failed.Fault.ZH, "3 次")
		require.Empty(t, b.observed, "the last failure leads to no other try: no warning")
	})

	t.Run("an empty answer is tried again", func(t *testing.T) {
		empty := func(finish string) reply {
			return func(context.Context, *model.Request, func(model.Delta)) (*model.Reply, error) {
				return &model.Reply{Text: " \n", FinishReason: finish}, nil
			}
		}
		b := setup(t, options{}, named("one", client(empty("stop"), empty(""), empty("stop"))))
		b.think()
		for n := 1; n <= 3; n++ {
			b.rolledBack(n)
			if n < 3 {
				b.warned("model_empty_response")
				b.waits()
			}
		}
		require.Equal(t, "model_empty_response_exhausted", next[*messages.ThinkFailed](b, b.answers).Fault.Code)
	})

	t.Run("sampling parameters are left out once refused", func(t *testing.T) {
		c := client(fails(model.ErrSampling.Withf("one", "no")), says("a"), says("b"))
		b := setup(t, options{}, named("one", c))
		b.think()
		b.rolledBack(1)
		b.warned("model_sampling_rejected")
		require.Equal(t, "a", next[*messages.Thought](b, b.answers).Text, "at once: the world's time stands still")
		b.send(&messages.Think{ID: 2, Attempt: 1})
		require.Equal(t, "b", next[*messages.Thought](b, b.answers).Text)
		require.False(t, (<-c.asked).NoSampling)
		require.True(t, (<-c.asked).NoSampling)
		require.True(t, (<-c.asked).NoSampling, "the next call knows")
	})
}

// What has nothing to say but a reason is an answer: the agent deals with it.
func TestNotEmpty(t *testing.T) {
	for name, r := range map[string]model.Reply{
		"filtered":  {FinishReason: "content_filter"}, // WIRE-14: one model call
		"cut":       {FinishReason: "length"},
		"reasoning": {FinishReason: "stop", Reasoning: "hm"},
		"tool call": {FinishReason: "stop", ToolCalls: []messages.ToolCallDelta{{Name: "f"}}},
	} {
		t.Run(name, func(t *testing.T) {
			b := setup(t, options{}, named("one", client(func(context.Context, *model.Request, func(model.Delta)) (*model.Reply, error) { return &r, nil })))
			b.think()
			require.Equal(t, r.FinishReason, next[*messages.Thought](b, b.answers).FinishReason)
		})
	}
}

func TestChain(t *testing.T) {
	t.Run("a permanent failure goes on at once", func(t *testing.T) {
		b := setup(t, options{lang: messages.ZH}, named("one", client(fails(rejected))), named("two", client(says("ok"))))
		b.think()
		b.rolledBack(1)
		require.Contains(t, b.warned("model_invalid_request").Content, `改用模型 "two"`)
		thought := next[*messages.Thought](b, b.answers)
		require.Equal(t, "two", thought.Model)
		require.Equal(t, 2, thought.Attempt)
	})

	t.Run("too long a Retry-After goes on at once", func(t *testing.T) {
		b := setup(t, options{lang: messages.EN}, named("one", client(fails(model.WithRetryAfter(limited, time.Hour)))), named("two", client(says("ok"))))
		b.think()
		b.rolledBack(1)
		require.Contains(t, b.warned("model_rate_limit").Content, "1h0m0s")
		require.Equal(t, "two", next[*messages.Thought](b, b.answers).Model)
	})

	t.Run("a panic of a client goes on", func(t *testing.T) {
		b := setup(t, options{}, named("one", client(func(context.Context, *model.Request, func(model.Delta)) (*model.Reply, error) { panic("oops") })), named("two", client(says("ok"))))
		b.think()
		b.rolledBack(1)
		b.warned("model_client_panicked")
		require.Equal(t, "two", next[*messages.Thought](b, b.answers).Model)
	})

	t.Run("an error without a class ends it", func(t *testing.T) {
		cause := errors.New("who knows")
		b := setup(t, options{}, named("one", client(fails(cause))))
		b.think()
		failed := next[*messages.ThinkFailed](b, b.answers)
		require.Equal(t, "model_unknown_error", failed.Fault.Code)
		require.ErrorIs(t, failed.Fault, cause)
	})

	t.Run("too long a request is what the agent hears of", func(t *testing.T) {
		b := setup(t, options{}, named("one", client(fails(tooLong))), named("two", client(fails(rejected))))
		b.think()
		failed := next[*messages.ThinkFailed](b, b.answers)
		require.Equal(t, "model_context_overflow", failed.Fault.Code)
		require.Equal(t, 2, failed.Attempts)
	})

	t.Run("no model", func(t *testing.T) {
		b := setup(t, options{})
		b.think()
		require.Equal(t, "model_not_found", next[*messages.ThinkFailed](b, b.answers).Fault.Code)
	})
}

func TestCancel(t *testing.T) {
	t.Run("in mid-stream", func(t *testing.T) {
		saying := make(chan struct{})
		b := setup(t, options{}, named("one", client(hangs(saying))))
		b.think()
		<-saying
		b.send(&messages.CancelThink{ID: 1})
		require.Equal(t, &messages.ThinkCancelled{ID: 1, Model: "one"}, next[*messages.ThinkCancelled](b, b.answers))
		begin := next[*messages.AttemptBegin](b, b.observed)
		next[*messages.AttemptDelta](b, b.observed)
		require.Equal(t, begin.AttemptID, next[*messages.AttemptRollback](b, b.observed).AttemptID)
		b.settled()
	})

	t.Run("a wait is cut short", func(t *testing.T) {
		b := setup(t, options{}, named("one", client(fails(broken))))
		b.think()
		b.rolledBack(1)
		b.warned("model_connection_error")
		b.send(&messages.CancelThink{ID: 1})
		next[*messages.ThinkCancelled](b, b.answers)
		b.settled()
		require.Empty(t, b.world.Pending())
	})

	t.Run("of nothing is acknowledged", func(t *testing.T) {
		b := setup(t, options{}, named("one", client()))
		b.send(&messages.CancelThink{ID: 7})
		require.Equal(t, &messages.ThinkCancelled{ID: 7}, next[*messages.ThinkCancelled](b, b.answers))
	})

	t.Run("stopping the actor withdraws the attempt", func(t *testing.T) {
		saying := make(chan struct{})
		b := setup(t, options{}, named("one", client(hangs(saying))))
		b.think()
		<-saying
		b.stop(b.pid)
		begin := next[*messages.AttemptBegin](b, b.observed)
		next[*messages.AttemptDelta](b, b.observed)
		require.Equal(t, begin.AttemptID, next[*messages.AttemptRollback](b, b.observed).AttemptID)
		b.settled()
	})
}

// settled waits for the call's goroutine and sees that it said no more.
func (b *bundle) settled() {
	b.t.Helper()
	b.stop(b.agent)
	b.sys.Close() // waits for pooled goroutines
	require.Empty(b.t, b.observed)
	require.Empty(b.t, b.answers)
}
