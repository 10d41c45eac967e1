package tool_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/tool"
	"github.com/troupe-go/troupe/messages"
)

func TestSpecValidate(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*tool.Spec)
		want   string
	}{
		"no name":              {func(s *tool.Spec) { s.Name = "" }, "not a Python identifier"},
		"name with a dash":     {func(s *tool.Spec) { s.Name = "read-file" }, "not a Python identifier"},
		"name with a digit":    {func(s *tool.Spec) { s.Name = "1st" }, "not a Python identifier"},
		"keyword":              {func(s *tool.Spec) { s.Name = "lambda" }, "Python keyword"},
		"builtin":              {func(s *tool.Spec) { s.Name = "print" }, "would hide"},
		"final_answer":         {func(s *tool.Spec) { s.Name = "final_answer" }, "would hide"},
		"no description":       {func(s *tool.Spec) { s.Description = "" }, "has no description"},
		"output type":          {func(s *tool.Spec) { s.OutputType = "text" }, `unknown output type "text"`},
		"category":             {func(s *tool.Spec) { s.Category = "fun" }, `unknown category "fun"`},
		"sign":                 {func(s *tool.Spec) { s.Sign = "y" }, `unknown sign "y"`},
		"effects":              {func(s *tool.Spec) { s.Effects = "some" }, `unknown effects "some"`},
		"state":                {func(s *tool.Spec) { s.State = "cloud" }, `unknown state "cloud"`},
		"input type":           {func(s *tool.Spec) { s.Inputs[0].Type = "text" }, `unknown type "text"`},
		"input keyword":        {func(s *tool.Spec) { s.Inputs[0].Name = "from" }, "no Python identifier"},
		"input twice":          {func(s *tool.Spec) { s.Inputs[1].Name = "query" }, "there twice"},
		"required at the end":  {func(s *tool.Spec) { s.Inputs[7].Required, s.Inputs[7].Nullable = true, false }, "put it first"},
		"required and default": {func(s *tool.Spec) { s.Inputs[0].Default = "x" }, "is required, yet"},
		"default of no type":   {func(s *tool.Spec) { s.Inputs[1].Default = "5" }, "has default 5"},
		"default out of range": {func(s *tool.Spec) { s.Inputs[1].Default = 0 }, "out of its range"},
		"default not in enum":  {func(s *tool.Spec) { s.Inputs[3].Default = "fuzzy" }, "none of its values"},
		"enum of no type":      {func(s *tool.Spec) { s.Inputs[3].Enum = []any{1} }, "lists 1"},
		"empty range":          {func(s *tool.Spec) { s.Inputs[2].Min = ptr(2) }, "holds nothing"},
		"no integer in range":  {func(s *tool.Spec) { s.Inputs[1].Min, s.Inputs[1].Max = ptr(5.1), ptr(5.9) }, "holds nothing"},
		"range of a text":      {func(s *tool.Spec) { s.Inputs[3].Min = ptr(2) }, "is no number"},
		"broken schema":        {func(s *tool.Spec) { s.Inputs[4].Schema = json.RawMessage(`{"type":`) }, "can't be used"},
		"constructor":          {func(s *tool.Spec) { s.Constructor = []tool.Input{{Name: "a b", Type: "string"}} }, "no Python identifier"},
	} {
		t.Run(name, func(t *testing.T) {
			s := searchSpec(t)
			tc.change(s)
			err := s.Validate()
			require.ErrorContains(t, err, tc.want)
			require.Equal(t, tool.CodeSpec, messages.AsFault(err).Code)
			require.NotEmpty(t, messages.AsFault(err).ZH)
		})
	}
}

func TestSignature(t *testing.T) {
	s := searchSpec(t)
	s.Description = "Finds \"\"\"things\"\"\".\nTwo lines, a \\ backslash."
	require.Equal(t, `def find(query: str, top_k: int = 5, weight: float = 0.5, mode: str = "hybrid", names: list[str] | None = None, filter: dict | None = None, deep: bool = False, extra: Any = None) -> list:
    """Finds '''things'''.
    Two lines, a \\ backslash.

    Args:
        query: What to find
        top_k: How many (at least 1; at most 100)
        weight: (at least 0; at most 1)
        mode: (one of "hybrid", "exact")
        names: (JSON schema: {"type":"array","items":{"type":"string"}})
        filter:
        deep:
        extra:

    Returns:
        list
    """`, s.Signature(messages.EN))
	zh := s.Signature(messages.ZH)
	require.Contains(t, zh, `"""查找。`)
	require.Contains(t, zh, "query: 查找内容")
	require.Contains(t, zh, "top_k: How many（最小 1；最大 100）")
}

func TestSigns(t *testing.T) {
	for name, want := range map[string]tool.Sign{
		"knowledge_base_search": "a", "exa_search": "b", "linkup_search": "c", "tavily_search": "d",
		"datamate_search": "e", "file_operation": "f", "dify_search": "g", "idata_search": "h",
		"haotian_search": "i", "aidp_search": "j", "ragflow_search": "k", "ind_aidp_search": "l",
		"multimodal_operation": "m", "memory_operation": "n", "terminal_operation": "t", "database_operation": "z",
	} {
		sign, ok := tool.SignNamed(name)
		require.True(t, ok, name)
		require.Equal(t, want, sign)
		require.Equal(t, name, sign.Name())
	}
	_, ok := tool.SignNamed("plan_operation")
	require.False(t, ok)
	require.Empty(t, tool.SignPlanOperation.Name())
}
