package value_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/python/value"
)

// jsonText writes a random JSON value without tags, in many spellings.
func jsonText(r *rand.Rand, depth int) string {
	space := [...]string{"", "", " ", "\n\t"}[r.IntN(4)]
	kinds := 8
	if depth == 0 {
		kinds = 6
	}
	switch r.IntN(kinds) {
	case 0:
		return space + [...]string{"null", "true", "false"}[r.IntN(3)]
	case 1:
		return space + strconv.Itoa(r.IntN(2000)-1000)
	case 2:
		return space + [...]string{"-0", "0", "9223372036854775807", "-9223372036854775808", "1e5", "1E+05", "0.10", "-2.5e-3", "1e400"}[r.IntN(9)]
	case 3, 4, 5:
		return space + [...]string{`""`, `"plain"`, `"é 中"`, `"a\"b\\c\n"`, `"\u00e9\ud83d\ude00"`, `"\ud800"`, "\"\xff\"", `"a]},:{[b"`}[r.IntN(8)]
	case 6:
		return space + "[" + list(r, func() string { return jsonText(r, depth-1) }) + space + "]"
	}
	return space + "{" + list(r, func() string {
		return space + [...]string{`"a"`, `"b"`, `"\u0061"`, `""`, `"two words"`}[r.IntN(5)] + space + ":" + jsonText(r, depth-1)
	}) + space + "}"
}

func list(r *rand.Rand, one func() string) string {
	var b bytes.Buffer
	for i := range r.IntN(4) {
		if i > 0 {
			b.WriteString(" ,")
		}
		b.WriteString(one())
	}
	return b.String()
}

// reference is Plain of JSON without tags, as encoding/json reads it.
func reference(t *testing.T, raw []byte) any {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	require.NoError(t, dec.Decode(&v))
	return numbers(t, v)
}

func numbers(t *testing.T, v any) any {
	switch v := v.(type) {
	case json.Number:
		n, err := value.Plain(json.RawMessage(v))
		require.NoError(t, err)
		return n
	case []any:
		for i := range v {
			v[i] = numbers(t, v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = numbers(t, v[k])
		}
	}
	return v
}

// The values are those that encoding/json finds, whatever the spelling; and
// what it refuses is refused.
func TestReadsAsEncodingJSON(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		raw := []byte(jsonText(r, 3))
		got, err := value.Plain(raw)
		require.NoError(t, err, "%s", raw)
		require.Equal(t, reference(t, raw), got, "%s", raw)

		raw[r.IntN(len(raw))] = " \",:[]{}01eE+-.tx\\"[r.IntN(18)]
		_, err = value.Plain(raw)
		require.Equal(t, json.Valid(raw), err == nil, "%s", raw)
	}
}

func TestPlainFields(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 5_000 {
		raw := []byte(jsonText(r, 2))
		got, err := value.PlainFields(raw)
		switch want := reference(t, raw).(type) {
		case nil:
			require.NoError(t, err)
			require.Nil(t, got)
		case map[string]any:
			require.NoError(t, err)
			require.Equal(t, want, got, "%s", raw)
		default:
			require.ErrorContains(t, err, "no object", "%s", raw)
		}
	}
	got, err := value.PlainFields(json.RawMessage(`{"$tuple": [1], "x": {"$tuple": [2]}, "x": {"$tool": "t"}}`))
	require.NoError(t, err)
	require.Equal(t, map[string]any{"$tuple": []any{int64(1)}, "x": value.Tool("t")}, got, "keys are names, values are tagged, the last counts")
	for _, bad := range []string{`{`, `{"a":1} 2`, `{"a":{"$evil":1}}`, `{"a"}`} {
		_, err := value.PlainFields(json.RawMessage(bad))
		require.Error(t, err, bad)
	}
}
