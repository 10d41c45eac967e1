//go:build unix

package config_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/bridge/config"
)

// Reading a FIFO would wait for somebody to write, a device may never end.
func TestLoadReadsRegularFilesOnly(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
	for _, path := range []string{fifo, os.DevNull} {
		_, err := config.Load(path, nil)
		require.ErrorContains(t, err, "expected a configuration file, got no regular file")
		require.ErrorAs(t, err, new(config.Faults))
	}
}
