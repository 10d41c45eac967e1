package agent_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/agent"
	"github.com/troupe-go/troupe/actors/model"
	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/messages"
)

// Every field of TOKEN_COUNT (nexent-core §3.6), with what it says.
func TestTokenCount(t *testing.T) {
	s := begun(t, func(c *agent.Config) {
		m := &c.Equipment.Models[0].Config
		m.ContextWindowTokens, m.MaxOutputTokens, m.PromptCache = 1000, 100, true
	})
	q := s.question()
	window := 0
	for _, m := range q.req.Messages {
		window += messages.EstimateTokens(m.Text)
	}
	s.world.Advance(1234 * time.Millisecond)
	text := code("work()")
	window += messages.EstimateTokens(text)
	q.reply(model.Reply{Text: text, FinishReason: "stop", Usage: messages.Usage{
		InputTokens: 100, OutputTokens: 20, CachedTokens: 60, CacheSource: "prompt_tokens_details.cached_tokens",
	}})
	s.running().end(python.Outcome{Output: "seen\n"})
	q = s.question()
	require.JSONEq(t, fmt.Sprintf(`{
		"step_number": 1, "duration": 1.23,
		"step_input_tokens": 100, "step_output_tokens": 20, "total_output_tokens": 20,
		"estimated_context_tokens": %[1]d, "token_threshold": 1000, "context_window_tokens": 1000,
		"context_processing_mode": "passthrough", "output_finish_reason": "stop", "effective_input_limit_tokens": 900,
		"compression_calls": 0, "compression_input_tokens": 0, "compression_output_tokens": 0,
		"compression_cache_hits": 0, "compression_cache_types": [], "compression_ratio": 0, "uncompressed_est_tokens": %[1]d,
		"provider_cache_status": "available", "provider_cache_metrics_source": "prompt_tokens_details.cached_tokens",
		"provider_cache_hit": true, "provider_cached_input_tokens": 60, "provider_uncached_input_tokens": 40
	}`, window), s.events(messages.TokenCount)[0].Content)

	window += messages.EstimateTokens("Execution logs:\nseen\n")
	q.reply(model.Reply{Text: "ok", FinishReason: "stop", Usage: messages.Usage{InputTokens: 130, OutputTokens: 5}})
	s.endsWith(messages.StatusAnswered, "ok")
	second := s.events(messages.TokenCount)[1].Content
	for _, field := range []string{
		`"step_number":2`, `"duration":0,`, `"step_input_tokens":130`, `"step_output_tokens":5`, `"total_output_tokens":25`,
		fmt.Sprintf(`"estimated_context_tokens":%d`, window), `"provider_cache_hit":false`, `"provider_uncached_input_tokens":130`,
	} {
		require.Contains(t, second, field)
	}
}

func TestTokenCountCacheStatus(t *testing.T) {
	for name, c := range map[string]struct {
		supported bool
		source    string
		want      string
	}{
		"reported":                {false, "cached_tokens", `"provider_cache_status":"available","provider_cache_metrics_source":"cached_tokens"`},
		"supported, not reported": {true, "none", `"provider_cache_status":"unavailable","provider_cache_metrics_source":"none"`},
		"unknown":                 {false, "", `"provider_cache_status":"unsupported","provider_cache_metrics_source":"capability_unknown"`},
	} {
		t.Run(name, func(t *testing.T) {
			s := begun(t, func(cfg *agent.Config) { cfg.Equipment.Models[0].Config.PromptCache = c.supported })
			s.question().reply(model.Reply{Text: "ok", FinishReason: "stop", Usage: messages.Usage{InputTokens: 1, CacheSource: c.source}})
			s.endsWith(messages.StatusAnswered, "ok")
			require.Contains(t, s.events(messages.TokenCount)[0].Content, c.want)
		})
	}
}
