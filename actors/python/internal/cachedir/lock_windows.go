package cachedir

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// lockRetry is how often a held lock is tried again: LockFileEx can't be given
// a context.
const lockRetry = 50 * time.Millisecond

// Lock waits for the file's lock, which ends with the process at the latest.
func Lock(ctx context.Context, path string) (func(), error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	ticker := time.NewTicker(lockRetry)
	defer ticker.Stop()
	for {
		err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &windows.Overlapped{})
		if err == nil {
			return func() { f.Close() }, nil // a close gives the lock back
		}
		if !errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
			return nil, errors.Join(err, f.Close())
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), f.Close())
		case <-ticker.C:
		}
	}
}

// checkOwner: a folder in a user's profile has that user's permissions.
func checkOwner(string, fs.FileInfo) error { return nil }
