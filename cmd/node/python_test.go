package main

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/python/wasm"
)

// fakePython is a store that holds what it is told.
type fakePython struct {
	from string
	held *wasm.Installation
	err  error
}

func (f *fakePython) Install(_ context.Context, file string, progress func(wasm.Step)) (wasm.Installation, error) {
	f.from = file
	for _, s := range []wasm.Step{wasm.StepFetch, wasm.StepPrepare, wasm.StepCompile} {
		progress(s)
	}
	if f.err != nil {
		return wasm.Installation{}, f.err
	}
	f.held = &wasm.Installation{Package: "@x/python 3.12.0", Version: "3.12.0", Folder: "/cache/python", Size: 77_500_000, SHA256: "abc"}
	return *f.held, nil
}

func (f *fakePython) Installed() (wasm.Installation, error) {
	if f.held == nil {
		return wasm.Installation{}, wasm.ErrNotInstalled
	}
	return *f.held, nil
}

func TestPythonInstall(t *testing.T) {
	b := setup(t)
	require.Equal(t, exitNoAnswer, b.main("python", "status"))
	require.Contains(t, b.err.String(), "run: troupe python install")
	b.err.Reset()

	require.Equal(t, exitAnswered, b.main("python", "install", "--from", "x.tgz"))
	require.Equal(t, "x.tgz", b.store.from)
	require.Equal(t, 2, strings.Count(b.err.String(), "\n"), "fetching and compiling are told on stderr: %q", b.err)
	require.Equal(t, "Python 3.12.0 is installed: @x/python 3.12.0 in /cache/python (74 MiB)\n", b.out.String())
	b.out.Reset()

	require.Equal(t, exitAnswered, b.main("python", "status", "--json"))
	require.JSONEq(t, `{"package":"@x/python 3.12.0","version":"3.12.0","folder":"/cache/python","size":77500000,"sha256":"abc"}`, b.out.String())
	b.out.Reset()

	require.Equal(t, exitAnswered, b.main("python", "status", "--lang", "zh"))
	require.NotEmpty(t, firstHan(b.out.String()))
}

func TestPythonInstallFails(t *testing.T) {
	b := setup(t)
	b.store.err = wasm.ErrPlatform.With(errors.New("riscv64"))
	require.Equal(t, exitNoAnswer, b.main("python", "install"))
	require.Contains(t, b.err.String(), "riscv64")
	require.Empty(t, b.out.String())

	require.Equal(t, exitUsage, b.main("python", "install", "x.tgz"))
	require.Equal(t, exitUsage, b.main("python", "remove"))
}
