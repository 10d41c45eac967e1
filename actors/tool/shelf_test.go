package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/tool"
	"github.com/troupe-go/troupe/messages"
)

// stub is a tool that a test writes in place.
type stub struct {
	spec   tool.Spec
	call   func(ctx context.Context, c *tool.Call) (any, error)
	closed chan struct{} // closed by Close; nil: nobody looks
}

func (s *stub) Spec() *tool.Spec { return &s.spec }

func (s *stub) Call(ctx context.Context, c *tool.Call) (any, error) { return s.call(ctx, c) }

func (s *stub) Close() error {
	if s.closed != nil {
		close(s.closed)
	}
	return nil
}

func stubSpec(effects tool.Effects) tool.Spec {
	return tool.Spec{
		Name: "stub", Description: "A stub.", DescriptionZH: "桩。", OutputType: tool.TypeAny, Effects: effects,
		Inputs: []tool.Input{{Name: "n", Type: tool.TypeInteger, Default: 0, Max: ptr(100)}},
	}
}

// shelf has one class of each source; params gets what the factory got.
func shelf(effects tool.Effects, params *string) *tool.Shelf {
	s := tool.NewShelf()
	make := func(raw json.RawMessage, deps tool.Deps) (tool.Tool, error) {
		*params = string(raw) + " " + deps.Workspace
		return &stub{spec: stubSpec(effects)}, nil
	}
	s.Add("StubTool", make,
		tool.Input{Name: "api_key", Type: tool.TypeString, Required: true, Description: "Key"},
		tool.Input{Name: "top_k", Type: tool.TypeInteger, Default: 5, Min: ptr(1), Max: ptr(100)},
		tool.Input{Name: "mode", Type: tool.TypeString, Default: "a", Enum: []any{"a", "b"}},
		tool.Input{Name: "tags", Type: tool.TypeArray, Nullable: true, Schema: json.RawMessage(`{"items":{"type":"string"}}`)},
	)
	s.Add("BrokenTool", func(json.RawMessage, tool.Deps) (tool.Tool, error) { return nil, errors.New("no luck") })
	s.AddBuiltin("PlanTool", make)
	return s
}

func TestShelfMakes(t *testing.T) {
	var params string
	s := shelf(tool.EffectsNone, &params)
	made, err := s.Make(messages.ToolConfig{
		Name: "find", ClassName: "StubTool", Description: "Another.", Params: json.RawMessage(`{"api_key":"k","top_k":null,"mode":"b"}`),
		CacheTTL: time.Second,
	}, tool.Deps{Workspace: "/w"})
	require.NoError(t, err)
	require.JSONEq(t, `{"api_key":"k","top_k":5,"mode":"b","tags":null}`, params[:len(params)-3])
	require.Equal(t, "/w", params[len(params)-2:])
	require.Equal(t, "find", made.Spec().Name)
	require.Equal(t, "Another.", made.Spec().Text(messages.ZH))
	require.Len(t, made.Spec().Constructor, 4)

	made, err = s.Make(messages.ToolConfig{ClassName: "PlanTool", Source: "builtin"}, tool.Deps{})
	require.NoError(t, err)
	require.Equal(t, "stub", made.Spec().Name)
	require.Equal(t, "桩。", made.Spec().Text(messages.ZH))
	require.Equal(t, []string{"BrokenTool", "StubTool"}, s.Classes())
}

func TestShelfRefuses(t *testing.T) {
	const key = "sk-secret"
	for name, tc := range map[string]struct {
		cfg  messages.ToolConfig
		want string
	}{
		"class":         {messages.ToolConfig{ClassName: "NoTool"}, "Error in creating tool: NoTool not found in local"},
		"builtin":       {messages.ToolConfig{ClassName: "StubTool", Source: "builtin"}, "Error in creating tool: Unknown builtin tool: StubTool"},
		"source":        {messages.ToolConfig{ClassName: "StubTool", Source: "langchain"}, "Error in creating tool: unsupported tool source: langchain"},
		"missing":       {messages.ToolConfig{ClassName: "StubTool"}, "needs parameter api_key (string): Key"},
		"unknown":       {messages.ToolConfig{ClassName: "StubTool", Params: json.RawMessage(`{"api_key":"sk-secret","topk":1}`)}, "unknown parameters topk; it takes api_key, top_k, mode, tags"},
		"type":          {messages.ToolConfig{ClassName: "StubTool", Params: json.RawMessage(`{"api_key":"sk-secret","top_k":"sk-secret"}`)}, "parameter top_k must be a integer, not str"},
		"range":         {messages.ToolConfig{ClassName: "StubTool", Params: json.RawMessage(`{"api_key":"sk-secret","top_k":101}`)}, "parameter top_k is out of its range (at least 1; at most 100)"},
		"enum":          {messages.ToolConfig{ClassName: "StubTool", Params: json.RawMessage(`{"api_key":"sk-secret","mode":"c"}`)}, `parameter mode must be one of "a", "b"`},
		"schema":        {messages.ToolConfig{ClassName: "StubTool", Params: json.RawMessage(`{"api_key":"sk-secret","tags":[1]}`)}, "parameter tags does not fit its schema"},
		"not JSON":      {messages.ToolConfig{ClassName: "StubTool", Params: json.RawMessage(`{"api_key":`)}, "params is not JSON"},
		"two values":    {messages.ToolConfig{ClassName: "StubTool", Params: json.RawMessage(`{} {}`)}, "params is not JSON"},
		"not an object": {messages.ToolConfig{ClassName: "StubTool", Params: json.RawMessage(`[]`)}, "params is a list; it must be an object"},
		"factory":       {messages.ToolConfig{ClassName: "BrokenTool"}, "Error in creating tool: no luck"},
		"name":          {messages.ToolConfig{ClassName: "PlanTool", Source: "builtin", Name: "print"}, "would hide"},
		"cache":         {messages.ToolConfig{ClassName: "PlanTool", Source: "builtin", CacheTTL: time.Second}, "cache_ttl is only for tools without effects and state"},
		"negative":      {messages.ToolConfig{ClassName: "PlanTool", Source: "builtin", Concurrency: -1}, "must not be negative"},
	} {
		t.Run(name, func(t *testing.T) {
			var params string
			_, err := shelf(tool.EffectsExternal, &params).Make(tc.cfg, tool.Deps{})
			require.ErrorContains(t, err, tc.want)
			var ce *tool.CreateError
			require.ErrorAs(t, err, &ce)
			require.Equal(t, tc.cfg.ClassName, ce.Class)
			require.NotContains(t, err.Error()+ce.In(messages.ZH), key)
		})
	}
}

func TestShelfNests(t *testing.T) {
	var params string
	s := shelf(tool.EffectsNone, &params)
	s.Add("OuterTool", func(_ json.RawMessage, d tool.Deps) (tool.Tool, error) {
		return s.Make(messages.ToolConfig{ClassName: "InnerTool"}, d)
	})
	_, err := s.Make(messages.ToolConfig{ClassName: "OuterTool"}, tool.Deps{})
	require.EqualError(t, err, "Error in creating tool: InnerTool not found in local; there are: "+strings.Join(s.Classes(), ", "), "wrapped once")
	var ce *tool.CreateError
	require.ErrorAs(t, err, &ce)
	require.Equal(t, "创建工具出错：本地没有工具类 InnerTool；现有："+strings.Join(s.Classes(), ", "), ce.In(messages.ZH))
	require.Panics(t, func() { s.AddBuiltin("PlanTool", nil) })
	require.Panics(t, func() {
		s.Add("OtherTool", func(json.RawMessage, tool.Deps) (tool.Tool, error) { return nil, nil }, tool.Input{Name: "a b"})
	})
}
