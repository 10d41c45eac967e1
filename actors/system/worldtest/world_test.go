package worldtest_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/troupe-go/troupe/actors/system/worldtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestAdvanceFiresInOrder(t *testing.T) {
	w := worldtest.New(1)
	var fired []string
	var at []time.Duration
	note := func(name string) func() {
		return func() {
			fired = append(fired, name)
			at = append(at, w.Now().Sub(worldtest.Start))
		}
	}
	w.AfterFunc(3*time.Second, note("c"))
	w.AfterFunc(time.Second, note("a"))
	w.AfterFunc(time.Second, note("b"))
	w.AfterFunc(2*time.Second, func() { w.AfterFunc(500*time.Millisecond, note("armed on the way")) })
	w.AfterFunc(time.Hour, note("later"))
	stopped := w.AfterFunc(time.Second, note("stopped"))
	require.True(t, stopped.Stop())
	require.False(t, stopped.Stop())

	w.Advance(5 * time.Second)
	require.Equal(t, []string{"a", "b", "armed on the way", "c"}, fired)
	require.Equal(t, []time.Duration{time.Second, time.Second, 2500 * time.Millisecond, 3 * time.Second}, at)
	require.Equal(t, worldtest.Start.Add(5*time.Second), w.Now())
	require.Equal(t, []time.Duration{time.Hour - 5*time.Second}, w.Pending())
}

func TestAdvanceZeroFiresWhatIsDue(t *testing.T) {
	w := worldtest.New(1)
	fired := false
	timer := w.AfterFunc(0, func() { fired = true })
	require.False(t, fired)
	w.Advance(0)
	require.True(t, fired)
	require.False(t, timer.Stop())
}

func TestBlockUntil(t *testing.T) {
	w := worldtest.New(1)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	armed := make(chan struct{})
	go func() {
		defer close(armed)
		w.AfterFunc(time.Second, func() {})
		w.AfterFunc(time.Second, func() {})
	}()
	require.NoError(t, w.BlockUntil(ctx, 2))
	<-armed
	cancel()
	require.ErrorIs(t, w.BlockUntil(ctx, 3), context.Canceled)
}

func TestSeedDecides(t *testing.T) {
	draw := func(seed uint64) (string, string, uint64) {
		w := worldtest.New(seed)
		return w.NewID(), w.NewID(), w.Rand().Uint64()
	}
	id1, id2, n := draw(7)
	again1, again2, againN := draw(7)
	require.Equal(t, []any{id1, id2, n}, []any{again1, again2, againN})
	require.Less(t, id1, id2, "ids ascend")
	require.Regexp(t, `^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`, id1)
	_, _, other := draw(8)
	require.NotEqual(t, n, other)
}
