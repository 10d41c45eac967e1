package system_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/system"
)

func TestNewID(t *testing.T) {
	world := system.RealWorld()
	ids := make([]string, 10_000)
	for i := range ids {
		ids[i] = world.NewID()
	}
	require.True(t, slices.IsSorted(ids), "in the order they were made")
	require.Len(t, slices.Compact(slices.Clone(ids)), len(ids))

	id, err := uuid.Parse(ids[0])
	require.NoError(t, err)
	require.Equal(t, ids[0], id.String())
	require.EqualValues(t, 7, id.Version())
	require.Equal(t, uuid.RFC4122, id.Variant())
	seconds, nanos := id.Time().UnixTime()
	require.WithinDuration(t, time.Now(), time.Unix(seconds, nanos), time.Minute)
	other, err := uuid.Parse(ids[1])
	require.NoError(t, err)
	require.NotEqual(t, id[8:], other[8:], "62 bits are random")
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() { world.NewID() }), 2.0, "one; two under the race detector")
}
