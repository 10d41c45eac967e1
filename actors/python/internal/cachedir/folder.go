// Package cachedir keeps what is made once in folders that nobody else may
// touch: whole or not at all, and with a list that shows damage.
//
// # Concurrency
//
// Everything may be called from any goroutine, and from several processes at
// a time under [Lock]. Nothing here starts a goroutine.
package cachedir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Own makes dir, or checks that nobody else can have put things there.
func Own(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if err := checkOwner(dir, info); err != nil {
		return err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return os.Chmod(dir, 0o700)
	}
	return nil
}

// RemoveLeftovers removes what a process that was killed in the middle left.
// Under the lock nobody else is in the middle.
func RemoveLeftovers(dir string) error {
	paths, err := filepath.Glob(filepath.Join(dir, "tmp-*"))
	for _, path := range paths {
		err = errors.Join(err, os.RemoveAll(path))
	}
	return err
}

// Once makes the folder target with fill, which gets a temporary one beside
// it; a rename makes it appear whole, with its manifest. An existing target is
// left as it is, or replaced when it is damaged.
func Once(target string, whole bool, fill func(tmp string) error) error {
	if Check(target, whole) == nil {
		return nil
	}
	tmp, err := os.MkdirTemp(filepath.Dir(target), "tmp-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp) // after the rename there is nothing left
	if err := fill(tmp); err != nil {
		return err
	}
	if err := readable(tmp); err != nil {
		return err
	}
	if err := writeManifest(tmp); err != nil {
		return err
	}
	damaged := tmp + "-damaged"
	if err := os.Rename(target, damaged); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Rename(tmp, target); err != nil {
		return err
	}
	return os.RemoveAll(damaged)
}

// readable lets everybody read what is in dir, whatever the umask is: root's
// interpreters run as nobody. Other users don't get to it, as the cache folder
// around it is closed to them.
func readable(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		mode := fs.FileMode(0o644)
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			return nil
		case info.Mode()&0o100 != 0:
			mode = 0o755
		}
		return os.Chmod(path, mode)
	})
}
