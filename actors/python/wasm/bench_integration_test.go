//go:build integration && linux

package wasm_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"runtime/debug"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/actors/python/pythontest"
	"github.com/troupe-go/troupe/messages"
)

type nullHost struct{}

func (nullHost) Call(context.Context, python.Call) python.Result {
	return python.Result{Value: json.RawMessage("1")}
}

// BenchmarkPython measures the level.
func BenchmarkPython(b *testing.B) {
	b.Run("wasm", benchmark)
}

func benchmark(b *testing.B) {
	d := setup(b)
	spec := python.NewSpec(messages.SandboxConfig{}, []string{"tool"}, nil, messages.EN)
	start := func(b *testing.B, spec python.Spec) python.Interpreter {
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
		it := start(b, spec)
		for b.Loop() {
			run(b, it, "1+1")
		}
	})
	b.Run("call", func(b *testing.B) {
		it := start(b, spec)
		const calls = 100
		for b.Loop() {
			run(b, it, "for i in range(100): tool(i)")
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*calls), "ns/call")
	})
	b.Run("fib22", func(b *testing.B) {
		it := start(b, spec)
		for b.Loop() {
			run(b, it, "def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)\nfib(22)")
		}
	})
	b.Run("rebuild", func(b *testing.B) { pythontest.BenchmarkRebuild(b, d) })
	b.Run("kill", func(b *testing.B) {
		const limit = 20 * time.Millisecond
		fast := spec
		fast.Timeout = limit
		var after time.Duration
		for b.Loop() {
			b.StopTimer()
			it, err := d.Start(b.Context(), fast)
			require.NoError(b, err)
			b.StartTimer()
			began := time.Now()
			out, err := it.Exec(b.Context(), python.Block{Code: "while True: pass"}, nullHost{})
			require.NoError(b, err)
			after += time.Since(began) - limit
			require.Equal(b, python.KilledTimeout, out.Killed)
			it.Close()
		}
		b.ReportMetric(float64(after.Microseconds())/1000/float64(b.N), "ms-after-deadline")
	})
	b.Run("live50", func(b *testing.B) {
		const live = 50
		for b.Loop() {
			before := resident(b)
			var all []python.Interpreter
			for range live {
				it := start(b, spec)
				run(b, it, "1+1")
				all = append(all, it)
			}
			b.ReportMetric(float64(resident(b)-before)/live/(1<<20), "MB/instance")
			for _, it := range all {
				it.Close()
			}
			b.ReportMetric(float64(resident(b)-before)/(1<<20), "MB-after-close")
		}
	})
}

// resident gives what of this process is in memory, in bytes.
func resident(b *testing.B) int64 {
	debug.FreeOSMemory()
	text, err := os.ReadFile("/proc/self/statm")
	require.NoError(b, err)
	pages, err := strconv.ParseInt(string(bytes.Fields(text)[1]), 10, 64)
	require.NoError(b, err)
	return pages * int64(os.Getpagesize())
}
