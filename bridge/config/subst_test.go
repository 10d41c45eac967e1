package config

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSubstitute(t *testing.T) {
	env := func(name string) (string, bool) {
		v, ok := map[string]string{"A": "1", "EMPTY": "", "NESTED": "${A}"}[name]
		return v, ok
	}
	for in, want := range map[string]substituted{
		"plain $A $$ }":        {text: "plain $A $$ }"},
		"${A}":                 {text: "1", used: true},
		"x${A}y${A}":           {text: "x1y1", used: true},
		"${EMPTY}":             {text: "", used: true},
		"${EMPTY:-d}":          {text: "d", used: true},
		"${NO:-}":              {text: "", used: true},
		"${NO:-a:-b}":          {text: "a:-b", used: true},
		"${NO:-${ALSO:-${A}}}": {text: "1", used: true},
		"${NESTED}":            {text: "${A}", used: true},
		"$${A} ${A}":           {text: "${A} 1", used: true},
		"$${A}":                {text: "${A}"},
		"${NO}${ALSO}":         {text: "", used: true, missing: []string{"NO", "ALSO"}},
		"${":                   {broken: "${"},
		"${}":                  {broken: "${", used: true},
		"${1A}":                {broken: "${", used: true},
		"${A-x}":               {broken: "${", used: true},
		"${NO:-${}":            {broken: "${"},
	} {
		t.Run(in, func(t *testing.T) { require.Equal(t, want, substitute(in, env)) })
	}
}

func TestMaskedHidesDefaults(t *testing.T) {
	require.Equal(t, "a ${A:-…} ${B} c", masked("a ${A:-sk-1} ${B} c"))
	require.Equal(t, "${A:-…}", masked("${A:-${B:-x}}"))
	require.Equal(t, "${broken", masked("${broken"))
}

func TestParseSize(t *testing.T) {
	for in, want := range map[string]int64{"0": 0, "4096": 4096, "20KiB": 20 << 10, "1.5MiB": 3 << 19, "2GB": 2e9, "7 B": 7, "1KB": 1000} {
		got, ok := parseSize(in)
		require.True(t, ok, in)
		require.Equal(t, want, got, in)
	}
	for _, in := range []string{"", "-1", "+1", "1e3", "inf", "NaN", "0x10", "1.0001KiB", "MiB", "1TiB", "9999999999GiB", "1_000"} {
		_, ok := parseSize(in)
		require.False(t, ok, in)
	}
}

func TestNearest(t *testing.T) {
	known := []string{"max_steps", "model_name", "tools"}
	require.Equal(t, "max_steps", nearest("max_stesp", known))
	require.Equal(t, "model_name", nearest("modelName", known))
	require.Equal(t, "tools", nearest("tool", known))
	require.Empty(t, nearest("temperature", known))
}
