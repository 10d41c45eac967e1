package runlog

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/messages"
)

// What a run's events may take is bounded however large they are; a reader is
// told what went.
func TestMemoryBoundsBytes(t *testing.T) {
	const kilo = 1 << 10
	for name, c := range map[string]struct {
		keep  MemoryConfig
		sizes []int // of the contents
		want  []uint64
	}{
		"within":            {MemoryConfig{KeepBytes: 4 * (kilo + eventBytes)}, []int{kilo, kilo, kilo, kilo}, []uint64{1, 2, 3, 4}},
		"one too many":      {MemoryConfig{KeepBytes: 4*(kilo+eventBytes) - 1}, []int{kilo, kilo, kilo, kilo}, []uint64{2, 3, 4}},
		"a large one":       {MemoryConfig{KeepBytes: 4 * kilo}, []int{10, 10, 3 * kilo, 10}, []uint64{3, 4}},
		"one over it alone": {MemoryConfig{KeepBytes: kilo}, []int{10, 10, 3 * kilo}, []uint64{3}},
		"and those after":   {MemoryConfig{KeepBytes: kilo}, []int{10, 3 * kilo, 10, 10}, []uint64{3, 4}},
		"by both bounds":    {MemoryConfig{KeepBytes: 4 * kilo, KeepEvents: 3}, []int{10, 10, 10, 10, 2 * kilo, 10, 10, 3 * kilo}, []uint64{7, 8}},
		"none to speak of":  {MemoryConfig{KeepEvents: 1}, []int{0, 0}, []uint64{2}},
	} {
		t.Run(name, func(t *testing.T) {
			s, inv := NewMemory(c.keep), Invocation{Run: "r", Invocation: "r"}
			_, err := s.Append(t.Context(), inv, 0, nil)
			require.NoError(t, err)
			used := 0
			for i, size := range c.sizes {
				ev := &messages.Event{ID: messages.EventID{Invocation: "r", Epoch: 1, N: uint64(i + 1)}, Content: strings.Repeat("x", size)}
				_, err := s.Publish(t.Context(), inv, []*messages.Event{ev})
				require.NoError(t, err)
			}
			seqs, missed := kept(t, s, uint64(len(c.sizes)))
			require.Equal(t, c.want, seqs)
			if first := c.want[0]; first > 1 {
				require.Equal(t, []messages.Missed{{From: 1, To: first - 1}}, missed)
			}
			for _, seq := range seqs {
				used += eventBytes + c.sizes[seq-1]
			}
			require.Equal(t, used, s.run("r").events.used)
		})
	}
}

// kept reads a run's events up to position last.
func kept(t *testing.T, s *Memory, last uint64) (seqs []uint64, missed []messages.Missed) {
	for ev, err := range s.Subscribe(context.Background(), "r", 0) {
		var m *messages.Missed
		if errors.As(err, &m) {
			missed = append(missed, *m)
			continue
		}
		require.NoError(t, err)
		if seqs = append(seqs, ev.Seq); ev.Seq == last {
			return seqs, missed
		}
	}
	return seqs, missed
}
