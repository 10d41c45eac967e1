//go:build (linux || darwin) && (amd64 || arm64)

package local_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/actors/python/local"
	"github.com/troupe-go/troupe/messages"
)

// BenchmarkPython measures the level, and beside it the same interpreter with
// no walls at all, which is the floor.
func BenchmarkPython(b *testing.B) {
	cfg := local.Config{Sandbox: messages.SandboxConfig{Unsafe: true}}
	b.Run("local", func(b *testing.B) { benchmark(b, cfg) })
	b.Run("floor", func(b *testing.B) { benchmark(b, local.Bare(cfg)) })
}

type nullHost struct{}

func (nullHost) Call(context.Context, python.Call) python.Result {
	return python.Result{Value: json.RawMessage("1")}
}

func benchmark(b *testing.B, cfg local.Config) {
	d, err := open(b, cfg)
	require.NoError(b, err)
	b.Cleanup(d.Close)
	require.NoError(b, d.Prepare(b.Context()))
	spec := python.NewSpec(messages.SandboxConfig{}, []string{"tool"}, nil, messages.EN)
	start := func(b *testing.B) python.Interpreter {
		it, err := d.Start(b.Context(), spec)
		require.NoError(b, err)
		b.Cleanup(it.Close)
		return it
	}
	run := func(b *testing.B, it python.Interpreter, code string) {
		out, err := it.Exec(b.Context(), python.Block{Code: code}, nullHost{})
		require.NoError(b, err)
		require.Nil(b, out.Err)
	}
	b.Run("cold", func(b *testing.B) {
		for b.Loop() {
			it, err := d.Start(b.Context(), spec)
			require.NoError(b, err)
			it.Close()
		}
	})
	b.Run("expr", func(b *testing.B) {
		it := start(b)
		for b.Loop() {
			run(b, it, "1+1")
		}
	})
	b.Run("call", func(b *testing.B) {
		it := start(b)
		const calls = 100
		for b.Loop() {
			run(b, it, "for i in range(100): tool(i)")
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*calls), "ns/call")
	})
	b.Run("fib22", func(b *testing.B) {
		it := start(b)
		for b.Loop() {
			run(b, it, "def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)\nfib(22)")
		}
	})
	b.Run("kill", func(b *testing.B) {
		const limit = 5 * time.Millisecond
		fast := spec
		fast.Timeout = limit
		var after time.Duration
		for b.Loop() {
			it, err := d.Start(b.Context(), fast)
			require.NoError(b, err)
			began := time.Now()
			out, err := it.Exec(b.Context(), python.Block{Code: "while True: pass"}, nullHost{})
			require.NoError(b, err)
			after += time.Since(began) - limit
			require.Equal(b, python.KilledTimeout, out.Killed)
			it.Close()
		}
		b.ReportMetric(float64(after.Microseconds())/1000/float64(b.N), "ms-after-deadline")
	})
}
