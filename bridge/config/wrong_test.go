package config_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/bridge/config"
)

var update = flag.Bool("update", false, "write the golden files")

// env is the environment of the golden files: all but NUMBER would be secrets.
func env(name string) (string, bool) {
	v, ok := map[string]string{
		"SECRET_URL":   "ftp://very-secret.example.com",
		"SECRET_VALUE": "very-secret",
		"NUMBER":       "7",
	}[name]
	return v, ok
}

// Every wrong file gives exactly the faults of its golden file, in both
// languages, and shows nothing secret.
func TestWrongFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/wrong/*.yaml")
	require.NoError(t, err)
	require.Greater(t, len(files), 15)
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".yaml")
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			_, err = config.Parse("cluster.yaml", data, env)
			var faults config.Faults
			require.ErrorAs(t, err, &faults)
			got := faults.In("en") + "\n\n" + faults.In("zh") + "\n"
			require.NotContains(t, got, "very-secret")
			golden := strings.TrimSuffix(path, ".yaml") + ".golden"
			if *update {
				require.NoError(t, os.WriteFile(golden, []byte(got), 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			require.Equal(t, string(want), got)
		})
	}
}

func TestLoadSaysWhyAFileCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	big := filepath.Join(dir, "big.yaml")
	require.NoError(t, os.WriteFile(big, []byte(strings.Repeat("#", config.MaxBytes+1)), 0o600))
	for name, tc := range map[string]struct{ path, want string }{
		"missing":   {filepath.Join(dir, "no.yaml"), "expected a configuration file, got no such file"},
		"directory": {dir, "expected a configuration file, got a directory"},
		"too large": {big, "expected at most 1 MiB, got a larger file"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := config.Load(tc.path, nil)
			require.ErrorContains(t, err, tc.want)
			require.ErrorAs(t, err, new(config.Faults))
		})
	}
}
