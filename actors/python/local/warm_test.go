//go:build (linux || darwin) && (amd64 || arm64)

package local_test

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/actors/python/local"
	"github.com/troupe-go/troupe/messages"
)

// warmed makes a driver that keeps n interpreters, which are ready.
func warmed(t testing.TB, n int) *local.Driver {
	cfg := tolerant
	cfg.Warm = n
	d := setup(t, cfg)
	ready(t, d, n)
	return d
}

func ready(t testing.TB, d *local.Driver, n int) {
	require.Eventually(t, func() bool { return local.Ready(d) == n }, 20*time.Second, time.Millisecond)
}

func TestWarm(t *testing.T) {
	d := warmed(t, 2)
	kept := local.Idle(d)
	require.Len(t, kept, 2)
	first, second := start(t, d), start(t, d)
	require.ElementsMatch(t, kept, []int{pid(first), pid(second)}, "they are given out, each once")
	require.Equal(t, "2", run(t, first, "1 + 1").Repr)
	require.Equal(t, "4", run(t, second, "2 + 2").Repr)
	ready(t, d, 2)
	require.NotSubset(t, []int{pid(first), pid(second)}, local.Idle(d), "others take their place")
}

// A kept interpreter takes the spec of the run that gets it.
func TestWarmTakesItsSpec(t *testing.T) {
	d := warmed(t, 1)
	kept := local.Idle(d)
	it, err := d.Start(t.Context(), python.NewSpec(messages.SandboxConfig{OutputLimit: 1 << 10}, []string{"lookup"}, nil, messages.ZH))
	require.NoError(t, err)
	t.Cleanup(it.Close)
	require.Equal(t, []int{pid(it)}, kept)
	out := run(t, it, "print('x' * 5000)\nlookup")
	require.Nil(t, out.Err)
	require.Less(t, len(out.Output), 2<<10)
	require.NotEmpty(t, out.Repr)
}

// One that dies while it is kept is nobody's concern.
func TestWarmThatDied(t *testing.T) {
	d := warmed(t, 1)
	dead := local.Idle(d)
	require.NoError(t, syscall.Kill(dead[0], syscall.SIGKILL))
	require.Eventually(t, func() bool { return gone(dead[0]) }, 20*time.Second, time.Millisecond)
	it := start(t, d)
	require.NotEqual(t, dead[0], pid(it))
	require.Equal(t, "2", run(t, it, "1 + 1").Repr)
	ready(t, d, 1)
}

func TestCloseEndsTheWarm(t *testing.T) {
	d := warmed(t, 2)
	files := len(openFiles(t))
	kept := local.Idle(d)
	d.Close()
	for _, p := range kept {
		require.True(t, gone(p))
	}
	require.Less(t, len(openFiles(t)), files, "and their pipes are closed")
}
