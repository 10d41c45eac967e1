package value_test

import (
	"encoding/json"
	"math"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/python/value"
)

func TestPlain(t *testing.T) {
	huge, _ := new(big.Int).SetString("1267650600228229401496703205376", 10)
	cases := []struct {
		name, in string
		want     any
	}{
		{"nothing", ``, nil},
		{"null", `null`, nil},
		{"int", `7`, int64(7)},
		{"negative", `-9223372036854775808`, int64(math.MinInt64)},
		{"big int", `1267650600228229401496703205376`, huge},
		{"float", `2.0`, 2.0},
		{"exponent", `1e3`, 1000.0},
		{"inf", `{"$float":"inf"}`, math.Inf(1)},
		{"text", `"é\n"`, "é\n"},
		{"bytes", `{"$bytes":"aGk="}`, []byte("hi")},
		{"tuple", `{"$tuple":[1,[2]]}`, []any{int64(1), []any{int64(2)}}},
		{"set", `{"$set":[1]}`, []any{int64(1)}},
		{"date", `{"$date":"2024-02-28"}`, "2024-02-28"},
		{"tool", `{"$tool":"search"}`, value.Tool("search")},
		{"repr", `{"$repr":"<object>","type":"object"}`, "<object>"},
		{"dict", `{"a":{"b":null}}`, map[string]any{"a": map[string]any{"b": nil}}},
		{"odd keys", `{"$dict":[[1,"x"],[{"$tuple":[1,2]},"y"],["$k","z"],[null,0]]}`,
			map[string]any{"1": "x", "(1, 2)": "y", "$k": "z", "None": int64(0)}},
		{"empty", `{}`, map[string]any{}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := value.Plain(json.RawMessage(c.in))
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
}

func TestPlainRefuses(t *testing.T) {
	cases := map[string]string{
		"cut":         `{"a":[1`,
		"two values":  `1 2`,
		"unknown tag": `{"$evil":1}`,
		"wrong tag":   `{"$bytes":7}`,
		"bad base64":  `{"$bytes":"%"}`,
		"bad float":   `{"$float":"1"}`,
		"bad pair":    `{"$dict":[[1]]}`,
		"deep":        strings.Repeat("[", 100_000),
		"many digits": strings.Repeat("9", 1<<20),
	}
	for name, in := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := value.Plain(json.RawMessage(in))
			require.Error(t, err)
		})
	}
}

func TestTagged(t *testing.T) {
	type point struct {
		Z int     `json:"z"`
		A float64 `json:"a"`
	}
	cases := []struct {
		name string
		in   any
		want string
	}{
		{"nil", nil, `null`},
		{"whole float", 2.0, `2.0`},
		{"small float", 1e-7, `1e-07`},
		{"large float", 1e300, `1e+300`},
		{"nan", math.NaN(), `{"$float":"nan"}`},
		{"unsigned", uint8(7), `7`},
		{"html", "<a&b>", `"<a&b>"`},
		{"bytes", []byte("hi"), `{"$bytes":"aGk="}`},
		{"tuple", value.Tuple{1, "a"}, `{"$tuple":[1,"a"]}`},
		{"tool", value.Tool("x"), `{"$tool":"x"}`},
		{"time", time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC), `{"$datetime":"2024-01-02T03:04:05Z"}`},
		{"keys sorted", map[string]any{"b": 1, "a": nil}, `{"a":null,"b":1}`},
		{"keys that look like tags", map[string]any{"$tuple": []any{1}}, `{"$dict":[["$tuple",[1]]]}`},
		{"struct in order", point{1, 2.5}, `{"z":1,"a":2.5}`},
		{"typed list", []string{"a"}, `["a"]`},
		{"outside JSON", json.RawMessage(`{"$set":[1],"n":12345678901234567890}`), `{"$dict":[["$set",[1]],["n",12345678901234567890]]}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := value.Tagged(c.in)
			require.NoError(t, err)
			require.Equal(t, c.want, string(got))
		})
	}
	_, err := value.Tagged(func() {})
	require.Error(t, err)
}

func TestRoundTrip(t *testing.T) {
	in := map[string]any{
		"$a": []any{int64(1), 1.0, nil, true, "x"},
		"b":  map[string]any{"c": []byte{0, 255}, "d": new(big.Int).Lsh(big.NewInt(1), 90)},
	}
	raw, err := value.Tagged(in)
	require.NoError(t, err)
	out, err := value.Plain(raw)
	require.NoError(t, err)
	require.Equal(t, in, out)
}

func TestText(t *testing.T) {
	cases := []struct{ in, want string }{
		{``, "None"},
		{`true`, "True"},
		{`"plain 'text'"`, "plain 'text'"},
		{`["it's", "a\"'b", "\u00e9\n\u0001"]`, `["it's", 'a"\'b', 'é\n\x01']`},
		{`{"a": 1.0, "b": [null, 1e+16]}`, "{'a': 1.0, 'b': [None, 1e+16]}"},
		{`{"$tuple":[1]}`, "(1,)"},
		{`{"$set":[]}`, "set()"},
		{`[{"$set":[1,2]}]`, "[{1, 2}]"},
		{`{"$bytes":"aGnw"}`, `b'hi\xf0'`},
		{`{"$float":"nan"}`, "nan"},
		{`{"$dict":[[1,"x"]]}`, "{1: 'x'}"},
		{`{"$repr":"<X>","type":"X"}`, "<X>"},
		{`{"$datetime":"2024-01-02T03:04:05"}`, "2024-01-02 03:04:05"},
		{`not json`, "not json"},
	}
	for _, c := range cases {
		require.Equal(t, c.want, value.Text(json.RawMessage(c.in)), c.in)
	}
}

func FuzzPlain(f *testing.F) {
	f.Add([]byte(`{"$dict":[[1,{"$repr":"a","type":"b"}]]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		value.Text(raw)
		v, err := value.Plain(raw)
		if err != nil {
			return
		}
		again, err := value.Tagged(v)
		require.NoError(t, err)
		_, err = value.Plain(again)
		require.NoError(t, err)
	})
}

func TestCheck(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for _, in := range []string{`1`, `"[[[\"]]"`, deep(value.MaxDepth), `{"a":[1,{"b":"\\"}]}`} {
		require.NoError(t, value.Check(json.RawMessage(in)), in)
	}
	for _, in := range []string{deep(value.MaxDepth + 1), `[` + strings.Repeat("9", 1<<17) + `]`} {
		require.Error(t, value.Check(json.RawMessage(in)))
	}
}
