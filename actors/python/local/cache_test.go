//go:build (linux || darwin) && (amd64 || arm64)

package local

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/actors/python/internal/cachedir"
	"github.com/troupe-go/troupe/messages"
)

func TestDropWall(t *testing.T) {
	var w walls
	w.add("landlock", "", "", true)
	before := w
	_, ok := w.drop("landlock", "why", false)
	require.False(t, ok, "a required wall stays")
	_, ok = w.drop("unknown", "why", true)
	require.False(t, ok)
	dropped, ok := w.drop("landlock", "why", true)
	require.True(t, ok)
	require.Equal(t, "why", dropped.Why)
	require.False(t, w.has("landlock"))
	require.True(t, before.has("landlock"), "copies are not touched")
}

// damages are what has been seen, or could be: of the interpreter's folder and
// of the driver program's.
func damages(in *installation) map[string]func() error {
	module := filepath.Join(in.driver, "_troupe", "__pycache__", "main.cpython-314.pyc")
	return map[string]func() error{
		"an empty interpreter": func() error { return os.Truncate(in.exe, 0) },
		"no interpreter":       func() error { return os.Remove(in.exe) },
		"one that can't run":   func() error { return os.Chmod(in.exe, 0o600) },
		"no encodings":         func() error { return os.RemoveAll(filepath.Join(in.home, "lib", pythonRelease, "encodings")) },
		"no driver program":    func() error { return os.RemoveAll(filepath.Join(in.driver, "_troupe")) },
		"half a module of it":  func() error { return os.Truncate(module, 100) },
		"no list":              func() error { return os.Remove(filepath.Join(in.home, cachedir.ManifestName)) },
		"half a list":          func() error { return os.Truncate(filepath.Join(in.home, cachedir.ManifestName), 1000) },
		"no folder at all":     func() error { return os.RemoveAll(in.home) },
	}
}

// copyTree copies a folder with its modes.
func copyTree(to, from string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := filepath.Join(to, strings.TrimPrefix(path, from))
		info, err := d.Info()
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(target, info.Mode().Perm())
		}
		text, err := os.ReadFile(path)
		return errors.Join(err, os.WriteFile(target, text, info.Mode().Perm()), os.Chmod(target, info.Mode().Perm()))
	})
}

func TestDamage(t *testing.T) {
	user, err := os.UserCacheDir()
	require.NoError(t, err)
	good, err := install(t.Context(), filepath.Join(user, "troupe", "python"), true)
	require.NoError(t, err)
	// Small folders in the place of the real ones, with the files that matter.
	dir := t.TempDir()
	in := &installation{home: filepath.Join(dir, "home"), driver: filepath.Join(dir, "driver"), root: dir}
	in.exe = filepath.Join(in.home, "bin", pythonRelease)
	fill := func(t *testing.T) {
		encodings := filepath.Join("lib", pythonRelease, "encodings")
		require.NoError(t, cachedir.Once(in.home, true, func(tmp string) error {
			return errors.Join(copyTree(filepath.Join(tmp, encodings), filepath.Join(good.home, encodings)),
				os.Mkdir(filepath.Join(tmp, "bin"), 0o700), os.WriteFile(filepath.Join(tmp, "bin", pythonRelease), []byte("x"), 0o700))
		}))
		require.NoError(t, cachedir.Once(in.driver, true, func(tmp string) error {
			return copyTree(filepath.Join(tmp, "_troupe"), filepath.Join(good.driver, "_troupe"))
		}))
		require.NoError(t, in.damage(true))
	}
	for name, damage := range damages(in) {
		t.Run(name, func(t *testing.T) {
			fill(t)
			require.NoError(t, damage())
			require.Error(t, in.damage(false), "the quick look sees it")
			fill(t)
			left, err := filepath.Glob(filepath.Join(dir, "tmp-*"))
			require.NoError(t, err)
			require.Empty(t, left)
		})
	}
	t.Run("other content of the same size", func(t *testing.T) {
		fill(t)
		require.NoError(t, os.WriteFile(in.exe, []byte("y"), 0o700))
		require.NoError(t, in.damage(false))
		require.ErrorContains(t, in.damage(true), pythonRelease)
		fill(t)
	})
}

// A damaged folder is repaired where it is found: at a driver's first use, or
// when a start fails. The interpreter, a second copy of it, is real.
func TestRepair(t *testing.T) {
	user, err := os.UserCacheDir()
	require.NoError(t, err)
	good, err := install(t.Context(), filepath.Join(user, "troupe", "python"), false)
	require.NoError(t, err)
	dir := t.TempDir()
	for _, path := range []string{good.home, good.driver} {
		require.NoError(t, copyTree(filepath.Join(dir, filepath.Base(path)), path))
	}
	starts := func(t *testing.T, d *Driver) {
		it, err := d.Start(t.Context(), python.NewSpec(messages.SandboxConfig{}, nil, nil, messages.EN))
		if assert.NoError(t, err) { // on any goroutine
			it.Close()
		}
	}
	setup := func(t *testing.T) *Driver {
		d, err := New(Config{CacheDir: dir, Sandbox: messages.SandboxConfig{Unsafe: true}})
		require.NoError(t, err)
		t.Cleanup(d.Close)
		return d
	}
	in, err := install(t.Context(), dir, true)
	require.NoError(t, err)
	for name, damage := range damages(&installation{home: in.home, exe: in.exe, driver: in.driver}) {
		if name != "no driver program" && name != "half a module of it" {
			continue // to unpack the interpreter takes seconds: once, below
		}
		t.Run(name+" at first use", func(t *testing.T) {
			require.NoError(t, damage())
			starts(t, setup(t))
			require.NoError(t, in.damage(true))
		})
	}
	t.Run("when a start fails", func(t *testing.T) {
		d := setup(t)
		starts(t, d)
		require.NoError(t, os.Truncate(in.exe, 0))
		require.NoError(t, os.RemoveAll(filepath.Join(in.driver, "_troupe")))
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() { starts(t, d) })
		}
		all.Wait()
		require.NoError(t, in.damage(true))
	})
}

func BenchmarkDamage(b *testing.B) {
	user, err := os.UserCacheDir()
	require.NoError(b, err)
	in, err := install(b.Context(), filepath.Join(user, "troupe", "python"), false)
	require.NoError(b, err)
	for name, whole := range map[string]bool{"quick": false, "whole": true} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				require.NoError(b, in.damage(whole))
			}
		})
	}
}
