package wasm

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/troupe-go/troupe/actors/python/guest"
	"github.com/troupe-go/troupe/actors/python/internal/cachedir"
	"github.com/troupe-go/troupe/actors/python/wasm/internal/rewrite"
)

const (
	// heads is how many loop heads lie between two calls of the host: some
	// 100 µs.
	heads = 4000
	// stackPages is the room for C code, in pages of 64 KiB: 8 MiB, as much as a
	// process of Linux has. The module comes with 512 KiB, at whose end it traps.
	stackPages = 128
	// oldStack is where the stack of the module begins, in bytes.
	oldStack = 512 << 10
	// layout counts changes of how the module is changed.
	layout = "2"
	// maxModule bounds the changed module, in bytes; it has 13 MB.
	maxModule = 64 << 20
	// maxDriver bounds the compiled driver program, in bytes; it has some 60 KB.
	maxDriver = 4 << 20
	// compileMemory is what the interpreter may use to compile it, in bytes.
	compileMemory = 256 << 20
)

//go:embed boot/*.py
var boot embed.FS

// rewriting is how the module is changed: sched_yield is a function that the
// module imports anyway.
func rewriting() rewrite.Options {
	return rewrite.Options{Module: wasi_snapshot_preview1.ModuleName, Function: "sched_yield", Count: heads, Stack: stackPages, OldStack: oldStack}
}

// preparedModule gives the changed module, from the cache folder when it is
// there. The caller holds the lock.
func preparedModule(cacheDir string, progress func(Step)) ([]byte, error) {
	folder := filepath.Join(cacheDir, fmt.Sprintf("module-%s-%s-%d", pythonVersion, layout, heads))
	err := cachedir.Once(folder, true, func(tmp string) error {
		progress(StepPrepare)
		original, err := readBounded(filepath.Join(originalFolder(cacheDir), moduleFile), moduleSize)
		if err != nil {
			return ErrNotInstalled.With(err)
		}
		if hash := sha256.Sum256(original); hex.EncodeToString(hash[:]) != moduleHash {
			return errors.Join(ErrNotInstalled.With(errors.New("the module is damaged")), os.RemoveAll(originalFolder(cacheDir)))
		}
		module, _, err := rewrite.Rewrite(original, rewriting())
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(tmp, moduleFile), module, 0o600)
	})
	if err != nil {
		return nil, err
	}
	return readBounded(filepath.Join(folder, moduleFile), maxModule)
}

// preparedDriver gives the compiled driver program as boot.py takes it, from
// the cache folder when it is there. The caller holds the lock.
func preparedDriver(ctx context.Context, cacheDir string, e *engine) ([]byte, error) {
	hash, err := guest.Hash()
	if err != nil {
		return nil, err
	}
	folder := filepath.Join(cacheDir, fmt.Sprintf("driver-%s-%s-%s", pythonVersion, layout, hash))
	const file = "driver.bin"
	err = cachedir.Once(folder, true, func(tmp string) error {
		program, err := e.compileDriver(ctx)
		if err != nil {
			return fmt.Errorf("compile the driver program: %w", err)
		}
		return os.WriteFile(filepath.Join(tmp, file), program, 0o600)
	})
	if err != nil {
		return nil, err
	}
	program, err := readBounded(filepath.Join(folder, file), maxDriver)
	if err != nil {
		return nil, err
	}
	return append(fmt.Appendf(nil, "%010d", len(program)), program...), nil
}

// compileDriver lets the interpreter compile the driver program.
func (e *engine) compileDriver(ctx context.Context) ([]byte, error) {
	sources, err := driverSources()
	if err != nil {
		return nil, err
	}
	i, err := newInstance(compileMemory)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	defer context.AfterFunc(ctx, func() { i.Kill("") })()
	go i.run(e.runtime, e.code, argv("compile.py"))
	_, err = i.commands.Write(sources)
	i.commands.end()
	program, failed := readAll(i.messages, maxDriver)
	if failed != nil {
		i.Kill("")
	}
	return program, errors.Join(err, failed, ctx.Err(), i.fault())
}

// driverSources gives the driver program's files, as compile.py takes them.
func driverSources() ([]byte, error) {
	files := map[string]string{}
	err := fs.WalkDir(guest.Files(), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(guest.Files(), path)
		files[path] = string(text)
		return err
	})
	if err != nil {
		return nil, err
	}
	return json.Marshal(files)
}

// argv is the interpreter's command line, for one of the programs in boot: no
// user site, no site, no unsafe path, no byte code written.
func argv(program string) []string {
	text, err := fs.ReadFile(boot, "boot/"+program)
	if err != nil {
		panic("a file that is embedded is missing: " + program)
	}
	return []string{"python", "-s", "-S", "-P", "-B", "-X", "utf8", "-c", string(text)}
}
