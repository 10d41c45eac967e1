package tool_test

import (
	"context"
	"encoding/json"
	"math"
	"math/big"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/tool"
	"github.com/troupe-go/troupe/messages"
)

type place struct {
	City string  `json:"city" jsonschema:"name of the city"`
	Lat  float64 `json:"lat,omitempty"`
}

func call(t *testing.T, tl tool.Tool, kwargs map[string]any) any {
	t.Helper()
	bound, _, err := tl.Spec().Bind(nil, kwargs)
	require.NoError(t, err)
	out, err := tl.Call(context.Background(), &tool.Call{ID: "c1", Args: bound})
	require.NoError(t, err)
	return out
}

func TestFuncFields(t *testing.T) {
	type in struct {
		Text    string            `json:"text" desc:"Some text" desc_zh:"一些文本"`
		BaseURL string            // base_url
		Count   int               `json:"count" default:"3" min:"1" max:"9"`
		Ratio   float64           `json:"ratio" default:"0.5"`
		Mode    string            `json:"mode" default:"a" enum:"a, b"`
		Level   int               `json:"level" default:"1" enum:"1,2"`
		Flag    bool              `json:"flag" default:"true"`
		Tags    []string          `json:"tags" default:"[\"x\"]"`
		Small   uint8             `json:"small" default:"1"`
		At      *place            `json:"at"`
		Labels  map[string]string `json:"labels" default:"{}"`
		Any     any               `json:"any" default:"{\"k\":1}"`
		When    *time.Time        `json:"when"`
		Skipped string            `json:"-"`
	}
	tl, err := tool.Func("everything", "Takes all.", func(_ context.Context, in in) (in2 in, err error) { return in, nil },
		tool.WithChinese("接受所有。"), tool.WithCategory(tool.CategorySearch), tool.WithSign(tool.SignExaSearch),
		tool.WithEffects(tool.EffectsNone), tool.WithState(tool.StateNode), tool.WithResultLimit(7))
	require.NoError(t, err)
	s := tl.Spec()
	require.Equal(t, `everything(text: str, base_url: str, count: int = 3, ratio: float = 0.5, mode: str = "a", level: int = 1, `+
		`flag: bool = True, tags: list[str] = ["x"], small: int = 1, at: dict | None = None, labels: dict = {}, any: Any = {"k": 1}, when: str | None = None) -> dict`, s.Header())
	require.Equal(t, "一些文本", s.Inputs[0].Text(messages.ZH))
	require.JSONEq(t, `{"type":"object","properties":{"city":{"type":"string","description":"name of the city"},"lat":{"type":"number"}},"required":["city"],"additionalProperties":false}`, string(s.Inputs[9].Schema))
	require.Equal(t, tool.EffectsNone, s.Effects)
	require.Equal(t, tool.StateNode, s.State)
	require.Equal(t, 7, s.ResultLimit)

	got := call(t, tl, map[string]any{"text": "hi", "base_url": "u", "at": map[string]any{"city": "Bern"}, "when": "2026-01-02T03:04:05Z"}).(in)
	when := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	require.Equal(t, in{
		Text: "hi", BaseURL: "u", Count: 3, Ratio: 0.5, Mode: "a", Level: 1, Flag: true, Tags: []string{"x"}, Small: 1,
		At: &place{City: "Bern"}, Labels: map[string]string{}, Any: map[string]any{"k": 1.0}, When: &when,
	}, got)

	for name, kwargs := range map[string]map[string]any{
		"nested text":     {"at": map[string]any{"city": 1.5}},
		"nested unknown":  {"at": map[string]any{"city": "Bern", "zip": "1"}},
		"beyond the type": {"small": int64(300)},
		"item":            {"tags": []any{int64(1)}},
	} {
		t.Run(name, func(t *testing.T) {
			kwargs["text"], kwargs["base_url"] = "hi", "u"
			_, _, err := s.Bind(nil, kwargs)
			require.ErrorContains(t, err, "does not fit its schema")
		})
	}
	t.Run("bad time", func(t *testing.T) {
		bound, _, err := s.Bind([]any{"hi", "u"}, map[string]any{"when": "tomorrow"})
		require.NoError(t, err)
		_, err = tl.Call(context.Background(), &tool.Call{Args: bound})
		require.ErrorContains(t, err, "can't take its arguments")
	})
}

func TestFuncRefuses(t *testing.T) {
	type ok struct{}
	nothing := func(context.Context, ok) (string, error) { return "", nil }
	_, err := tool.Func("print", "Prints.", nothing)
	require.ErrorContains(t, err, "would hide")
	_, err = tool.Func("empty", "", nothing)
	require.ErrorContains(t, err, "no description")
	_, err = tool.Func[ok, string]("missing", "No function.", nil)
	require.ErrorContains(t, err, "has no function")
	_, err = tool.Func("text", "Takes text.", func(context.Context, string) (string, error) { return "", nil })
	require.ErrorContains(t, err, "its argument is string; make it a struct")
	_, err = tool.Func("out", "Gives a channel.", func(context.Context, ok) (chan int, error) { return nil, nil })
	require.ErrorContains(t, err, "its result chan int")

	refuse := func(name, want string, err error) {
		t.Run(name, func(t *testing.T) {
			require.ErrorContains(t, err, want)
			require.Equal(t, tool.CodeSpec, messages.AsFault(err).Code)
		})
	}
	refuse("channel", "field C has type chan int", fails[struct{ C chan int }]())
	refuse("bytes", "field B has type []uint8", fails[struct{ B []byte }]())
	refuse("embedded", "field Place is embedded", fails[struct{ Place }]())
	refuse("default", `field N has default:"x", which is no integer`, fails[struct {
		N int `default:"x"`
	}]())
	refuse("default null", `default:"null"`, fails[struct {
		N []int `default:"null"`
	}]())
	refuse("enum", `enum:"a"`, fails[struct {
		N int `enum:"a"`
	}]())
	refuse("range", `max:"x"`, fails[struct {
		N int `max:"x"`
	}]())
	refuse("order", "put it first", fails[struct {
		A int `default:"1"`
		B int
	}]())
	refuse("name", "no Python identifier", fails[struct {
		A int `json:"a-b"`
	}]())
}

// Place is embedded in a test.
type Place struct{ City string }

func fails[In any]() error {
	_, err := tool.Func("f", "Fails.", func(context.Context, In) (string, error) { return "", nil })
	return err
}

func TestFuncCall(t *testing.T) {
	type in struct {
		N *int `json:"n"`
	}
	tl, err := tool.Func("peek", "Peeks.", func(ctx context.Context, in in) (map[string]any, error) {
		return map[string]any{"id": tool.CallFrom(ctx).ID, "nil": in.N == nil}, nil
	})
	require.NoError(t, err)
	require.Equal(t, tool.Effects(""), tl.Spec().Effects, "external unless said otherwise")
	require.Equal(t, map[string]any{"id": "c1", "nil": true}, call(t, tl, nil))
	require.Equal(t, map[string]any{"id": "c1", "nil": false}, call(t, tl, map[string]any{"n": int64(1)}))
	require.Nil(t, tool.CallFrom(context.Background()))
}

func TestFuncOutputs(t *testing.T) {
	type none struct{}
	output := func(tl tool.Tool, err error) string {
		require.NoError(t, err)
		return tl.Spec().OutputType + " " + string(tl.Spec().OutputSchema)
	}
	require.Equal(t, "string ", output(tool.Func("f", "F.", func(context.Context, none) (string, error) { return "", nil })))
	require.Equal(t, "integer ", output(tool.Func("f", "F.", func(context.Context, none) (int, error) { return 0, nil })))
	require.Equal(t, "any ", output(tool.Func("f", "F.", func(context.Context, none) (any, error) { return nil, nil })))
	require.Equal(t, `array {"type":"array","items":{"type":"integer"}}`, output(tool.Func("f", "F.", func(context.Context, none) ([]int, error) { return nil, nil })))
	require.Equal(t, "any ", output(tool.Func("f", "F.", func(context.Context, none) (json.RawMessage, error) { return nil, nil })))
}

// A field that is set as it is gets what it would get by way of JSON, which a
// list among the fields makes necessary.
func TestFuncFieldsAreSetAsJSONWould(t *testing.T) {
	type plain struct {
		Text  string  `json:"text" default:"t"`
		N     int     `json:"n" default:"1"`
		Small int8    `json:"small" default:"1"`
		Ratio float64 `json:"ratio" default:"1.5"`
		On    bool    `json:"on" default:"true"`
	}
	type withList struct {
		Text  string  `json:"text" default:"t"`
		N     int     `json:"n" default:"1"`
		Small int8    `json:"small" default:"1"`
		Ratio float64 `json:"ratio" default:"1.5"`
		On    bool    `json:"on" default:"true"`
		List  []int   `json:"list" default:"[]"`
	}
	var got plain
	direct, err := tool.Func("direct", "Takes values.", func(_ context.Context, in plain) (int, error) { got = in; return 0, nil })
	require.NoError(t, err)
	var want withList
	byJSON, err := tool.Func("json", "Takes values.", func(_ context.Context, in withList) (int, error) { want = in; return 0, nil })
	require.NoError(t, err)
	for name, args := range map[string]map[string]any{
		"all":               {"text": "é\n", "n": int64(-5), "small": int64(127), "ratio": -0.25, "on": false},
		"none":              {},
		"not UTF-8":         {"text": "a\xff"},
		"beyond the type":   {"small": int64(128)},
		"wrong type":        {"n": "1"},
		"whole float":       {"n": 2.0},
		"integer as number": {"ratio": int64(3)},
		"no number":         {"ratio": math.NaN()},
		"huge":              {"n": new(big.Int).Lsh(big.NewInt(1), 80)},
	} {
		t.Run(name, func(t *testing.T) {
			got, want = plain{}, withList{}
			_, err := direct.Call(context.Background(), &tool.Call{Args: args})
			args["list"] = []any{int64(1)}
			_, errJSON := byJSON.Call(context.Background(), &tool.Call{Args: args})
			require.Equal(t, errJSON == nil, err == nil, "%v, %v", errJSON, err)
			require.Equal(t, want.Text, got.Text)
			require.Equal(t, plain{want.Text, want.N, want.Small, want.Ratio, want.On}, got)
		})
	}
}
