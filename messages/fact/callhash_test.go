package fact_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/troupe-go/troupe/messages/fact"
)

func hashOf(tool string, kwargs string, args ...string) string {
	raws := make([]json.RawMessage, len(args))
	for i, a := range args {
		raws[i] = json.RawMessage(a)
	}
	return fact.CallHash(tool, raws, json.RawMessage(kwargs))
}

func TestCallHashOfEqualCalls(t *testing.T) {
	for name, pair := range map[string][2]string{
		"order of keys":         {`{"a":1,"b":{"c":[1],"d":2}}`, `{"b":{"d":2,"c":[1]},"a":1}`},
		"white space":           {`{"a":[1,2]}`, " {\n\t\"a\" : [ 1 , 2 ] } "},
		"escapes":               {`"步/\n"`, `"\u6b65\/\u000a"`},
		"exponents":             {`1e5`, `1E+05`},
		"negative exponents":    {`1e-7`, `1E-07`},
		"zero exponent":         {`3e0`, `3E+00`},
		"zeros of the fraction": {`1.5`, `1.500`},
		"whole floats":          {`1.0`, `1.000`},
		"a key given twice":     {`{"a":2}`, `{"a":1,"a":2}`},
		"not JSON":              {`not json`, `not json`},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, hashOf("f", "", pair[0]), hashOf("f", "", pair[1]))
		})
	}
	none := hashOf("f", "", "1")
	for _, kwargs := range []string{"null", " null ", "{}", "{ }"} {
		require.Equal(t, none, hashOf("f", kwargs, "1"), "kwargs %q", kwargs)
	}
	require.Len(t, none, 64)
}

func TestCallHashOfDifferentCalls(t *testing.T) {
	seen := map[string]string{}
	for name, h := range map[string]string{
		"no arguments":        hashOf("f", ""),
		"other tool":          hashOf("g", ""),
		"one":                 hashOf("f", "", "1"),
		"one as float":        hashOf("f", "", "1.0"),
		"one as text":         hashOf("f", "", `"1"`),
		"ten":                 hashOf("f", "", "10"),
		"two arguments":       hashOf("f", "", "1", "2"),
		"other order":         hashOf("f", "", "2", "1"),
		"one list":            hashOf("f", "", "[1,2]"),
		"by name":             hashOf("f", `{"a":1}`),
		"null by name":        hashOf("f", `{"a":null}`),
		"null":                hashOf("f", "", "null"),
		"true":                hashOf("f", "", "true"),
		"false":               hashOf("f", "", "false"),
		"2^53":                hashOf("f", "", "9007199254740992"),
		"2^53+1":              hashOf("f", "", "9007199254740993"),
		"object":              hashOf("f", "", `{"a":1}`),
		"minus":               hashOf("f", "", "-1"),
		"exponent":            hashOf("f", "", "1e1"),
		"negative exponent":   hashOf("f", "", "1e-1"),
		"not JSON":            hashOf("f", "", "{"),
		"two values, not one": hashOf("f", "", "1 2"),
	} {
		require.NotContains(t, seen, h, "%s is taken for %s", name, seen[h])
		seen[h] = name
	}
}

// The hash stands on logs: it may never change.
func TestCallHashIsStable(t *testing.T) {
	const want = "8e574aff087ca98ae0b0f48639b473977892fbe5e65964638e1a855196c15d00"
	got := hashOf("read_file", `{"b":1.50,"a":"步"}`, `"a.txt"`)
	require.Equal(t, fact.HashOf([]byte(`{"tool":"read_file","args":["a.txt"],"kwargs":{"a":"步","b":1.5}}`)), got)
	require.Equal(t, want, got)
}

// A call hashes alike when its arguments are decoded and encoded again, by
// another encoder with other escapes, key order and white space.
func TestCallHashSurvivesReencoding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := anyValue(3).Draw(t, "value")
		plain, err := json.Marshal(value)
		require.NoError(t, err)
		indented, err := json.MarshalIndent(value, " ", "\t")
		require.NoError(t, err)
		require.Equal(t, hashOf("f", "", string(plain)), hashOf("f", "", string(indented)))

		var again any
		require.NoError(t, json.Unmarshal(plain, &again))
		var unescaped bytes.Buffer
		enc := json.NewEncoder(&unescaped)
		enc.SetEscapeHTML(false)
		require.NoError(t, enc.Encode(again))
		require.Equal(t, hashOf("f", "", string(plain)), hashOf("f", "", unescaped.String()))
	})
}

func anyValue(depth int) *rapid.Generator[any] {
	scalars := []*rapid.Generator[any]{
		rapid.String().AsAny(), rapid.Bool().AsAny(), rapid.Just[any](nil), rapid.Int32().AsAny(),
		rapid.SampledFrom([]string{"<&>", "\u2028", "\"\\", "步骤", "\x00"}).AsAny(),
	}
	if depth == 0 {
		return rapid.OneOf(scalars...)
	}
	return rapid.OneOf(append(scalars,
		rapid.SliceOfN(anyValue(depth-1), 0, 4).AsAny(),
		rapid.MapOfN(rapid.String(), anyValue(depth-1), 0, 4).AsAny(),
	)...)
}

func FuzzCallHash(f *testing.F) {
	for _, seed := range []string{`{"a":[1,{"b":null}]}`, `"\u6b65"`, `[ ]`, `{ }`, `1.50E+07`, `{"a":1,"a":2}`, `{`, `"\`, "\"\xff\""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		if json.Valid([]byte(raw)) {
			require.Equal(t, hashOf("f", raw, raw), hashOf("f", " "+raw, raw+"\n"))
			return
		}
		require.NotEqual(t, hashOf("f", "", raw), hashOf("f", "", raw+"x"))
	})
}

func BenchmarkCallHash(b *testing.B) {
	args := []json.RawMessage{json.RawMessage(`"data/a.txt"`)}
	kwargs := json.RawMessage(`{"encoding":"utf-8","limit":100}`)
	b.ReportAllocs()
	for b.Loop() {
		fact.CallHash("read_file", args, kwargs)
	}
}
