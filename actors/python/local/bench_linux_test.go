//go:build amd64 || arm64

package local_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/actors/python/local"
	"github.com/troupe-go/troupe/actors/python/pythontest"
	"github.com/troupe-go/troupe/messages"
)

const (
	fib22 = "def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)\nfib(22)"
	calls = 100
	call  = "for i in range(100): tool(i)"
	// touched takes 400 MB, each page of which is written to.
	touched = "kept = b'x' * (400 << 20)"
	live    = 50
)

// BenchmarkPython measures the level, and beside it the same interpreter with
// no walls at all, which is the floor. Benchmark walls runs the two in turns:
// what the walls cost is to be read there. All times are medians.
func BenchmarkPython(b *testing.B) {
	cfg := local.Config{Sandbox: messages.SandboxConfig{Unsafe: true}}
	b.Run("local", func(b *testing.B) { benchmark(b, cfg) })
	b.Run("floor", func(b *testing.B) { benchmark(b, local.Bare(cfg)) })
	b.Run("walls", func(b *testing.B) { benchmarkWalls(b, cfg) })
}

func benchmark(b *testing.B, cfg local.Config) {
	s := newBench(b, cfg)
	b.Run("cold", func(b *testing.B) {
		var t times
		for b.Loop() {
			t.add(func() { s.exec(b, s.start(b), "1+1") })
			b.StopTimer()
			s.close()
			b.StartTimer()
		}
		t.report(b, time.Millisecond, "p50-ms")
	})
	b.Run("warm", func(b *testing.B) {
		cfg.Warm = 1
		s := newBench(b, cfg)
		var t times
		for b.Loop() {
			b.StopTimer()
			s.close()
			ready(b, s.driver, 1)
			b.StartTimer()
			t.add(func() { s.exec(b, s.start(b), "1+1") })
		}
		t.report(b, time.Millisecond, "p50-ms")
	})
	b.Run("expr", func(b *testing.B) {
		it := s.start(b)
		defer s.close()
		var t times
		for b.Loop() {
			t.add(func() { s.exec(b, it, "1+1") })
		}
		t.report(b, time.Microsecond, "p50-us")
	})
	b.Run("call", func(b *testing.B) {
		it := s.start(b)
		defer s.close()
		var t times
		for b.Loop() {
			t.add(func() { s.exec(b, it, call) })
		}
		t.report(b, time.Microsecond*calls, "p50-us/call")
	})
	b.Run("fib22", func(b *testing.B) {
		it := s.start(b)
		defer s.close()
		var t times
		for b.Loop() {
			t.add(func() { s.exec(b, it, fib22) })
		}
		t.report(b, time.Millisecond, "p50-ms")
	})
	b.Run("rebuild", func(b *testing.B) { pythontest.BenchmarkRebuild(b, s.driver) })
	b.Run("kill", func(b *testing.B) { s.kill(b, "1") })
	b.Run("kill400MB", func(b *testing.B) { s.kill(b, touched) })
	b.Run("live50", func(b *testing.B) {
		for b.Loop() {
			s.memory(b)
		}
	})
}

// kill reports how long after its deadline a block has ended whose interpreter
// is gone, the memory that the code before it took given back.
func (s *bench) kill(b *testing.B, before string) {
	const limit = 5 * time.Millisecond
	var t times
	for b.Loop() {
		b.StopTimer()
		it := s.start(b)
		s.exec(b, it, before)
		b.StartTimer()
		ctx, cancel := context.WithTimeout(b.Context(), limit)
		began := time.Now()
		out, err := it.Exec(ctx, python.Block{Code: "while True: pass"}, nullHost{})
		t = append(t, time.Since(began)-limit)
		cancel()
		require.NoError(b, err)
		require.Equal(b, python.KilledTimeout, out.Killed)
		b.StopTimer()
		s.close()
		b.StartTimer()
	}
	t.report(b, time.Millisecond, "p50-ms-after-deadline")
}

// memory reports what instances that have run a block take, alone and many at
// a time, which share more.
func (s *bench) memory(b *testing.B) {
	defer s.close()
	var pss, rss int64
	for n := range live {
		it := s.start(b)
		s.exec(b, it, "1+1")
		if n == 0 {
			b.ReportMetric(float64(usage(it).PSS)/1e6, "PSS-MB/alone")
		}
	}
	for _, it := range s.started {
		share, whole := usage(it), local.UsageWithoutShare(it)
		require.Positive(b, share.PSS)
		pss, rss = pss+share.PSS, rss+whole.RSS
	}
	b.ReportMetric(float64(pss)/1e6, "PSS-MB")
	b.ReportMetric(float64(rss)/1e6, "RSS-MB")
	b.ReportMetric(float64(pss)/1e6/live, "PSS-MB/instance")
}

// benchmarkWalls runs the same code behind walls and without any, in turns, so
// that what else the machine does hits both alike.
func benchmarkWalls(b *testing.B, cfg local.Config) {
	walled, bare := newBench(b, cfg), newBench(b, local.Bare(cfg))
	inTurns := func(b *testing.B, code string) (with, without time.Duration) {
		one, other := walled.start(b), bare.start(b)
		defer walled.close()
		defer bare.close()
		var w, o times
		for i := 0; b.Loop(); i++ {
			if i%2 == 0 {
				w.add(func() { walled.exec(b, one, code) })
			}
			o.add(func() { bare.exec(b, other, code) })
			if i%2 == 1 {
				w.add(func() { walled.exec(b, one, code) })
			}
		}
		return w.median(), o.median()
	}
	b.Run("fib22", func(b *testing.B) {
		with, without := inTurns(b, fib22)
		b.ReportMetric(with.Seconds()*1e3, "walls-ms")
		b.ReportMetric(without.Seconds()*1e3, "bare-ms")
		b.ReportMetric(float64(with)/float64(without), "ratio")
	})
	b.Run("call", func(b *testing.B) {
		with, without := inTurns(b, call)
		b.ReportMetric(with.Seconds()*1e6/calls, "walls-us")
		b.ReportMetric(without.Seconds()*1e6/calls, "bare-us")
		b.ReportMetric((with-without).Seconds()*1e6/calls, "delta-us")
	})
	b.Run("expr", func(b *testing.B) {
		with, without := inTurns(b, "1+1")
		b.ReportMetric(with.Seconds()*1e6, "walls-us")
		b.ReportMetric(without.Seconds()*1e6, "bare-us")
		b.ReportMetric((with-without).Seconds()*1e6, "delta-us")
	})
}

// bench is a driver and the interpreters of one benchmark.
type bench struct {
	driver  *local.Driver
	spec    python.Spec
	started []python.Interpreter
}

func newBench(b *testing.B, cfg local.Config) *bench {
	return &bench{driver: setup(b, cfg), spec: python.NewSpec(messages.SandboxConfig{}, []string{"tool"}, nil, messages.EN)}
}

func (s *bench) start(b *testing.B) python.Interpreter {
	it, err := s.driver.Start(b.Context(), s.spec)
	require.NoError(b, err)
	s.started = append(s.started, it)
	return it
}

func (s *bench) exec(b *testing.B, it python.Interpreter, code string) {
	out, err := it.Exec(b.Context(), python.Block{Code: code}, nullHost{})
	require.NoError(b, err)
	require.Nil(b, out.Err)
	require.Empty(b, out.Killed)
}

func (s *bench) close() {
	for _, it := range s.started {
		it.Close()
	}
	s.started = nil
}

// nullHost answers every call at once.
type nullHost struct{}

// Call implements python.Host.
func (nullHost) Call(context.Context, python.Call) python.Result {
	return python.Result{Value: json.RawMessage("1")}
}

// times are what one benchmark measured.
type times []time.Duration

func (t *times) add(f func()) {
	began := time.Now()
	f()
	*t = append(*t, time.Since(began))
}

func (t times) median() time.Duration {
	sorted := slices.Sorted(slices.Values(t))
	return sorted[len(sorted)/2]
}

func (t times) report(b *testing.B, unit time.Duration, name string) {
	b.ReportMetric(float64(t.median())/float64(unit), name)
}
