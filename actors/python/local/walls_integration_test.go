//go:build integration

package local_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/actors/python/local"
	"github.com/troupe-go/troupe/actors/python/pythontest"
)

// TestPythonBehindWalls runs the whole contract, and what tries to get out,
// where every wall stands and where those that are not required are missing.
func TestPythonBehindWalls(t *testing.T) {
	for name, cfg := range map[string]local.Config{
		"local":          {},
		"local-warm":     {Warm: 2},
		"local-required": local.Without(local.Config{}, "namespaces", "exec_once"),
	} {
		t.Run(name, func(t *testing.T) {
			walled := func(t testing.TB) python.Driver { return setup(t, cfg) }
			pythontest.Run(t, walled)
			pythontest.RunHostile(t, walled)
		})
	}
}

func TestEveryWallStands(t *testing.T) {
	d := setup(t, local.Config{})
	start(t, d)
	require.Empty(t, d.Describe().Missing)
	require.Subset(t, d.Describe().Walls, []string{"landlock", "seccomp", "exec_once", "namespaces", "rlimits", "privileges"})
}
