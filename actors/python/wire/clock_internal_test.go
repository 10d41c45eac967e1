package wire

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The guest's own time is the sum of the pieces between its calls, however
// small they are.
func TestClockAddsUpPieces(t *testing.T) {
	expired := 0
	c := startClock(time.Hour, func() time.Duration { return 0 }, func() { expired++ })
	defer c.stop()
	computes := func(d time.Duration) bool {
		c.since = time.Now().Add(-d)
		return c.pause()
	}
	for range 3 {
		require.True(t, computes(19*time.Minute))
		c.resume()
	}
	require.Zero(t, expired)
	require.False(t, computes(19*time.Minute))
	require.Equal(t, 1, expired)
}

// Processor time counts while a call is out, too, however short the calls are.
func TestClockCountsProcessorTime(t *testing.T) {
	setup := func(t *testing.T) (c *clock, use func(time.Duration), expired *int) {
		var cpu time.Duration
		expired = new(int)
		c = startClock(time.Hour, func() time.Duration { return cpu }, func() { *expired++ })
		t.Cleanup(c.stop)
		return c, func(d time.Duration) { cpu += d; c.next = time.Now() }, expired
	}
	t.Run("in one long call", func(t *testing.T) {
		c, use, expired := setup(t)
		require.True(t, c.pause())
		use(59 * time.Minute)
		c.tick()
		require.Zero(t, *expired)
		use(time.Minute)
		c.tick()
		require.Equal(t, 1, *expired)
	})
	t.Run("in many short ones", func(t *testing.T) {
		c, use, expired := setup(t)
		for range 3 {
			use(19 * time.Minute)
			require.True(t, c.pause())
			c.resume()
		}
		use(19 * time.Minute)
		require.False(t, c.pause())
		require.Equal(t, 1, *expired)
	})
	t.Run("not after the block", func(t *testing.T) {
		c, use, expired := setup(t)
		require.True(t, c.pause())
		use(2 * time.Hour)
		c.stop()
		c.tick()
		require.Zero(t, *expired)
	})
}
