package pythontest

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/actors/python/value"
)

//go:embed testdata/python.jsonl
var programs []byte

// program is one line of the cases.
type program struct {
	Name   string   `json:"name"`
	Cat    string   `json:"cat"`
	Code   []string `json:"code"`
	Expect expect   `json:"expect"`
}

// expect says how the last block ends. All given keys hold.
type expect struct {
	Value         json.RawMessage `json:"value"`
	Stdout        *string         `json:"stdout"`
	StdoutTail    string          `json:"stdout_tail"`
	Final         json.RawMessage `json:"final"`
	Error         string          `json:"error"`
	Line          int             `json:"line"`
	Msg           string          `json:"msg"`
	ValueContains string          `json:"value_contains"`

	Timeout          bool `json:"timeout"`
	Memory           bool `json:"memory"`
	Refused          bool `json:"refused"`
	Harmless         bool `json:"harmless"`
	TimeoutOrRefused bool `json:"timeout_or_refused"`
}

func load(t testing.TB, categories ...string) []program {
	var list []program
	dec := json.NewDecoder(bytes.NewReader(programs))
	dec.DisallowUnknownFields() // a key that nobody checks would look green
	for dec.More() {
		var p program
		require.NoError(t, dec.Decode(&p))
		if slices.Contains(categories, p.Cat) {
			list = append(list, p)
		}
	}
	require.NotEmpty(t, list)
	return list
}

func runPrograms(t *testing.T, d python.Driver, categories ...string) {
	for _, p := range load(t, categories...) {
		t.Run(p.Name, func(t *testing.T) {
			b := setup(t, d)
			var last *python.Outcome
			for i, code := range p.Code {
				last = b.exec(code)
				if i < len(p.Code)-1 {
					require.Nil(t, last.Err, "%+v", last.Err)
				}
			}
			p.Expect.check(t, last)
		})
	}
}

func (e *expect) check(t *testing.T, out *python.Outcome) {
	require.Empty(t, out.Killed)
	if e.Error == "" {
		require.Nil(t, out.Err, "%+v", out.Err)
	} else {
		require.NotNil(t, out.Err)
		require.Equal(t, e.Error, out.Err.Type)
		require.Equal(t, e.Line, out.Err.Line)
		require.Contains(t, out.Err.Message, e.Msg)
	}
	if e.Value != nil {
		requireSame(t, e.Value, out.Value)
	}
	if e.ValueContains != "" {
		require.Contains(t, value.Text(out.Value), e.ValueContains)
	}
	if e.Final != nil {
		require.True(t, out.IsFinal)
		requireSame(t, e.Final, out.Final)
	}
	if e.Stdout != nil {
		require.Equal(t, *e.Stdout, out.Output)
	}
	require.True(t, bytes.HasSuffix([]byte(out.Output), []byte(e.StdoutTail)), "%q", out.Output)
}

// requireSame compares a value with plain JSON: tuples are lists there.
func requireSame(t testing.TB, want, got json.RawMessage) {
	w, err := value.Plain(want)
	require.NoError(t, err)
	g, err := value.Plain(got)
	require.NoError(t, err)
	require.Equal(t, w, g)
}
