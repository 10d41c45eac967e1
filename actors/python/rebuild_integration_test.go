//go:build integration && (linux || darwin) && (amd64 || arm64)

package python_test

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/python/wasm"
)

// TestPythonRebuildInWasm holds the other level to the same properties, on
// fewer programs: its interpreters take longer to start.
func TestPythonRebuildInWasm(t *testing.T) {
	checks := flag.Lookup("rapid.checks").Value
	before := checks.String()
	require.NoError(t, checks.Set("12"))
	defer func() { require.NoError(t, checks.Set(before)) }()
	npm, err := exec.LookPath("npm")
	require.NoError(t, err)
	cache, err := os.UserCacheDir()
	require.NoError(t, err)
	folder := filepath.Join(cache, "troupe", "python-wasm")
	_, err = wasm.Install(t.Context(), wasm.InstallOptions{CacheDir: folder, NPM: npm})
	require.NoError(t, err)
	d, err := wasm.New(wasm.Config{CacheDir: folder})
	require.NoError(t, err)
	defer d.Close()
	require.NoError(t, d.Prepare(t.Context()))
	for _, p := range properties {
		t.Run("wasm/"+p.name, func(t *testing.T) { p.test(t, d) })
	}
}
