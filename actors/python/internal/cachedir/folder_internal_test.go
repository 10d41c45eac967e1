//go:build linux || darwin

package cachedir

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestOnce(t *testing.T) {
	target := filepath.Join(t.TempDir(), "made")
	failed := errors.New("half way")
	err := Once(target, false, func(tmp string) error {
		require.NoError(t, os.WriteFile(filepath.Join(tmp, "part"), nil, 0o600))
		return failed
	})
	require.ErrorIs(t, err, failed)
	left, err := os.ReadDir(filepath.Dir(target))
	require.NoError(t, err)
	require.Empty(t, left, "a failure leaves nothing")

	require.NoError(t, Once(target, false, func(tmp string) error { return os.WriteFile(filepath.Join(tmp, "part"), nil, 0o600) }))
	require.FileExists(t, filepath.Join(target, "part"))
	require.NoError(t, Once(target, false, func(string) error { return failed }), "what is there is left as it is")
}

func TestLeftoversAreRemoved(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "tmp-1", "part"), 0o700))
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "kept"), 0o700))
	require.NoError(t, RemoveLeftovers(dir))
	require.NoDirExists(t, filepath.Join(dir, "tmp-1"))
	require.DirExists(t, filepath.Join(dir, "kept"))
}

func TestOwnFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	require.NoError(t, Own(dir))
	require.NoError(t, os.Chmod(dir, 0o777))
	require.NoError(t, Own(dir))
	info, err := os.Stat(dir)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
}

func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	var inside atomic.Int32
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			unlock, err := Lock(t.Context(), path)
			if err != nil || inside.Add(1) != 1 {
				t.Errorf("not alone: %v", err)
			}
			inside.Add(-1)
			unlock()
		})
	}
	all.Wait()

	unlock, err := Lock(t.Context(), path)
	require.NoError(t, err)
	defer unlock()
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	_, err = Lock(ctx, path)
	require.ErrorIs(t, err, context.DeadlineExceeded)
}
