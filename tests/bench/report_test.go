package bench

import (
	"runtime"
	"testing"
)

// meter counts what the steps of a benchmark's runs cost.
type meter struct {
	b       *testing.B
	mallocs uint64
}

// startMeter begins to count; call it right before the timed loop.
func startMeter(b *testing.B) meter {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return meter{b: b, mallocs: m.Mallocs}
}

// perStep reports time and allocations of one of a run's steps; call it with
// the timer stopped, after b.N runs of so many steps.
func (m meter) perStep(steps int) {
	var now runtime.MemStats
	runtime.ReadMemStats(&now)
	all := float64(m.b.N * steps)
	m.b.ReportMetric(float64(m.b.Elapsed().Nanoseconds())/all, "ns/step")
	m.b.ReportMetric(float64(now.Mallocs-m.mallocs)/all, "allocs/step")
}

// heap is the memory in use after a collection, in bytes.
func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}
