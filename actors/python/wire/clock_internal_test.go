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
	c := startClock(time.Hour, func() { expired++ })
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
