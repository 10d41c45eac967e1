package supervisor_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/system"
	"github.com/troupe-go/troupe/messages"
	"github.com/troupe-go/troupe/supervisor"
)

// What limits leave open is filled in, and what they say stays.
func TestLimitsHaveDefaults(t *testing.T) {
	l := supervisor.WithDefaults(messages.Limits{})
	require.Equal(t, 4*runtime.GOMAXPROCS(0), l.MaxExecutors)
	require.Equal(t, supervisor.DefaultMaxRuns, l.MaxRuns)
	require.Equal(t, 1, supervisor.WithDefaults(messages.Limits{MaxExecutors: 1}).MaxExecutors)
}

// TestQueue: one place, one that waits, the third is refused; the place goes
// to who waits.
func TestQueue(t *testing.T) {
	h := setup(t, messages.Limits{MaxRuns: 1, QueueSize: 1})
	first := h.start(messages.RunAgent{})
	q := h.next()
	accepted, err := system.Ask[*messages.RunAccepted](h.ctx, h.system, h.root, &messages.RunAgent{Query: "second"})
	require.NoError(t, err)
	require.True(t, accepted.Queued)
	require.ErrorIs(t, h.refused(messages.RunAgent{Query: "third"}), messages.ErrBusy)
	q.answer <- "first"
	h.watch(first)
	q = h.next()
	require.Contains(t, q.last, "second")
	q.answer <- "second"
	events := h.watch(accepted.Run)
	require.Equal(t, "second", events[len(events)-1].Content)
}

// TestQueueWait: who waits too long ends with a clear error.
func TestQueueWait(t *testing.T) {
	h := setup(t, messages.Limits{MaxRuns: 1, QueueWait: 10 * time.Millisecond})
	first := h.start(messages.RunAgent{})
	q := h.next()
	second := h.start(messages.RunAgent{})
	events := h.watch(second)
	require.Equal(t, "busy", events[len(events)-1].ErrorCode)
	q.answer <- "first"
	h.watch(first)
}

// TestIdempotency: the same key is the same run; with another query it is a
// conflict.
func TestIdempotency(t *testing.T) {
	h := setup(t, messages.Limits{})
	run := h.start(messages.RunAgent{Query: "a", IdempotencyKey: "k"})
	q := h.next()
	again, err := system.Ask[*messages.RunAccepted](h.ctx, h.system, h.root, &messages.RunAgent{Query: "a", IdempotencyKey: "k"})
	require.NoError(t, err)
	require.Equal(t, run, again.Run)
	require.True(t, again.Existing)
	require.ErrorIs(t, h.refused(messages.RunAgent{Query: "b", IdempotencyKey: "k"}), messages.ErrConflict)
	other := h.start(messages.RunAgent{Query: "b", IdempotencyKey: "k", Tenant: "another"})
	require.NotEqual(t, run, other)
	q.answer <- "done"
	h.next().answer <- "done"
	h.watch(run)
	h.watch(other)
}

// TestRefusals: what can't run is refused with its reason and leaves nothing.
func TestRefusals(t *testing.T) {
	h := setup(t, messages.Limits{})
	require.ErrorIs(t, h.refused(messages.RunAgent{Agent: "nobody", Query: "x"}), messages.ErrUnknownAgent)
	run := h.start(messages.RunAgent{Run: "mine"})
	require.Equal(t, "mine", run)
	require.Equal(t, "run_exists", h.refused(messages.RunAgent{Run: "mine", Query: "x"}).Code)
	h.next().answer <- "done"
	h.watch(run)
	load, err := system.Ask[*supervisor.Load](h.ctx, h.system, h.root, &supervisor.Status{})
	require.NoError(t, err)
	require.Zero(t, load.Queued)
}

// TestKeepRuns: an ended run is forgotten when newer ones need its place, with
// its files.
func TestKeepRuns(t *testing.T) {
	h := setup(t, messages.Limits{KeepRuns: 1})
	first := h.start(messages.RunAgent{IdempotencyKey: "k"})
	h.next().answer <- "one"
	h.watch(first)
	require.Eventually(t, func() bool { // its last event is out before the root knows of its end
		load, err := system.Ask[*supervisor.Load](h.ctx, h.system, h.root, &supervisor.Status{})
		return err == nil && load.Ended == 1
	}, patience, time.Millisecond)
	second := h.start(messages.RunAgent{})
	h.next().answer <- "two"
	h.watch(second)
	require.Eventually(t, func() bool {
		return h.stop(messages.Stop{Run: first}).Fault != nil
	}, patience, time.Millisecond)
	third := h.start(messages.RunAgent{IdempotencyKey: "k"})
	require.NotEqual(t, first, third)
	h.next().answer <- "three"
	h.watch(third)
}
