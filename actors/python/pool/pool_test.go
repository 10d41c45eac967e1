package pool_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/actors/python/pool"
)

func TestKept(t *testing.T) {
	bubble(t, "a new pool launches nothing until it is asked", func(t *testing.T) {
		b := setup(t, 2)
		synctest.Wait()
		require.Zero(t, b.house.tries.Load())
		b.Warm()
		b.Warm()
		pass(launchTime)
		require.Len(t, b.house.idle(), 1, "one launch at a time")
		pass(launchTime)
		require.Len(t, b.house.idle(), 2)
		require.Equal(t, 2, b.Idle())
		pass(time.Hour)
		require.EqualValues(t, 2, b.house.tries.Load(), "no more than its size")
		require.EqualValues(t, 1, b.house.most.Load())
	})
	bubble(t, "a kept one is given at once and replaced", func(t *testing.T) {
		b := setup(t, 2)
		b.Warm()
		pass(time.Second)
		kept := b.house.idle()
		first, took := b.take()
		require.Zero(t, took)
		require.Same(t, kept[0], first, "the oldest first")
		pass(launchTime)
		require.Len(t, b.house.idle(), 2)
	})
	bubble(t, "none kept: a new one", func(t *testing.T) {
		b := setup(t, 0)
		b.Warm()
		_, took := b.take()
		require.Equal(t, launchTime, took)
		pass(time.Hour)
		require.EqualValues(t, 1, b.house.tries.Load())
	})
	bubble(t, "one that died idle is replaced after a pause, unseen", func(t *testing.T) {
		b := setup(t, 1)
		b.Warm()
		pass(time.Second)
		dead := b.house.idle()[0]
		dead.die()
		synctest.Wait()
		require.Positive(t, dead.closed.Load(), "what it held is given back")
		require.Empty(t, b.house.idle(), "no launch without a pause")
		pass(100*time.Millisecond + launchTime)
		require.Len(t, b.house.idle(), 1)
		_, took := b.take()
		require.Zero(t, took)
		require.Equal(t, []string{"an idle interpreter died; blocks may wait for a start"}, b.log.said)
	})
	bubble(t, "one that just died is not even asked", func(t *testing.T) {
		b := setup(t, 1)
		b.Warm()
		pass(time.Second)
		dead := b.house.idle()[0]
		dead.die()
		f, _ := b.take()
		require.NotSame(t, dead, f)
		require.Zero(t, dead.begun.Load())
	})
	bubble(t, "one that can't begin is passed over", func(t *testing.T) {
		b := setup(t, 2)
		b.Warm()
		pass(time.Second)
		kept := b.house.idle()
		b.house.beginTime = time.Millisecond
		go func() {
			<-time.After(time.Millisecond / 2)
			kept[0].die() // while it begins: the pool had it alive
		}()
		f, took := b.take()
		require.Same(t, kept[1], f)
		require.Equal(t, 2*time.Millisecond, took)
		require.Positive(t, kept[0].closed.Load())
	})
}

func TestFailures(t *testing.T) {
	bubble(t, "launches that fail end, with longer and longer pauses", func(t *testing.T) {
		b := setup(t, 1)
		b.house.broken.Store(true)
		b.Warm()
		for i, wait := range []time.Duration{0, 100, 200, 400, 800} {
			pass(wait * time.Millisecond)
			require.EqualValues(t, i+1, b.house.tries.Load())
			pass(launchTime)
		}
		pass(time.Hour)
		require.EqualValues(t, 5, b.house.tries.Load())
		require.Equal(t, []string{"an interpreter to keep ready did not start; blocks may wait for a start"}, b.log.said, "said once")

		b.Warm()
		pass(time.Hour)
		require.EqualValues(t, 6, b.house.tries.Load(), "a hint allows one more")
		_, err := b.Start(t.Context(), python.Spec{})
		require.ErrorIs(t, err, errLaunch)
		pass(time.Hour)
		require.EqualValues(t, 8, b.house.tries.Load(), "a Start makes its own, and allows one more")
		require.Len(t, b.log.said, 1)

		b.house.broken.Store(false)
		b.take()
		pass(launchTime)
		require.Len(t, b.house.idle(), 1, "it is healthy again: no pause")
	})
	bubble(t, "those that always die idle are no busy loop", func(t *testing.T) {
		b := setup(t, 3)
		b.Warm()
		deaths := 0
		for range 1000 {
			for _, f := range b.house.idle() {
				f.die()
				deaths++
			}
			pass(launchTime)
		}
		require.Equal(t, 5, deaths)
	})
	bubble(t, "a panic in the background is a failure", func(t *testing.T) {
		b := setup(t, 1)
		b.house.panics.Store(true)
		b.Warm()
		pass(time.Hour)
		require.EqualValues(t, 5, b.house.tries.Load())
		b.house.panics.Store(false)
		b.Warm()
		pass(time.Hour)
		require.Len(t, b.house.idle(), 1)
	})
	bubble(t, "a new one that can't begin is the caller's error, and gone", func(t *testing.T) {
		b := setup(t, 1)
		b.Warm()
		pass(time.Second)
		b.house.breakBegin.Store(true)
		_, err := b.Start(t.Context(), python.Spec{})
		require.ErrorIs(t, err, errBegin)
		for _, f := range b.house.fakes() {
			require.Equal(t, f.begun.Load(), f.closed.Load())
		}
	})
	bubble(t, "a caller that goes", func(t *testing.T) {
		b := setup(t, 1)
		ctx, cancel := context.WithTimeout(t.Context(), launchTime/2)
		defer cancel()
		_, err := b.Start(ctx, python.Spec{})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		pass(time.Second)
		require.Len(t, b.house.idle(), 1, "its launch ended, the pool's goes on")
		_, err = b.Start(ctx, python.Spec{})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Len(t, b.house.idle(), 1, "none is spent on a caller that is gone")
		b.house.beginTime = time.Minute
		ctx, cancel = context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = b.Start(ctx, python.Spec{})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.EqualValues(t, 2, b.house.tries.Load(), "no launch for one that is gone")
	})
}

func TestClose(t *testing.T) {
	bubble(t, "kills the idle ones, not those given out", func(t *testing.T) {
		b := setup(t, 2)
		b.Warm()
		pass(time.Second)
		mine, _ := b.take()
		pass(time.Second)
		b.Close()
		b.Close()
		require.NoError(t, mine.alive.Err())
		require.Empty(t, b.house.idle())
		require.Empty(t, b.log.said, "they did not die by themselves")
		_, err := b.Start(t.Context(), python.Spec{})
		require.ErrorIs(t, err, pool.ErrClosed)
		b.Warm()
		pass(time.Hour)
		require.EqualValues(t, 3, b.house.tries.Load())
		mine.Close()
	})
	for name, moment := range map[string]time.Duration{"a launch": launchTime / 2, "a beginning": launchTime + time.Millisecond/2} {
		during := func(t *testing.T, deaf bool) {
			b := setup(t, 1)
			b.house.beginTime = time.Millisecond
			b.house.deaf.Store(deaf)
			b.Warm()
			failed := make(chan error, 1)
			go func() {
				_, err := b.Start(t.Context(), python.Spec{})
				failed <- err
			}()
			pass(moment)
			began := time.Now()
			b.Close()
			require.Equal(t, deaf, time.Since(began) > 0, "what hears is not waited for")
			require.Len(t, failed, 1, "Close waits for Starts")
			require.ErrorIs(t, <-failed, pool.ErrClosed)
			for _, f := range b.house.fakes() {
				require.Positive(t, f.closed.Load())
			}
			require.Empty(t, b.log.said)
		}
		bubble(t, "during "+name, func(t *testing.T) { during(t, false) })
		bubble(t, "during "+name+" that goes on", func(t *testing.T) { during(t, true) })
	}
	bubble(t, "during a pause", func(t *testing.T) {
		b := setup(t, 1)
		b.house.broken.Store(true)
		b.Warm()
		pass(launchTime + time.Millisecond)
		began := time.Now()
		b.Close()
		require.Zero(t, time.Since(began))
		require.EqualValues(t, 1, b.house.tries.Load())
	})
}

// Whatever happens in whatever order, an interpreter has one owner, never more
// than the pool's size are idle, and nothing is left behind.
func TestAnyOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		size := rapid.IntRange(0, 3).Draw(rt, "size")
		steps := rapid.SliceOfN(rapid.SampledFrom([]string{"start", "start", "warm", "die", "break", "mend", "short", "hurried"}), 1, 30).Draw(rt, "steps")
		synctest.Test(t, func(t *testing.T) { play(t, size, steps) })
	})
}

func play(t *testing.T, size int, steps []string) {
	b := setup(t, size)
	var all sync.WaitGroup
	var mu sync.Mutex
	owned := map[*fake]bool{}
	start := func(limit time.Duration) {
		broken := b.house.broken.Load()
		all.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			it, err := b.Start(ctx, python.Spec{})
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				killed := errors.Is(err, errBegin) // between its launch for this caller and its begin
				if limit > time.Minute && !killed && !broken && !b.house.broken.Load() {
					t.Errorf("no interpreter though all is well: %v", err)
				}
				return
			}
			f := it.(*interpreter).fake
			if owned[f] {
				t.Error("two owners")
			}
			owned[f] = true
		})
	}
	for _, step := range steps {
		switch step {
		case "start":
			start(time.Hour)
		case "hurried":
			start(launchTime / 3)
		case "warm":
			b.Warm()
		case "die":
			if idle := b.house.idle(); len(idle) > 0 {
				idle[0].die()
			}
		case "break":
			all.Wait()
			b.house.broken.Store(true)
		case "mend":
			all.Wait()
			b.house.broken.Store(false)
		case "short":
			pass(launchTime / 2)
		}
		require.LessOrEqual(t, b.Idle(), size)
	}
	all.Wait()
	b.house.broken.Store(false)
	b.Warm()
	pass(time.Minute)
	require.Len(t, b.house.idle(), size, "it is full again")
	b.Close()
	for _, f := range b.house.fakes() {
		require.Equal(t, owned[f], f.closed.Load() == 0, "its owner's, or closed")
		f.Close()
	}
}

// The same without a bubble, under load: for the race detector.
func TestStress(t *testing.T) {
	b := setup(t, 2)
	var all sync.WaitGroup
	var owned sync.Map
	for range 8 {
		all.Go(func() {
			for range 20 {
				b.Warm()
				for _, f := range b.house.idle() {
					f.die()
					break
				}
				it, err := b.Start(t.Context(), python.Spec{})
				if errors.Is(err, errBegin) { // killed between its launch for this caller and its begin
					continue
				}
				if err != nil {
					t.Errorf("no interpreter: %v", err)
					return
				}
				if _, twice := owned.LoadOrStore(it.(*interpreter).fake, true); twice {
					t.Error("two owners")
				}
				it.Close()
			}
		})
	}
	all.Wait()
	b.Close()
	for _, f := range b.house.fakes() {
		require.Positive(t, f.closed.Load())
	}
}

// bubble runs a test in which time passes when all wait for it.
func bubble(t *testing.T, name string, f func(*testing.T)) {
	t.Run(name, func(t *testing.T) { synctest.Test(t, f) })
}

// pass lets time pass, and what falls due then happen.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}
