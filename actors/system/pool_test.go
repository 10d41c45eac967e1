package system

import (
	"bytes"
	"log/slog"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

// occupy makes p run n functions at the same time, then lets them end and
// waits until all their goroutines are idle.
func occupy(t *testing.T, p *pool, n int) {
	t.Helper()
	var entered sync.WaitGroup
	leave := make(chan struct{})
	entered.Add(n)
	for range n {
		p.Schedule(func() {
			entered.Done()
			<-leave
		})
	}
	entered.Wait()
	alive := n + idleOf(p)
	close(leave)
	for idleOf(p) < alive {
		runtime.Gosched()
	}
}

func idleOf(p *pool) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.idle)
}

func TestPoolReusesGoroutines(t *testing.T) {
	defer goleak.VerifyNone(t)
	p := newPool(1, discard())
	defer p.close()
	for range 100 {
		occupy(t, p, 3)
		require.Equal(t, 3, idleOf(p))
	}
}

// A chain of jobs that each schedule the next needs the goroutine that is on
// it, the one that was woken, and those on their way from a job to the queue.
func TestPoolKeepsAChainOnItsGoroutines(t *testing.T) {
	defer goleak.VerifyNone(t)
	p := newPool(1, discard())
	defer p.close()
	done := make(chan struct{})
	left := 100_000
	var next func()
	next = func() {
		if left--; left == 0 {
			close(done)
			return
		}
		p.Schedule(next)
	}
	p.Schedule(next)
	<-done
	p.mu.Lock()
	defer p.mu.Unlock()
	require.LessOrEqual(t, p.workers, 3+runtime.GOMAXPROCS(0))
}

// Jobs that wait for each other all run, however many: the queue holds nobody
// up.
func TestPoolJobsMayWaitForLaterOnes(t *testing.T) {
	defer goleak.VerifyNone(t)
	p := newPool(1, discard())
	defer p.close()
	for range 20 {
		const n = 200
		links := make([]chan struct{}, n+1)
		for i := range links {
			links[i] = make(chan struct{})
		}
		for i := range n {
			p.Schedule(func() {
				if i%7 == 0 {
					p.Schedule(func() {}) // a bystander
				}
				<-links[i+1]
				close(links[i])
			})
		}
		p.Schedule(func() { close(links[n]) })
		<-links[0]
	}
}

func TestPoolLooseJobs(t *testing.T) {
	defer goleak.VerifyNone(t)
	p := newPool(1, discard())
	entered, leave := make(chan struct{}), make(chan struct{})
	p.add(job{loose: true, f: func() {
		close(entered)
		<-leave
	}})
	<-entered
	p.close() // must not wait for it
	close(leave)
}

func TestPoolEndsIdleGoroutines(t *testing.T) {
	defer goleak.VerifyNone(t)
	p := newPool(1, discard())
	defer p.close()
	occupy(t, p, 8)
	p.sweep() // in this time all 8 were needed, or not yet idle
	require.Equal(t, 8, idleOf(p))
	occupy(t, p, 3)
	p.sweep() // 5 were not needed
	require.Equal(t, 3, idleOf(p))
	p.sweep()
	require.Equal(t, 0, idleOf(p))
	require.Nil(t, p.timer, "nothing is left to sweep")
	occupy(t, p, 2)
}

func TestPoolClose(t *testing.T) {
	t.Run("waits for what runs", func(t *testing.T) {
		defer goleak.VerifyNone(t)
		p := newPool(1, discard())
		occupy(t, p, 4)
		entered, leave := make(chan struct{}), make(chan struct{})
		ended := false
		p.Schedule(func() {
			close(entered)
			<-leave
			ended = true
		})
		<-entered
		go close(leave)
		p.close()
		require.True(t, ended)
		p.close()
	})
	t.Run("loses nothing that comes later", func(t *testing.T) {
		defer goleak.VerifyNone(t)
		p := newPool(1, discard())
		p.close()
		ran := make(chan struct{})
		p.Schedule(func() { close(ran) })
		<-ran
	})
}

func TestPoolSurvives(t *testing.T) {
	defer goleak.VerifyNone(t)
	var logs bytes.Buffer
	p := newPool(1, slog.New(slog.NewTextHandler(&logs, nil)))
	p.Schedule(func() { panic("on purpose") })
	p.Schedule(runtime.Goexit)
	p.close() // must not wait for the goroutine that Goexit ended
	require.Contains(t, logs.String(), "on purpose")
	require.Contains(t, logs.String(), "pool_test.go", "the stack")
}
