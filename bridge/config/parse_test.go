package config_test

import (
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/bridge/config"
	"github.com/troupe-go/troupe/messages"
)

func load(t *testing.T, path string) *config.File {
	t.Helper()
	f, err := config.Load(path, env)
	require.NoError(t, err)
	return f
}

func TestEveryKeyReachesItsField(t *testing.T) {
	f := load(t, "testdata/full.yaml")
	for _, part := range []any{f.Models[0], f.Tools[0], f.Agents[0], f.Sandbox, f.Limits} {
		v := reflect.ValueOf(part)
		for i := range v.NumField() {
			require.False(t, v.Field(i).IsZero(), "%s.%s is not set by testdata/full.yaml", v.Type(), v.Type().Field(i).Name)
		}
	}
	m := f.Models[0]
	require.Equal(t, "main", m.CiteName)
	require.Equal(t, messages.KindLongContext, m.Kind)
	require.Equal(t, "sk-1", m.APIKey.Reveal())
	require.Equal(t, "https://api.example.com/v1", m.URL)
	require.Zero(t, *m.Temperature)
	require.InDelta(t, 0.5, *m.TopP, 1e-9)
	require.False(t, *m.SSLVerify)
	require.JSONEq(t, `{"seed":7,"stop":["a","b"],"deep":{"x":null,"y":true,"z":1.5}}`, string(m.ExtraBody))
	require.Equal(t, map[string]messages.Secret{"X-Team": "research"}, m.ExtraHeaders)
	require.Equal(t, 90*time.Second, m.TokenTimeout)
	a := f.Agents[0]
	require.Equal(t, []string{"read_file"}, a.Tools)
	require.Equal(t, []string{"helper"}, a.ManagedAgents)
	require.Equal(t, map[string]string{"system": "You are ${x} 7\n"}, a.PromptTemplates)
	require.False(t, *a.EnableProtocolRepairRetry)
	require.Equal(t, 64<<10, a.AttachmentInlineBytes)
	require.JSONEq(t, `{"root":"7"}`, string(f.Tools[0].Params))
	require.Equal(t, messages.SandboxWasm, f.Sandbox.Level)
	require.Equal(t, 2<<20, f.Sandbox.OutputLimit)
	require.Zero(t, *f.Sandbox.WarmInterpreters)
	require.Equal(t, 20*time.Second, f.Sandbox.RebuildLimit)
	require.Equal(t, 7, f.Limits.MaxRuns)
	require.Equal(t, 12, f.Limits.MaxExecutors)
	require.Equal(t, 36*time.Hour, f.Limits.RunDeadline)
	require.Equal(t, "/var/lib/troupe", f.DataDir)
	require.Equal(t, "zh", f.Lang)
}

// Each field of a definition that has a YAML name is a key of the table, and
// each key of the table is such a field.
func TestTheTableKnowsEveryField(t *testing.T) {
	sections := map[string]any{
		"models": messages.ModelConfig{}, "agents": messages.AgentConfig{}, "tools": messages.ToolConfig{},
		"sandbox": messages.SandboxConfig{}, "limits": messages.Limits{},
	}
	for _, k := range config.Keys() {
		requireDocumented(t, k)
		def, ok := sections[k.Name]
		if !ok {
			continue
		}
		var fields, keys []string
		for i := range reflect.TypeOf(def).NumField() {
			name, _, _ := strings.Cut(reflect.TypeOf(def).Field(i).Tag.Get("yaml"), ",")
			fields = append(fields, name)
		}
		for _, sub := range k.Keys {
			requireDocumented(t, sub)
			keys = append(keys, sub.Name)
		}
		require.ElementsMatch(t, fields, keys, k.Name)
	}
}

func requireDocumented(t *testing.T, k config.Key) {
	t.Helper()
	require.NotEmpty(t, k.Doc.EN, k.Name)
	require.NotEmpty(t, k.Doc.ZH, k.Name)
}

// The example that ships with the module parses with no variable set, gives
// the agent its tools, and shows every key there is.
func TestTheExampleIsComplete(t *testing.T) {
	const path = "../../cluster.yaml"
	f, err := config.Load(path, nil)
	require.NoError(t, err)
	require.Equal(t, "gpt-4o-mini", f.Models[0].ModelName)
	require.Equal(t, "https://api.openai.com/v1", f.Models[0].URL)
	require.Empty(t, f.Models[0].APIKey)
	require.Equal(t, []string{"read_file", "create_file", "list_directory"}, f.Agents[0].Tools)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, section := range config.Keys() {
		require.Contains(t, string(data), section.Name+":")
		for _, k := range section.Keys {
			require.Regexp(t, `(?m)^ *(- |# )?`+k.Name+`:`, string(data), section.Name)
		}
	}
}

// The defaults that the example shows are those of the table.
func TestTheExampleShowsTheDefaults(t *testing.T) {
	data, err := os.ReadFile("../../cluster.yaml")
	require.NoError(t, err)
	for _, section := range config.Keys() {
		for _, k := range section.Keys {
			if k.Default == "" || strings.HasPrefix(k.Default, "<") {
				continue
			}
			require.Regexp(t, `(?m)^ *(- |# )?`+k.Name+`: `+k.Default+`(\s|$)`, string(data), section.Name)
		}
	}
}

func TestSecretsDoNotPrint(t *testing.T) {
	f := load(t, "testdata/full.yaml")
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		require.NotContains(t, sprintf(verb, f.Models[0].APIKey, f.Models[0].ExtraHeaders), "sk-1")
	}
}
