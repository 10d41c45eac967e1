package bench

import (
	"runtime"
	"testing"
)

// perStep reports time and allocations of one of a run's steps; call it with
// the timer stopped.
func perStep(b *testing.B, steps int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*steps), "ns/step")
}

// heap is the memory in use after a collection, in bytes.
func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}
