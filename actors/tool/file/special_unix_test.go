//go:build unix

package file_test

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGuardRefusesSpecialFiles(t *testing.T) {
	d := setup(t, "w")
	require.NoError(t, syscall.Mkfifo(filepath.Join(d.dir, "pipe"), 0o644))
	_, err := d.read("pipe") // would wait for ever for a writer
	require.Equal(t, "not_a_file", code(err))
	_, err = d.create("pipe")
	require.Equal(t, "not_a_file", code(err))
}
