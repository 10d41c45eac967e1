package agent

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCacheStatus(t *testing.T) {
	for source, want := range map[string]string{
		"":                                    "unsupported",
		"capability_unknown":                  "unsupported",
		"none":                                "unavailable",
		"prompt_tokens_details.cached_tokens": "available",
	} {
		require.Equal(t, want, cacheStatus(source), "%q", source)
	}
}
