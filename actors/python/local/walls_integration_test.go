//go:build integration

package local_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/actors/python/local"
	"github.com/troupe-go/troupe/actors/python/pythontest"
	"github.com/troupe-go/troupe/messages"
)

// TestPythonBehindWalls runs the whole contract, and what tries to get out,
// where every wall stands. Tests of escapes (tests/escape) do so where some
// can't be had.
func TestPythonBehindWalls(t *testing.T) {
	t.Run("local", func(t *testing.T) {
		walled := func(t testing.TB) python.Driver { return setup(t, local.Config{}) }
		pythontest.Run(t, walled)
		pythontest.RunHostile(t, walled)
	})
}

func TestEveryWallStands(t *testing.T) {
	d := setup(t, local.Config{})
	it := start(t, d)
	require.Empty(t, d.Describe().Missing)
	require.Subset(t, d.Describe().Walls, []string{"landlock", "seccomp", "exec_once", "namespaces", "rlimits", "privileges"})
	if os.Geteuid() == 0 {
		require.Contains(t, d.Describe().Walls, "user")
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid(it)))
		require.NoError(t, err)
		require.Contains(t, string(status), "Uid:\t65534\t65534\t65534\t65534\n")
		require.Contains(t, string(status), "Groups:\t \n", "none")
	}
}

// What a wall makes fail oddly is told in words.
func TestForeignFunctionsAreRefusedInWords(t *testing.T) {
	d := setup(t, local.Config{})
	for lang, want := range map[string]string{messages.EN: "can't be used in this sandbox", messages.ZH: "不能在此沙箱中使用"} {
		it, err := d.Start(t.Context(), python.NewSpec(messages.SandboxConfig{}, nil, []string{"ctypes"}, lang))
		require.NoError(t, err)
		for _, code := range []string{"import ctypes", "from ctypes import util", "import ctypes.util"} {
			out := run(t, it, code)
			require.NotNil(t, out.Err)
			require.Equal(t, "ImportError", out.Err.Type, "%+v", out.Err)
			require.Contains(t, out.Err.Message, want)
		}
		require.JSONEq(t, "2", string(run(t, it, "1 + 1").Value))
		it.Close()
	}
}
