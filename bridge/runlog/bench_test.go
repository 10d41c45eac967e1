package runlog_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/bridge/runlog"
	"github.com/troupe-go/troupe/messages"
	"github.com/troupe-go/troupe/messages/fact"
)

func open(tb testing.TB, store runlog.Store) *runlog.Log {
	l := runlog.New(runlog.Config{Store: store})
	tb.Cleanup(l.Close)
	return l
}

func begin(tb testing.TB, l *runlog.Log, run string) *runlog.Journal {
	j, err := l.Begin(context.Background(), run, run, &fact.RunStarted{Agent: "a", Query: "q"})
	require.NoError(tb, err)
	return j
}

// BenchmarkPublish and BenchmarkAppend: what an event and a fact cost over a
// store in memory (aims: 300 ns and 1.5 µs). The floor is an event with its
// time in a ring.
func BenchmarkPublish(b *testing.B) {
	b.Run("floor", func(b *testing.B) {
		ev := messages.Event{Type: messages.StepCount, Content: "1", Step: 1}
		var ring [1024]*messages.Event
		b.ReportAllocs()
		i := 0
		for b.Loop() {
			own := new(messages.Event)
			*own = ev
			own.Time = time.Now()
			ring[i%len(ring)] = own
			i++
		}
		runtime.KeepAlive(&ring)
	})
	b.Run("journal", benchmarkPublish)
}

func benchmarkPublish(b *testing.B) {
	l := open(b, runlog.NewMemory(runlog.MemoryConfig{KeepEvents: 1024}))
	j := begin(b, l, "run")
	ev := messages.Event{Type: messages.StepCount, Content: "1", Step: 1}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		own := ev
		j.Publish(&own)
		if i++; i%1000 == 0 { // as an agent does, now and then: settle
			j.Append(&fact.Executed{Step: 1}, nil, nil)
		}
	}
}

func BenchmarkAppend(b *testing.B) {
	for _, after := range []int{0, 1} {
		b.Run(fmt.Sprintf("after=%d", after), func(b *testing.B) {
			l := open(b, runlog.NewMemory(runlog.MemoryConfig{KeepEvents: 1024}))
			j := begin(b, l, "run")
			events := make([]messages.Event, after)
			for i := range events {
				events[i] = messages.Event{Type: messages.FinalAnswer, Content: "42"}
			}
			n := 0
			done := func(error) { n++ }
			b.ReportAllocs()
			for b.Loop() {
				j.Append(&fact.Executed{Step: 1, Observation: "o"}, slices.Clone(events), done)
			}
			require.Equal(b, b.N, n)
		})
	}
}

// BenchmarkStep is what one step of an agent asks of its journal.
func BenchmarkStep(b *testing.B) {
	for _, store := range []struct {
		name string
		open func() runlog.Store
	}{
		{"local", func() runlog.Store { return runlog.NewMemory(runlog.MemoryConfig{KeepEvents: 1024}) }},
		{"goroutines", func() runlog.Store { return &remote{runlog.NewMemory(runlog.MemoryConfig{KeepEvents: 1024})} }},
	} {
		b.Run(store.name, func(b *testing.B) {
			l := open(b, store.open())
			j := begin(b, l, "run")
			stored := make(chan error, 1)
			done := func(err error) { stored <- err }
			commit := []messages.Event{{Type: messages.ModelAttemptControl, Phase: messages.PhaseCommit, AttemptID: "t"}}
			b.ReportAllocs()
			for b.Loop() {
				j.Publish(&messages.Event{Type: messages.StepCount, Content: "1"})
				j.Publish(&messages.Event{Type: messages.ModelAttemptControl, Phase: messages.PhaseBegin, AttemptID: "t"})
				for range 4 {
					j.Publish(&messages.Event{Type: messages.ModelOutputThinking, Content: "some words of thought ", AttemptID: "t"})
				}
				j.Append(&fact.Thought{Step: 1, AttemptID: "t"}, slices.Clone(commit), done)
				<-stored
				j.Publish(&messages.Event{Type: messages.Tool, ToolName: "search"})
				j.Publish(&messages.Event{Type: messages.ExecutionLogs, Content: "log"})
				j.Append(&fact.Executed{Step: 1}, nil, done)
				<-stored
			}
		})
	}
}

// BenchmarkIdle is the memory of a journal that waits, and what its store
// keeps for it: the first fact and an empty event log.
func BenchmarkIdle(b *testing.B) {
	var journal, store float64
	for b.Loop() {
		journal, store = idleBytes(b, 100_000)
	}
	b.ReportMetric(journal, "B/journal")
	b.ReportMetric(store, "B/log")
}

func idleBytes(tb testing.TB, n int) (journal, store float64) {
	l := open(tb, runlog.NewMemory(runlog.MemoryConfig{}))
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf("01980000-0000-7000-8000-%012d", i)
	}
	journals := make([]*runlog.Journal, n)
	start := &fact.RunStarted{Agent: "a", Query: "q"}
	empty := liveHeap()
	for i := range journals {
		own := *start
		j, err := l.Begin(context.Background(), ids[i], ids[i], &own)
		require.NoError(tb, err)
		journals[i] = j
	}
	full := liveHeap()
	clear(journals)
	rest := liveHeap()
	runtime.KeepAlive(journals)
	return float64(full-rest) / float64(n), float64(rest-empty) / float64(n)
}

func liveHeap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestIdleJournalIsSmall(t *testing.T) {
	before := runtime.NumGoroutine()
	journal, store := idleBytes(t, 2000)
	t.Logf("%.0f bytes a journal, %.0f its log", journal, store)
	require.Less(t, journal, 600.0)
	require.Less(t, store, 1200.0)
	require.LessOrEqual(t, runtime.NumGoroutine(), before, "an idle journal holds no goroutine")
}

func TestAllocations(t *testing.T) {
	l := open(t, runlog.NewMemory(runlog.MemoryConfig{KeepEvents: 64}))
	j := begin(t, l, "run")
	ev := messages.Event{Type: messages.StepCount, Content: "1"}
	f := &fact.Executed{Step: 1}
	publish := testing.AllocsPerRun(1000, func() { own := ev; j.Publish(&own) })
	j.Append(f, nil, nil)
	step := testing.AllocsPerRun(1000, func() { j.Append(f, nil, nil) })
	require.LessOrEqual(t, publish, 1.0, "the event itself")
	require.LessOrEqual(t, step, 1.0, "the record itself")
}
