package system_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/system"
)

func TestBackoffGrowsToItsCap(t *testing.T) {
	for attempt, want := range []time.Duration{1: 1, 2: 2, 3: 4, 4: 8, 5: 16, 6: 30, 7: 30, 2000: 30} {
		if want > 0 {
			require.Equal(t, want*time.Second, system.DefaultModelBackoff.Delay(attempt, nil), "attempt %d", attempt)
		}
	}
}

func TestBackoffJitter(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	low, high := time.Hour, time.Duration(0)
	for range 10_000 {
		d := system.DefaultModelBackoff.Delay(3, r)
		low, high = min(low, d), max(high, d)
		require.LessOrEqual(t, system.DefaultModelBackoff.Delay(6, r), 30*time.Second, "never above the cap")
	}
	require.InDelta(t, 2, low.Seconds(), 0.05)
	require.InDelta(t, 6, high.Seconds(), 0.05)
}

func TestBackoffOddValues(t *testing.T) {
	require.Zero(t, system.Backoff{}.Delay(5, nil))
	require.Equal(t, time.Second, system.Backoff{Base: time.Second}.Delay(9, nil), "no factor: no growth")
	require.Equal(t, time.Second, system.DefaultModelBackoff.Delay(-1, nil))
	require.Positive(t, system.Backoff{Base: time.Hour, Factor: 10}.Delay(500, nil), "no cap: no overflow")
}

func TestRealWorld(t *testing.T) {
	w := system.RealWorld()
	require.WithinDuration(t, time.Now(), w.Now(), time.Minute)
	require.Regexp(t, `^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`, w.NewID())
	require.NotEqual(t, w.NewID(), w.NewID())
	require.NotEqual(t, w.Rand().Uint64(), w.Rand().Uint64())

	fired := make(chan struct{})
	w.AfterFunc(0, func() { close(fired) })
	<-fired
	require.True(t, w.AfterFunc(time.Hour, func() {}).Stop())
}
