package runlog_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/bridge/runlog"
	"github.com/troupe-go/troupe/messages"
	"github.com/troupe-go/troupe/messages/fact"
)

// A slow reader of a log that is closed is told what it missed, and still gets
// what is kept.
func TestCloseGivesASlowReaderWhatIsKept(t *testing.T) {
	const keep = 40
	store := runlog.NewMemory(runlog.MemoryConfig{KeepEvents: keep})
	j, err := runlog.New(runlog.Config{Store: store}).Begin(t.Context(), "r", "r", &fact.RunStarted{Query: "x"})
	require.NoError(t, err)
	publish := func(n int) {
		for range n {
			j.Publish(&messages.Event{Type: messages.Other})
		}
	}
	publish(keep)
	ctx, closed := context.WithCancelCause(t.Context())
	defer closed(nil)
	var last uint64
	var missed *messages.Missed
	var end error
	for ev, err := range store.Subscribe(ctx, "r", 0) {
		switch {
		case errors.As(err, &missed):
		case err != nil:
			end = err
		case last == 0: // it has read one when the others are overwritten and the log is closed
			publish(2 * keep)
			closed(messages.ErrShutdown) // as Log.Close does
			last = ev.Seq
		default:
			last = ev.Seq
		}
	}
	require.NotNil(t, missed)
	require.EqualValues(t, 3*keep, last, "the newest event is read")
	require.ErrorIs(t, end, context.Canceled)
}
