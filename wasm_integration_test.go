//go:build integration

package troupe_test

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe"
	"github.com/troupe-go/troupe/actors/python/wasm"
	"github.com/troupe-go/troupe/messages"
)

// A run's Python at level wasm.
func TestLevelWasm(t *testing.T) {
	folder, err := troupe.PythonFolder("")
	require.NoError(t, err)
	npm, err := exec.LookPath("npm")
	require.NoError(t, err)
	_, err = wasm.Install(t.Context(), wasm.InstallOptions{CacheDir: folder, NPM: npm})
	require.NoError(t, err)
	s := setup(t, acts("final_answer(6 * 7)"), func(c *troupe.Config) {
		c.Driver, c.Sandbox.Level = nil, messages.SandboxWasm
	})
	require.Equal(t, messages.SandboxWasm, s.Sandbox().Level)
	require.Equal(t, "42", last(s.run(troupe.RunRequest{})).Content)
}
