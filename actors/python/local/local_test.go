//go:build (linux || darwin) && (amd64 || arm64)

package local_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/actors/python/local"
	"github.com/troupe-go/troupe/actors/python/pythontest"
	"github.com/troupe-go/troupe/messages"
)

// tolerant goes on without walls: the programs are ours and harmless.
var tolerant = local.Config{Sandbox: messages.SandboxConfig{Unsafe: true}}

// open makes a driver; without a folder it shares the user's with package
// troupe, so that the interpreter is unpacked once.
func open(t testing.TB, cfg local.Config) (*local.Driver, error) {
	if cfg.CacheDir == "" {
		dir, err := os.UserCacheDir()
		require.NoError(t, err)
		cfg.CacheDir = filepath.Join(dir, "troupe", "python")
	}
	return local.New(cfg)
}

func setup(t testing.TB, cfg local.Config) *local.Driver {
	d, err := open(t, cfg)
	require.NoError(t, err)
	t.Cleanup(d.Close)
	require.NoError(t, d.Prepare(t.Context()))
	return d
}

func start(t testing.TB, d *local.Driver) python.Interpreter {
	it, err := d.Start(t.Context(), python.NewSpec(messages.SandboxConfig{}, nil, nil, messages.EN))
	require.NoError(t, err)
	t.Cleanup(it.Close)
	return it
}

func pid(it python.Interpreter) int { return it.(interface{ PID() int }).PID() }

func gone(pid int) bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

func run(t testing.TB, it python.Interpreter, code string) *python.Outcome {
	out, err := it.Exec(t.Context(), python.Block{Code: code}, pythontest.NewStubs())
	require.NoError(t, err)
	return out
}

// What was started is not left behind when the start fails after all.
func TestStartFailsAfterTheFork(t *testing.T) {
	d := setup(t, tolerant)
	why := errors.New("no")
	local.FailNonblock(d, why)
	_, err := d.Start(t.Context(), python.NewSpec(messages.SandboxConfig{}, nil, nil, messages.EN))
	require.ErrorIs(t, err, why)
	_, err = syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
	require.ErrorIs(t, err, syscall.ECHILD, "this process has no child")
}

func TestPython(t *testing.T) {
	t.Run("local", func(t *testing.T) {
		pythontest.Run(t, func(t testing.TB) python.Driver { return setup(t, tolerant) })
	})
}

func TestDescribe(t *testing.T) {
	d := setup(t, tolerant)
	out := run(t, start(t, d), "import random\nrandom._os.sys.version.split()[0]")
	desc := d.Describe()
	require.Equal(t, messages.SandboxLocal, desc.Level)
	require.Equal(t, "CPython "+out.Repr, desc.Version)
	require.Len(t, desc.Hash, 16)
}

func TestKilledFromOutside(t *testing.T) {
	d := setup(t, tolerant)
	it, err := d.Start(t.Context(), python.NewSpec(messages.SandboxConfig{}, pythontest.ToolNames(), nil, messages.EN))
	require.NoError(t, err)
	defer it.Close()
	stubs := pythontest.NewStubs()
	go func() {
		<-stubs.Waiting()
		_ = syscall.Kill(pid(it), syscall.SIGKILL) // the outcome shows whether it worked
	}()
	out, err := it.Exec(t.Context(), python.Block{Code: "print('kept')\nwait()"}, stubs)
	require.NoError(t, err)
	require.Equal(t, python.KilledDied, out.Killed)
	require.Equal(t, "kept\n", out.Output)
	_, err = it.Exec(t.Context(), python.Block{Code: "1"}, stubs)
	require.ErrorIs(t, err, python.ErrGone)
}

func TestEnvironment(t *testing.T) {
	t.Setenv("CANARY", "leak-42")
	out := run(t, start(t, setup(t, tolerant)), "import random\nsorted(random._os.environ)")
	require.JSONEq(t, `["MALLOC_ARENA_MAX","PYTHONHASHSEED","PYTHONHOME"]`, string(out.Value))
}

func TestHashSeedIsConstant(t *testing.T) {
	d := setup(t, tolerant)
	require.Equal(t, run(t, start(t, d), "hash('a')").Repr, run(t, start(t, d), "hash('a')").Repr)
}

// TestNothingIsLeft is BOX-08 as far as the level goes.
func TestNothingIsLeft(t *testing.T) {
	d := setup(t, tolerant)
	files := len(openFiles(t))
	var pids []int
	for i := range 20 {
		it := start(t, d)
		pids = append(pids, pid(it))
		ctx, cancel := context.WithCancel(t.Context())
		code := []string{"1", "1/0", "while True: pass"}[i%3]
		if i%3 == 2 {
			time.AfterFunc(5*time.Millisecond, cancel)
		}
		_, err := it.Exec(ctx, python.Block{Code: code}, pythontest.NewStubs())
		require.NoError(t, err)
		cancel()
		it.Close()
	}
	for _, pid := range pids {
		require.True(t, gone(pid))
	}
	require.Len(t, openFiles(t), files)
}

func openFiles(t *testing.T) []string {
	paths, err := filepath.Glob("/dev/fd/*")
	require.NoError(t, err)
	return paths
}

func TestClose(t *testing.T) {
	d := setup(t, tolerant)
	it := start(t, d)
	d.Close()
	d.Close()
	require.True(t, gone(pid(it)), "closing a driver ends its interpreters")
	_, err := it.Exec(t.Context(), python.Block{Code: "1"}, pythontest.NewStubs())
	require.ErrorIs(t, err, python.ErrGone)
	_, err = d.Start(t.Context(), python.Spec{})
	require.Equal(t, "sandbox_closed", messages.AsFault(err).Code)
}

func TestParallelStarts(t *testing.T) {
	d := setup(t, tolerant)
	var all sync.WaitGroup
	for i := range 8 {
		it := start(t, d)
		all.Go(func() {
			code, _ := json.Marshal(i) // an int always encodes
			out, err := it.Exec(t.Context(), python.Block{Code: string(code)}, pythontest.NewStubs())
			if err != nil || string(out.Value) != string(code) {
				t.Errorf("%d: %v %+v", i, err, out)
			}
		})
	}
	all.Wait()
}

func TestCacheFolderIsRefused(t *testing.T) {
	_, err := local.New(tolerant)
	require.Equal(t, "sandbox_cache", messages.AsFault(err).Code, "none was given")

	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	d, err := local.New(local.Config{CacheDir: file, Sandbox: messages.SandboxConfig{Unsafe: true}})
	require.NoError(t, err)
	defer d.Close()
	require.Equal(t, "sandbox_cache", messages.AsFault(d.Prepare(t.Context())).Code)
}
