package agent

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTokenCountJSON(t *testing.T) {
	full := tokenCount{
		StepNumber: 1, Duration: 12.34, StepInputTokens: 2, StepOutputTokens: 3, TotalOutputTokens: 4, EstimatedContext: 5,
		TokenThreshold: 6, ContextWindow: 7, ProcessingMode: "passthrough", FinishReason: "stop \"\u00e9\"", EffectiveLimit: 8,
		CompressionCalls: 9, CompressionInput: 10, CompressionOutput: 11, CompressionCacheHits: 12,
		CompressionTypes: []string{"a", "b"}, CompressionRatio: 0.5, UncompressedEstimate: 13,
		CacheStatus: "available", CacheSource: "usage", CacheHit: true, CachedInput: 14, UncachedInput: -15,
	}
	for name, p := range map[string]tokenCount{
		"full":  full,
		"empty": {CompressionTypes: []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			want, err := json.Marshal(p)
			require.NoError(t, err)
			require.Equal(t, string(want), p.json())
		})
	}
}
