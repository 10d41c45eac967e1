package main

import (
	"context"
	"os/exec"

	"github.com/troupe-go/troupe"
	"github.com/troupe-go/troupe/actors/python/wasm"
)

// userPython is the interpreter in the user's cache folder.
type userPython struct{}

// Install implements pythonStore.
func (userPython) Install(ctx context.Context, file string, progress func(wasm.Step)) (wasm.Installation, error) {
	folder, err := troupe.PythonFolder("")
	if err != nil {
		return wasm.Installation{}, err
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		npm = "" // the installation says so where it needs one
	}
	return wasm.Install(ctx, wasm.InstallOptions{CacheDir: folder, NPM: npm, File: file, Progress: progress})
}

// Installed implements pythonStore.
func (userPython) Installed() (wasm.Installation, error) {
	folder, err := troupe.PythonFolder("")
	if err != nil {
		return wasm.Installation{}, err
	}
	return wasm.Installed(folder)
}
