package config_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/bridge/config"
)

func sprintf(f string, args ...any) string { return fmt.Sprintf(strings.Repeat(f, len(args)), args...) }

// Input that would cost the parser much is refused before it is parsed.
func TestHostileInputIsRefused(t *testing.T) {
	for name, s := range map[string]string{
		"brackets":    strings.Repeat("[", 40_000),
		"dashes":      strings.Repeat("- ", 40_000) + "a",
		"questions":   strings.Repeat("? ", 40_000) + "a",
		"anchors":     strings.Repeat("&a ", 40_000) + "b",
		"tokens":      strings.Repeat("a: 1\n", 40_000),
		"indentation": deep(1_000),
		"not utf-8":   "models: \xff",
		"escape":      "models: \"\\q\"",
		"nul":         "models: \x00",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := config.Parse("f", []byte(s), nil)
			require.ErrorAs(t, err, new(config.Faults))
		})
	}
}

func deep(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

func TestAByteOrderMarkIsSkipped(t *testing.T) {
	data, err := os.ReadFile("testdata/full.yaml")
	require.NoError(t, err)
	_, err = config.Parse("f", append([]byte("\ufeff"), data...), env)
	require.NoError(t, err)
}

func TestALongReportIsCut(t *testing.T) {
	var b strings.Builder
	b.WriteString("limits:\n")
	for i := range 300 {
		fmt.Fprintf(&b, "  k%d: 1\n", i)
	}
	_, err := config.Parse("f", []byte(b.String()), nil)
	var faults config.Faults
	require.ErrorAs(t, err, &faults)
	require.Len(t, faults, 302)
	require.Len(t, strings.Split(faults.Error(), "\n"), 101)
	require.Contains(t, faults.In("zh"), "另有 202 处")
}

// Whatever comes, Parse ends with a file or with Faults, and shows no value of
// a variable.
func FuzzParse(f *testing.F) {
	paths, err := filepath.Glob("testdata/*/*.yaml")
	require.NoError(f, err)
	for _, p := range append(paths, "testdata/full.yaml") {
		data, err := os.ReadFile(p)
		require.NoError(f, err)
		f.Add(data)
	}
	secrets := func(string) (string, bool) { return "hidden-value-of-a-variable", true }
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := config.Parse("f", data, secrets)
		if err == nil {
			require.NotEmpty(t, file.Agents)
			return
		}
		var faults config.Faults
		require.ErrorAs(t, err, &faults)
		require.NotEmpty(t, faults)
		require.NotContains(t, faults.Error(), "hidden-value-of-a-variable")
	})
}
