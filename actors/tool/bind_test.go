package tool_test

import (
	"encoding/json"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/tool"
	"github.com/troupe-go/troupe/messages"
)

func ptr(f float64) *float64 { return &f }

// searchSpec has an input of every kind.
func searchSpec(t *testing.T) *tool.Spec {
	s := &tool.Spec{
		Name: "find", Description: "Finds.", DescriptionZH: "查找。",
		Inputs: []tool.Input{
			{Name: "query", Type: tool.TypeString, Required: true, Description: "What to find", DescriptionZH: "查找内容"},
			{Name: "top_k", Type: tool.TypeInteger, Default: 5, Min: ptr(1), Max: ptr(100), Description: "How many"},
			{Name: "weight", Type: tool.TypeNumber, Default: 0.5, Nullable: true, Min: ptr(0), Max: ptr(1)},
			{Name: "mode", Type: tool.TypeString, Default: "hybrid", Enum: []any{"hybrid", "exact"}},
			{Name: "names", Type: tool.TypeArray, Nullable: true, Schema: json.RawMessage(`{"type":"array","items":{"type":"string"}}`)},
			{Name: "filter", Type: tool.TypeObject, Nullable: true},
			{Name: "deep", Type: tool.TypeBoolean, Default: false},
			{Name: "extra", Type: tool.TypeAny, Nullable: true},
		},
		OutputType: tool.TypeArray, Effects: tool.EffectsNone,
	}
	require.NoError(t, s.Validate())
	return s
}

func TestBind(t *testing.T) {
	s := searchSpec(t)
	huge := new(big.Int).Lsh(big.NewInt(1), 80)
	defaults := map[string]any{
		"query": "q", "top_k": int64(5), "weight": 0.5, "mode": "hybrid",
		"names": nil, "filter": nil, "deep": false, "extra": nil,
	}
	for name, tc := range map[string]struct {
		args   []any
		kwargs map[string]any
		want   map[string]any // what differs from the defaults
		notes  []string
	}{
		"defaults":             {args: []any{"q"}},
		"all by name":          {kwargs: map[string]any{"query": "q", "deep": true}, want: map[string]any{"deep": true}},
		"positional in order":  {args: []any{"q", int64(7), 0.25}, want: map[string]any{"top_k": int64(7), "weight": 0.25}},
		"null is the default":  {args: []any{"q", nil}, kwargs: map[string]any{"weight": nil, "mode": nil}},
		"null without default": {kwargs: map[string]any{"query": "q", "filter": nil}},
		"whole float is int":   {args: []any{"q", 7.0}, want: map[string]any{"top_k": int64(7)}},
		"int is number":        {args: []any{"q", int64(7), int64(1)}, want: map[string]any{"top_k": int64(7), "weight": 1.0}},
		"clamped above":        {args: []any{"q", int64(1000)}, want: map[string]any{"top_k": int64(100)}, notes: []string{"top_k=1000 is above the greatest value allowed; 100 was used"}},
		"clamped below":        {args: []any{"q", int64(-1), -2.5}, want: map[string]any{"top_k": int64(1), "weight": 0.0}, notes: []string{"top_k=-1 is below the least value allowed; 1 was used", "weight=-2.5 is below the least value allowed; 0 was used"}},
		"clamped from beyond":  {args: []any{"q", huge}, want: map[string]any{"top_k": int64(100)}, notes: []string{"top_k=" + huge.String() + " is above the greatest value allowed; 100 was used"}},
		"anything":             {kwargs: map[string]any{"query": "q", "extra": huge, "names": []any{"a"}, "filter": map[string]any{"a": int64(1)}}, want: map[string]any{"extra": huge, "names": []any{"a"}, "filter": map[string]any{"a": int64(1)}}},
	} {
		t.Run(name, func(t *testing.T) {
			got, notes, err := s.Bind(tc.args, tc.kwargs)
			require.NoError(t, err)
			for k, v := range defaults {
				if w, ok := tc.want[k]; ok {
					v = w
				}
				require.Equal(t, v, got[k], k)
			}
			require.Len(t, got, len(defaults))
			var said []string
			for _, n := range notes {
				require.NotEqual(t, n.In(messages.EN), n.In(messages.ZH))
				said = append(said, n.In(messages.EN))
			}
			require.Equal(t, tc.notes, said)
		})
	}
}

func TestBindRefuses(t *testing.T) {
	s := searchSpec(t)
	one := &tool.Spec{
		Name: "move", Description: "Moves.", OutputType: tool.TypeAny,
		Inputs: []tool.Input{{Name: "from", Type: tool.TypeString, Required: true}, {Name: "to", Type: tool.TypeString, Required: true}},
	}
	for name, tc := range map[string]struct {
		spec   *tool.Spec
		args   []any
		kwargs map[string]any
		class  string
		want   string
	}{
		"missing":              {s, nil, nil, "TypeError", "find() missing 1 required positional argument: 'query'"},
		"missing two":          {one, nil, nil, "TypeError", "move() missing 2 required positional arguments: 'from' and 'to'"},
		"too many":             {one, []any{"a", "b", "c"}, nil, "TypeError", "move() takes 2 positional arguments but 3 were given"},
		"too many of some":     {s, make([]any, 9), nil, "TypeError", "find() takes from 1 to 8 positional arguments but 9 were given"},
		"unknown":              {s, []any{"q"}, map[string]any{"max": int64(1)}, "TypeError", "find() got an unexpected keyword argument 'max'"},
		"twice":                {s, []any{"q"}, map[string]any{"query": "p"}, "TypeError", "find() got multiple values for argument 'query'"},
		"null for required":    {s, []any{nil}, nil, "TypeError", "find() argument 'query' must be str, not None"},
		"int for text":         {s, []any{int64(5)}, nil, "TypeError", "find() argument 'query' must be str, not int (5)"},
		"text for int":         {s, []any{"q", "5"}, nil, "TypeError", `find() argument 'top_k' must be int, not str ("5")`},
		"fraction for int":     {s, []any{"q", 5.5}, nil, "TypeError", "find() argument 'top_k' must be int, not float (5.5)"},
		"infinite for int":     {s, []any{"q", math.Inf(1)}, nil, "TypeError", "find() argument 'top_k' must be int, not float (+Inf)"},
		"bool for int":         {s, []any{"q", true}, nil, "TypeError", "find() argument 'top_k' must be int, not bool (true)"},
		"dict for list":        {s, []any{"q"}, map[string]any{"names": map[string]any{}}, "TypeError", "find() argument 'names' must be list, not dict (a dict)"},
		"none of the enum":     {s, []any{"q"}, map[string]any{"mode": "fuzzy"}, "ValueError", `find() argument 'mode' must be one of "hybrid", "exact", not "fuzzy"`},
		"not a number":         {s, []any{"q"}, map[string]any{"weight": math.NaN()}, "ValueError", "find() argument 'weight' is not a number"},
		"not as its schema":    {s, []any{"q"}, map[string]any{"names": []any{int64(1)}}, "ValueError", "find() argument 'names' does not fit its schema"},
		"a long value is cut":  {s, []any{"q", string(make([]byte, 1<<20))}, nil, "TypeError", "must be int, not str"},
		"too deep in a schema": {s, []any{"q"}, map[string]any{"names": []any{[]any{"a"}}}, "ValueError", "does not fit its schema"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := tc.spec.Bind(tc.args, tc.kwargs)
			var e *tool.Exception
			require.ErrorAs(t, err, &e)
			require.Equal(t, tc.class, e.Class)
			require.ErrorContains(t, err, tc.want)
			require.ErrorContains(t, err, "its signature is "+tc.spec.Header())
			require.NotEqual(t, e.Fault.EN, e.Fault.ZH)
			require.Less(t, len(err.Error()), 2000)
		})
	}
}

func TestPrepareTakesArgumentsUpToTheBound(t *testing.T) {
	s := searchSpec(t)
	call := func(size int) *messages.ToolError {
		_, bad := tool.Prepare(s, &messages.CallTool{Tool: "find", Args: []json.RawMessage{json.RawMessage(`"` + strings.Repeat("x", size-2) + `"`)}}, messages.EN)
		return bad
	}
	require.Nil(t, call(tool.MaxArguments))
	bad := call(tool.MaxArguments + 1)
	require.Equal(t, "ValueError", bad.Type)
	require.Contains(t, bad.Message, "arguments of 1048577 bytes, more than the 1048576 allowed; pass less at once, or write the data to a workspace file")
}

func TestPrepare(t *testing.T) {
	s := searchSpec(t)
	call := &messages.CallTool{
		Tool: "find", Args: []json.RawMessage{json.RawMessage(`"问 <b>"`)},
		Kwargs: json.RawMessage(`{"top_k":500,"extra":{"$tuple":[{"$tool":"find"},{"$bytes":"YQ=="},1.5,{"$float":"nan"}]},"filter":{"b":1,"a":null}}`),
	}
	p, bad := tool.Prepare(s, call, messages.EN)
	require.Nil(t, bad)
	require.Equal(t, "问 <b>", p.Args["query"])
	require.JSONEq(t, `{"query":"问 <b>","top_k":100,"filter":{"a":null,"b":1},"extra":["find","b'a'",1.5,"nan"]}`, string(p.Arguments))
	require.Contains(t, string(p.Arguments), `{"query":"问 <b>","top_k":100,`, "declared order, unescaped")
	require.Len(t, p.Notes, 1)

	again, bad := tool.Prepare(s, call, messages.ZH)
	require.Nil(t, bad)
	require.Equal(t, p.Hash, again.Hash)

	half := `"` + strings.Repeat("x", tool.MaxArguments/2-2) + `"`
	for name, tc := range map[string]struct{ args, kwargs, class string }{
		"too many bytes":  {half, `{"top_k":1,"extra":` + half + `}`, "ValueError"},
		"broken argument": {`{"$oops":1}`, ``, "ValueError"},
		"broken keywords": {`"q"`, `[1]`, "ValueError"},
		"wrong type":      {`1`, ``, "TypeError"},
	} {
		t.Run(name, func(t *testing.T) {
			_, bad := tool.Prepare(s, &messages.CallTool{Tool: "find", Args: []json.RawMessage{json.RawMessage(tc.args)}, Kwargs: json.RawMessage(tc.kwargs)}, messages.ZH)
			require.Equal(t, tc.class, bad.Type)
			require.Equal(t, "tool_arguments", bad.Code)
			require.Contains(t, bad.Message, "其签名为")
		})
	}
}
