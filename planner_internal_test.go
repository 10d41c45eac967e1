package troupe

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/messages"
)

// Keys don't get into the log, neither by a model's key nor by its URL.
func TestRunStartedHoldsNoKeys(t *testing.T) {
	node, err := New(Config{AllowMissingWalls: true, Definitions: messages.Definitions{
		Models: []messages.ModelConfig{{
			CiteName: "main", ModelName: "m", APIKey: "hush-1", URL: "https://user:hush-2@example.com/v1?key=hush-3",
			ExtraHeaders: map[string]messages.Secret{"X-Key": "hush-4"},
		}},
		Agents: []messages.AgentConfig{{Name: "worker", ModelName: "main"}},
	}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, node.Close(context.Background())) })
	plan, err := node.planner.Plan(t.Context(), "r", &messages.RunAgent{Query: "x"})
	require.NoError(t, err)
	defer plan.Release(false)
	require.Equal(t, "https://***@example.com/v1?key=***", plan.Start.Models[0].URL)
	encoded, err := json.Marshal(plan.Start)
	require.NoError(t, err)
	require.NotContains(t, string(encoded), "hush")
}
