package troupe_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe"
	"github.com/troupe-go/troupe/actors/tool"
	"github.com/troupe-go/troupe/messages"
)

type noArgs struct{}

func greet(t *testing.T) tool.Tool {
	t.Helper()
	made, err := tool.Func("greet", "Greets.", func(context.Context, noArgs) (string, error) { return "hello", nil }, tool.WithEffects(tool.EffectsNone))
	require.NoError(t, err)
	return made
}

// What is wrong with a configuration is told at once, with a stable code, and
// nothing of the node is left.
func TestNewRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for name, c := range map[string]struct {
		code   string
		change func(*troupe.Config)
	}{
		"no agent":         {"no_agent", func(c *troupe.Config) { c.Agents = nil }},
		"unknown model":    {"unknown_model", func(c *troupe.Config) { c.Agents[0].ModelName = "other" }},
		"unknown fallback": {"unknown_model", func(c *troupe.Config) { c.Agents[0].FallbackModels = []string{"other"} }},
		"unknown tool":     {"unknown_tool", func(c *troupe.Config) { c.Agents[0].Tools = []string{"fly"} }},
		"two models":       {"duplicate_name", func(c *troupe.Config) { c.Models = append(c.Models, c.Models[0]) }},
		"two tools":        {"duplicate_name", func(c *troupe.Config) { c.GoTools = []tool.Tool{greet(t), greet(t)} }},
		"two agents":       {"duplicate_name", func(c *troupe.Config) { c.Agents = append(c.Agents, c.Agents[0]) }},
		"one name, two ways": {"duplicate_name", func(c *troupe.Config) {
			c.Tools = []messages.ToolConfig{{Name: "greet", ClassName: "ReadFileTool"}}
			c.GoTools = []tool.Tool{greet(t)}
		}},
		"two limits of one key": {"model_invalid_limit", func(c *troupe.Config) {
			other := c.Models[0]
			c.Models[0].ConcurrencyLimit, other.ConcurrencyLimit, other.CiteName = 1, 2, "other"
			c.Models = append(c.Models, other)
		}},
		"sub-agents":    {"managed_agents", func(c *troupe.Config) { c.Agents[0].ManagedAgents = []string{"worker"} }},
		"sandbox level": {"sandbox_level", func(c *troupe.Config) { c.Driver, c.Sandbox.Level = nil, messages.SandboxDocker }},
		"level wasm": {"python_not_installed", func(c *troupe.Config) {
			c.Driver, c.Sandbox.Level, c.CacheDir = nil, messages.SandboxWasm, filepath.Join(file, "x")
		}},
		"prompt template": {"prompt_template", func(c *troupe.Config) { c.Agents[0].PromptTemplates = map[string]string{"system": "{{"} }},
		"data folder":     {"data_dir", func(c *troupe.Config) { c.DataDir = filepath.Join(file, "x") }},
		"second agent": {"unknown_model", func(c *troupe.Config) {
			c.Agents = append(c.Agents, messages.AgentConfig{Name: "b", ModelName: "other"})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			tmp := t.TempDir()
			t.Setenv("TMPDIR", tmp)
			cfg := config("http://127.0.0.1:1/v1")
			c.change(&cfg)
			node, err := troupe.New(cfg)
			require.Nil(t, node)
			require.Equal(t, c.code, code(t, err))
			left, err := os.ReadDir(tmp)
			require.NoError(t, err)
			require.Empty(t, left)
		})
	}
}

// Without leave to go on, a node either has all its walls or says which one is
// missing.
func TestNewWantsWalls(t *testing.T) {
	cfg := config("http://127.0.0.1:1/v1")
	cfg.Driver = nil
	node, err := troupe.New(cfg)
	if err != nil {
		require.Equal(t, "sandbox_wall_missing", code(t, err))
		return
	}
	require.NotEmpty(t, node.Sandbox().Walls)
	require.NoError(t, node.Close(context.Background()))
}

func TestNewGoesOnWithoutWalls(t *testing.T) {
	for name, change := range map[string]func(*troupe.Config){
		"the program's leave":       func(c *troupe.Config) { c.AllowMissingWalls = true },
		"the configuration's leave": func(c *troupe.Config) { c.Sandbox.Unsafe = true },
	} {
		t.Run(name, func(t *testing.T) {
			cfg := config("http://127.0.0.1:1/v1")
			cfg.Driver = nil
			change(&cfg)
			node, err := troupe.New(cfg)
			require.NoError(t, err)
			require.Equal(t, messages.SandboxLocal, node.Sandbox().Level)
			require.NoError(t, node.Close(context.Background()))
		})
	}
}
