package agent

import (
	"strconv"

	"github.com/troupe-go/troupe/messages"
)

// json gives the payload as encoding/json would for the numbers that occur
// here, in a third of the time: every step has one.
func (p *tokenCount) json() string {
	b := append(make([]byte, 0, 1024), '{')
	b = appendCount(b, "step_number", p.StepNumber)
	b = appendNumber(b, "duration", p.Duration)
	b = appendCount(b, "step_input_tokens", p.StepInputTokens)
	b = appendCount(b, "step_output_tokens", p.StepOutputTokens)
	b = appendCount(b, "total_output_tokens", p.TotalOutputTokens)
	b = appendCount(b, "estimated_context_tokens", p.EstimatedContext)
	b = appendCount(b, "token_threshold", p.TokenThreshold)
	b = appendCount(b, "context_window_tokens", p.ContextWindow)
	b = appendText(b, "context_processing_mode", p.ProcessingMode)
	b = appendText(b, "output_finish_reason", p.FinishReason)
	b = appendCount(b, "effective_input_limit_tokens", p.EffectiveLimit)
	b = appendCount(b, "compression_calls", p.CompressionCalls)
	b = appendCount(b, "compression_input_tokens", p.CompressionInput)
	b = appendCount(b, "compression_output_tokens", p.CompressionOutput)
	b = appendCount(b, "compression_cache_hits", p.CompressionCacheHits)
	b = append(appendKey(b, "compression_cache_types"), '[')
	for i, t := range p.CompressionTypes {
		if i > 0 {
			b = append(b, ',')
		}
		b = messages.AppendJSONString(b, t)
	}
	b = append(b, ']')
	b = appendNumber(b, "compression_ratio", p.CompressionRatio)
	b = appendCount(b, "uncompressed_est_tokens", p.UncompressedEstimate)
	b = appendText(b, "provider_cache_status", p.CacheStatus)
	b = appendText(b, "provider_cache_metrics_source", p.CacheSource)
	b = strconv.AppendBool(appendKey(b, "provider_cache_hit"), p.CacheHit)
	b = appendCount(b, "provider_cached_input_tokens", p.CachedInput)
	b = appendCount(b, "provider_uncached_input_tokens", p.UncachedInput)
	return string(append(b, '}'))
}

func appendKey(b []byte, key string) []byte {
	if b[len(b)-1] != '{' {
		b = append(b, ',')
	}
	b = append(b, '"')
	b = append(b, key...)
	return append(b, '"', ':')
}

func appendCount(b []byte, key string, n int) []byte {
	return strconv.AppendInt(appendKey(b, key), int64(n), 10)
}

func appendNumber(b []byte, key string, f float64) []byte {
	return strconv.AppendFloat(appendKey(b, key), f, 'f', -1, 64)
}

func appendText(b []byte, key, text string) []byte {
	return messages.AppendJSONString(appendKey(b, key), text)
}
