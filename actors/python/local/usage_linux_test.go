//go:build amd64 || arm64

package local_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/actors/python/local"
)

func usage(it python.Interpreter) python.Usage { return it.(python.Measured).Usage() }

// What is measured is the interpreter's own, and grows with what it takes.
func TestUsage(t *testing.T) {
	it := start(t, setup(t, tolerant))
	run(t, it, "1")
	before := usage(it)
	require.Zero(t, before.RSS, "the share is known: nothing stands beside it")
	require.Greater(t, before.PSS, int64(2<<20))
	require.Less(t, before.PSS, int64(64<<20))
	require.Positive(t, before.CPU)
	run(t, it, "kept = bytearray(50 << 20)\nn = sum(range(1_000_000))")
	after := usage(it)
	require.InDelta(t, before.PSS+50<<20, after.PSS, 8<<20)
	require.Greater(t, after.CPU, before.CPU)
	it.Close()
	require.Zero(t, usage(it), "it has ended")
}

// Where the share can't be read, the resident size stands under its own name;
// it is no smaller than the share.
func TestUsageWithoutShare(t *testing.T) {
	it := start(t, setup(t, tolerant))
	run(t, it, "1")
	whole, share := local.UsageWithoutShare(it), usage(it)
	require.Zero(t, whole.PSS)
	require.GreaterOrEqual(t, whole.RSS, share.PSS)
	require.Less(t, whole.RSS, int64(128<<20))
}
