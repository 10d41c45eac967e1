//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly || windows)

package cachedir

import (
	"context"
	"errors"
	"io/fs"
)

// Lock fails: there are no file locks here.
func Lock(context.Context, string) (func(), error) {
	return nil, errors.ErrUnsupported
}

// checkOwner fails: nobody can say whom a folder belongs to.
func checkOwner(string, fs.FileInfo) error { return errors.ErrUnsupported }
