package slots_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/troupe-go/troupe/actors/python/slots"
)

// asker is one block that asked for a slot.
type asker struct {
	run    string
	number int
	ahead  chan int // gets one value: it waits
	lease  chan *slots.Lease
	cancel context.CancelFunc
	held   *slots.Lease
}

// world plays blocks against slots, one step at a time.
type world struct {
	t    testing.TB
	s    *slots.Slots
	all  sync.WaitGroup
	next int
}

// ask sends a block and waits until it has its slot or stands in line.
func (w *world) ask(run string) (a *asker, ahead int, served bool) {
	ctx, cancel := context.WithCancel(context.Background())
	a = &asker{run: run, number: w.next, ahead: make(chan int, 1), lease: make(chan *slots.Lease, 1), cancel: cancel}
	w.next++
	w.all.Go(func() {
		defer cancel()
		lease, err := w.s.Acquire(ctx, run, func(ahead int) { a.ahead <- ahead })
		if err == nil {
			a.lease <- lease
		}
		close(a.lease)
	})
	select {
	case n := <-a.ahead:
		return a, n, false
	case a.held = <-a.lease:
		return a, 0, true
	}
}

func (w *world) stats(busy, waiting int) {
	b, n, _ := w.s.Stats()
	require.Equal(w.t, []int{busy, waiting}, []int{b, n}, "busy and waiting")
}

// model is what the slots should do, written down another way: the whole line
// is built from scratch each time.
type model struct {
	order map[string]int // when a run's turn came up last, or when it joined
	clock int
	line  map[string][]*asker
}

func (m *model) tick() int { m.clock++; return m.clock }

func (m *model) join(a *asker) {
	if len(m.line[a.run]) == 0 {
		m.order[a.run] = m.tick()
	}
	m.line[a.run] = append(m.line[a.run], a)
}

func (m *model) leave(a *asker) {
	m.line[a.run] = slices.DeleteFunc(m.line[a.run], func(o *asker) bool { return o == a })
}

// serve gives the one whose turn it is.
func (m *model) serve() *asker {
	first := ""
	for run, line := range m.line {
		if len(line) > 0 && (first == "" || m.order[run] < m.order[first]) {
			first = run
		}
	}
	if first == "" {
		return nil
	}
	a := m.line[first][0]
	m.leave(a)
	m.order[first] = m.tick()
	return a
}

// copied plays on without touching the model.
func (m *model) copied() *model {
	c := &model{order: map[string]int{}, line: map[string][]*asker{}, clock: m.clock}
	for run, line := range m.line {
		c.line[run], c.order[run] = slices.Clone(line), m.order[run]
	}
	return c
}

func (m *model) ahead(a *asker) int {
	c := m.copied()
	for n := 0; ; n++ {
		if c.serve() == a {
			return n
		}
	}
}

func (m *model) waiting() (all []*asker) {
	for _, run := range []string{"a", "b", "c"} {
		all = append(all, m.line[run]...)
	}
	return all
}

// Any sequence of askers, ends and cancelled waits goes as the model says:
// never more than capacity, the right one next, everyone served.
func TestOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		capacity := rapid.IntRange(1, 3).Draw(rt, "capacity")
		w := &world{t: t, s: slots.New(capacity)}
		m := &model{order: map[string]int{}, line: map[string][]*asker{}}
		var holders []*asker
		release := func(i int) {
			holders[i].held.Release()
			holders[i].held.Release() // the second changes nothing
			holders = slices.Delete(holders, i, i+1)
			if next := m.serve(); next != nil {
				next.held = <-next.lease
				require.NotNil(t, next.held, "the block whose turn it is gets the slot")
				holders = append(holders, next)
			}
		}
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			switch rapid.SampledFrom([]string{"ask", "ask", "ask", "end", "cancel"}).Draw(rt, "step") {
			case "ask":
				a, ahead, served := w.ask(rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "run"))
				require.Equal(t, len(holders) < capacity, served)
				if served {
					holders = append(holders, a)
					break
				}
				m.join(a)
				require.Equal(t, m.ahead(a), ahead)
			case "end":
				if len(holders) > 0 {
					release(rapid.IntRange(0, len(holders)-1).Draw(rt, "who"))
				}
			case "cancel":
				if all := m.waiting(); len(all) > 0 {
					a := rapid.SampledFrom(all).Draw(rt, "who")
					a.cancel()
					_, got := <-a.lease
					require.False(t, got)
					m.leave(a)
				}
			}
			w.stats(len(holders), len(m.waiting()))
		}
		for len(holders) > 0 {
			release(0)
		}
		require.Empty(t, m.waiting(), "everyone was served")
		w.stats(0, 0)
		w.all.Wait()
	})
}

// Cancels and releases that meet lose no slot: under load, whatever comes
// first, all slots are free in the end and none was given twice.
func TestNoSlotIsLost(t *testing.T) {
	const capacity, runs, blocks = 3, 5, 200
	s := slots.New(capacity)
	var busy, most atomic.Int64
	var served atomic.Int64
	var all sync.WaitGroup
	for r := range runs {
		for b := range blocks {
			all.Go(func() {
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				if b%3 == 0 { // cancelled at some moment around its turn
					all.Go(cancel)
				}
				lease, err := s.Acquire(ctx, fmt.Sprint(r), nil)
				if err != nil {
					return
				}
				n := busy.Add(1)
				for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
				}
				served.Add(1)
				busy.Add(-1)
				lease.Release()
			})
		}
	}
	all.Wait()
	require.LessOrEqual(t, most.Load(), int64(capacity))
	require.GreaterOrEqual(t, served.Load(), int64(runs*blocks-runs*(blocks/3+1)), "those that nobody cancelled were served")
	b, n, c := s.Stats()
	require.Equal(t, []int{0, 0, capacity}, []int{b, n, c})
}

// A block that is served in the very moment of its cancel either has the slot
// or hands it on.
func TestServedAndCancelled(t *testing.T) {
	s := slots.New(1)
	had, handedOn := 0, 0
	for had == 0 || handedOn == 0 { // the runtime draws which it is
		first, err := s.Acquire(t.Context(), "a", nil)
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		second, err := s.Acquire(ctx, "b", func(int) {
			first.Release()
			cancel()
		})
		if err == nil {
			had++
			second.Release()
		} else {
			handedOn++
		}
		busy, waiting, _ := s.Stats()
		require.Equal(t, []int{0, 0}, []int{busy, waiting})
	}
}

// Nothing that a caller does wrong costs a slot.
func TestCallersFaults(t *testing.T) {
	s := slots.New(0)
	_, _, capacity := s.Stats()
	require.Equal(t, 1, capacity)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Acquire(ended, "a", nil)
	require.ErrorIs(t, err, context.Canceled, "no slot for a block that has ended, though one is free")
	lease, err := s.Acquire(t.Context(), "a", func(int) { t.Error("a free slot needs no wait") })
	require.NoError(t, err)
	require.PanicsWithValue(t, "why", func() {
		_, _ = s.Acquire(t.Context(), "b", func(int) { panic("why") })
	})
	busy, waiting, _ := s.Stats()
	require.Equal(t, []int{1, 0}, []int{busy, waiting})
	lease.Release()
	busy, waiting, _ = s.Stats()
	require.Equal(t, []int{0, 0}, []int{busy, waiting})
}

func BenchmarkSlots(b *testing.B) {
	s := slots.New(4)
	for b.Loop() {
		lease, err := s.Acquire(b.Context(), "a", nil)
		require.NoError(b, err)
		lease.Release()
	}
}
