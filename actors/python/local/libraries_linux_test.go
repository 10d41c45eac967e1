//go:build amd64 || arm64

package local

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Only a system that has no glibc is told so.
func TestMissingLibraries(t *testing.T) {
	_, err := findLibrary("libnothing.so.9")
	require.ErrorIs(t, err, errLibc)
	require.ErrorIs(t, missing(os.ErrNotExist), errLibc)
	require.NotErrorIs(t, missing(os.ErrPermission), errLibc)

	empty := filepath.Join(t.TempDir(), "python")
	require.NoError(t, os.WriteFile(empty, nil, 0o700))
	for name, exe := range map[string]string{"a damaged interpreter": empty, "none": empty + "-none"} {
		t.Run(name, func(t *testing.T) {
			_, err := findLibraries(exe)
			require.Error(t, err)
			require.NotErrorIs(t, err, errLibc)
		})
	}
}
