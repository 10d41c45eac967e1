package wasm

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"time"
)

const (
	// fetchTime bounds npm's work; the package has 12 MB.
	fetchTime = 10 * time.Minute
	// fetchSize bounds what npm may write, in bytes: the package, packed and
	// unpacked, and as much again.
	fetchSize = 128 << 20
	// sizeCheck is how often that is looked at.
	sizeCheck = 100 * time.Millisecond
)

// fetchWithNPM lets the user's npm client fetch the package, so that the
// user's registry, proxy and keys count. No script of a package runs; npm
// checks the hash of the lock file.
func fetchWithNPM(ctx context.Context, npm, cacheDir string) (contents, error) {
	if npm == "" {
		return contents{}, errNoNPM
	}
	tmp, err := os.MkdirTemp(cacheDir, "tmp-")
	if err != nil {
		return contents{}, err
	}
	defer os.RemoveAll(tmp)
	err = errors.Join(
		os.WriteFile(filepath.Join(tmp, "package.json"), packageJSON, 0o600),
		os.WriteFile(filepath.Join(tmp, "package-lock.json"), packageLock, 0o600))
	if err != nil {
		return contents{}, err
	}
	if err := runNPM(ctx, npm, tmp); err != nil {
		return contents{}, err
	}
	folder := filepath.Join(tmp, "node_modules", filepath.FromSlash(packageName))
	module, err := readBounded(filepath.Join(folder, "dist", moduleFile), moduleSize)
	if err != nil {
		return contents{}, errIntegrity.With(err)
	}
	license, err := readBounded(filepath.Join(folder, licenseFile), maxLicense)
	if err != nil {
		return contents{}, errIntegrity.With(err)
	}
	return contents{module: module, license: license}, nil
}

// errTooMuch ends an npm that writes without end.
var errTooMuch = fmt.Errorf("npm wrote more than %d bytes", fetchSize)

// runNPM installs what the lock file in dir says, with a cache of its own so
// that all it writes is in dir.
func runNPM(ctx context.Context, npm, dir string) error {
	ctx, timeout := context.WithTimeout(ctx, fetchTime)
	defer timeout()
	ctx, cancel := context.WithCancelCause(ctx)
	cmd := exec.CommandContext(ctx, npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier",
		"--loglevel=error", "--cache", filepath.Join(dir, "cache"))
	complaint := limitedBuffer{limit: 16 << 10}
	cmd.Dir, cmd.Stderr, cmd.WaitDelay = dir, &complaint, 5*time.Second
	var watch sync.WaitGroup
	watch.Go(func() { watchSize(ctx, dir, cancel) })
	err := cmd.Run()
	cancel(nil)
	watch.Wait()
	if err == nil {
		return nil
	}
	if cause := context.Cause(ctx); errors.Is(cause, errTooMuch) {
		return errIntegrity.With(cause)
	} else if errors.Is(cause, context.DeadlineExceeded) {
		return errNetwork.With(cause)
	}
	return npmFault(err, complaint.String())
}

// watchSize ends what writes too much.
func watchSize(ctx context.Context, dir string, cancel context.CancelCauseFunc) {
	ticker := time.NewTicker(sizeCheck)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if sizeOf(dir) > fetchSize {
				cancel(errTooMuch)
				return
			}
		}
	}
}

// sizeOf gives the bytes in a folder in which somebody is at work.
func sizeOf(dir string) int64 {
	var size int64
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // it went away
		}
		if info, err := d.Info(); err == nil && d.Type().IsRegular() {
			size += info.Size()
		}
		return nil
	})
	return size
}

// npmCode and npmReason find what npm says went wrong.
var (
	npmCode   = regexp.MustCompile(`npm (?:error|ERR!) code (E?[A-Z0-9_]{1,40})`)
	npmReason = regexp.MustCompile(`reason: ([^\n]{1,200})`)
)

// npmFault says what went wrong by npm's code for it. The rest of what npm
// says is left out, as it names the user's registry.
func npmFault(err error, complaint string) error {
	code := "unknown"
	if m := npmCode.FindStringSubmatch(complaint); m != nil {
		code = m[1]
	}
	why := fmt.Errorf("npm ended with code %s: %w", code, err)
	if m := npmReason.FindStringSubmatch(complaint); m != nil {
		why = fmt.Errorf("npm ended with code %s (%s): %w", code, m[1], err)
	}
	switch code {
	case "EINTEGRITY":
		return errIntegrity.With(why)
	case "ENOSPC", "EACCES", "EPERM", "EROFS", "EDQUOT":
		return errCache.With(why)
	}
	return errNetwork.With(why)
}
