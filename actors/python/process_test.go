//go:build (linux || darwin) && (amd64 || arm64)

package python_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/actors/python/local"
	"github.com/troupe-go/troupe/messages"
)

// watchedDriver tells the process ids of what it starts.
type watchedDriver struct {
	python.Driver
	pids chan int
}

func (d *watchedDriver) Start(ctx context.Context, s python.Spec) (python.Interpreter, error) {
	it, err := d.Driver.Start(ctx, s)
	if err == nil {
		d.pids <- it.(interface{ PID() int }).PID()
	}
	return it, err
}

// openLocal makes a driver of real interpreters, without walls: the programs
// are ours.
func openLocal(t *testing.T) *local.Driver {
	cache, err := os.UserCacheDir()
	require.NoError(t, err)
	d, err := local.New(local.Config{CacheDir: filepath.Join(cache, "troupe", "python"), Sandbox: messages.SandboxConfig{Unsafe: true}})
	require.NoError(t, err)
	t.Cleanup(d.Close)
	require.NoError(t, d.Prepare(t.Context()))
	return d
}

// TestExecutorOfAProcess drives the actor over real processes, one of which is
// killed from outside.
func TestExecutorOfAProcess(t *testing.T) {
	d := openLocal(t)
	w := &watchedDriver{Driver: d, pids: make(chan int, 4)}
	b := setup(t, w)
	defer b.stop()

	require.JSONEq(t, "1", string(b.run(1, "x = 1").Value))
	first := <-w.pids
	b.send(&messages.Execute{ID: 2, Code: "print('before')\ntool(x)"})
	call := next[*messages.CallTool](b)
	require.JSONEq(t, "1", string(call.Args[0]))
	require.NoError(t, syscall.Kill(first, syscall.SIGKILL))
	out := next[*messages.Executed](b)
	require.Equal(t, python.KilledDied, out.Killed)
	require.Equal(t, "before\n", out.Output)

	out = b.run(3, "x")
	require.Equal(t, "NameError", out.Err.Type)
	second := <-w.pids
	b.stop()
	require.Eventually(t, func() bool { return errors.Is(syscall.Kill(second, 0), syscall.ESRCH) }, 5*time.Second, time.Millisecond)
}
