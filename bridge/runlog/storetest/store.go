package storetest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/bridge/runlog"
	"github.com/troupe-go/troupe/messages"
	"github.com/troupe-go/troupe/messages/fact"
)

// limit ends a test that hangs.
const limit = 30 * time.Second

// Run checks what the comments of runlog.Store say. open gives an empty store
// that ends with the test.
func Run(t *testing.T, open func(*testing.T) runlog.Store) {
	for _, c := range []struct {
		name string
		test func(*bundle)
	}{
		{"a record has a position above the expected one", (*bundle).positions},
		{"a wrong expectation is refused and changes nothing", (*bundle).wrongSequence},
		{"of appends with one expectation exactly one is stored", (*bundle).oneWins},
		{"invocations of a run have logs of their own", (*bundle).separateLogs},
		{"an unknown invocation has no records", (*bundle).unknownInvocation},
		{"a record comes back as it was", (*bundle).sameRecord},
		{"events come in order, first the stored, then the new", (*bundle).eventOrder},
		{"an event is stored once by its id", (*bundle).idempotent},
		{"a reader starts after a position", (*bundle).fromPosition},
		{"a reader from beyond the end waits", (*bundle).beyondEnd},
		{"readers end after the last event", (*bundle).lastEvent},
		{"the last event of a sub-agent ends nobody", (*bundle).childEnd},
		{"runs don't mix", (*bundle).runsApart},
		{"an unknown run is an error", (*bundle).unknownRun},
		{"a reader ends with its context", (*bundle).cancelled},
		{"a reader that left costs nothing", (*bundle).leaves},
		{"a large event is stored whole", (*bundle).largeEvent},
		{"blobs are found by their hash", (*bundle).blobs},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(setup(t, open)) })
	}
}

type bundle struct {
	*testing.T
	ctx   context.Context
	store runlog.Store
	inv   runlog.Invocation
}

func setup(t *testing.T, open func(*testing.T) runlog.Store) *bundle {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	t.Cleanup(cancel)
	id := strings.NewReplacer("/", "-", "_", "-").Replace(t.Name())
	return &bundle{T: t, ctx: ctx, store: open(t), inv: runlog.Invocation{Tenant: "acme", Run: id, Invocation: id}}
}

func (b *bundle) record(n uint64, f fact.Fact) *runlog.Frozen {
	return runlog.Freeze(&fact.Record{
		Schema: fact.Schema, Run: b.inv.Run, Invocation: b.inv.Invocation, Epoch: 1, N: n,
		Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Facts: []fact.Fact{f},
	})
}

// started begins the run's log.
func (b *bundle) started() uint64 {
	seq, err := b.store.Append(b.ctx, b.inv, 0, b.record(1, &fact.RunStarted{Agent: "a", Query: "q", Tenant: b.inv.Tenant}))
	require.NoError(b, err)
	return seq
}

func (b *bundle) event(n uint64, content string) *messages.Event {
	return &messages.Event{
		Type: messages.Other, Content: content, RunID: b.inv.Run,
		ID: messages.EventID{Invocation: b.inv.Invocation, Epoch: 1, N: n},
	}
}

func (b *bundle) last(n uint64) *messages.Event {
	ev := b.event(n, "done")
	ev.Type, ev.Status = messages.FinalAnswer, messages.StatusAnswered
	return ev
}

func (b *bundle) publish(events ...*messages.Event) {
	n, err := b.store.Publish(b.ctx, b.inv, events)
	require.NoError(b, err)
	require.Equal(b, len(events), n)
}

// read takes events of the run, n at most or all when n is 0.
func (b *bundle) read(from uint64, n int) []messages.Event {
	var got []messages.Event
	for ev, err := range b.store.Subscribe(b.ctx, b.inv.Run, from) {
		require.NoError(b, err)
		got = append(got, ev)
		if len(got) == n {
			break
		}
	}
	return got
}

func contents(events []messages.Event) []string {
	var c []string
	for _, ev := range events {
		c = append(c, ev.Content)
	}
	return c
}

func (b *bundle) positions() {
	seq := b.started()
	require.Positive(b, seq)
	for n := uint64(2); n < 5; n++ {
		next, err := b.store.Append(b.ctx, b.inv, seq, b.record(n, &fact.Executed{Step: int(n)}))
		require.NoError(b, err)
		require.Greater(b, next, seq)
		seq = next
	}
	all, err := b.store.Read(b.ctx, b.inv, 0)
	require.NoError(b, err)
	require.Len(b, all, 4)
	for i, s := range all {
		require.Equal(b, uint64(i+1), s.Record.N())
		rest, err := b.store.Read(b.ctx, b.inv, s.Seq)
		require.NoError(b, err)
		require.Len(b, rest, 4-i, "position %d is included", s.Seq)
	}
	none, err := b.store.Read(b.ctx, b.inv, seq+1)
	require.NoError(b, err)
	require.Empty(b, none)
}

func (b *bundle) wrongSequence() {
	seq := b.started()
	for _, expected := range []uint64{0, seq + 1} {
		_, err := b.store.Append(b.ctx, b.inv, expected, b.record(2, &fact.Released{}))
		require.ErrorIs(b, err, runlog.ErrWrongSequence)
	}
	all, err := b.store.Read(b.ctx, b.inv, 0)
	require.NoError(b, err)
	require.Len(b, all, 1)
}

func (b *bundle) oneWins() {
	seq := b.started()
	const rivals = 8
	errs := make([]error, rivals)
	var wg sync.WaitGroup
	for i := range rivals {
		wg.Go(func() {
			rec := b.record(2, &fact.Released{Reason: fmt.Sprint(i)})
			for {
				_, errs[i] = b.store.Append(b.ctx, b.inv, seq, rec)
				if !errors.Is(errs[i], runlog.ErrUndecided) {
					return
				}
			}
		})
	}
	wg.Wait()
	won := -1
	for i, err := range errs {
		if err == nil {
			require.Negative(b, won, "two appends were stored")
			won = i
			continue
		}
		require.ErrorIs(b, err, runlog.ErrWrongSequence)
	}
	rest, err := b.store.Read(b.ctx, b.inv, seq+1)
	require.NoError(b, err)
	require.Len(b, rest, 1)
	require.Equal(b, fmt.Sprint(won), rest[0].Record.Facts()[0].(*fact.Released).Reason)
}

func (b *bundle) separateLogs() {
	b.started()
	child := b.inv
	child.Invocation += "-child"
	rec := runlog.Freeze(&fact.Record{Schema: 1, Run: child.Run, Invocation: child.Invocation, Epoch: 1, N: 1, Facts: []fact.Fact{&fact.RunStarted{Agent: "b"}}})
	_, err := b.store.Append(b.ctx, child, 0, rec)
	require.NoError(b, err)
	got, err := b.store.Read(b.ctx, child, 0)
	require.NoError(b, err)
	require.Len(b, got, 1)
	require.True(b, got[0].Record.Same(rec))
}

func (b *bundle) unknownInvocation() {
	got, err := b.store.Read(b.ctx, b.inv, 0)
	require.NoError(b, err)
	require.Empty(b, got)
}

func (b *bundle) sameRecord() {
	b.started()
	ev := b.event(7, "你好 <&>")
	ev.AttemptID, ev.Phase, ev.Keep = "att", messages.PhaseReplace, 3
	rec := runlog.Freeze(&fact.Record{
		Schema: 1, Run: b.inv.Run, Invocation: b.inv.Invocation, Epoch: 1, N: 2, Acked: 6,
		Time:    time.Date(2026, 1, 2, 3, 4, 5, 6000000, time.UTC),
		Facts:   []fact.Fact{&fact.Thought{Step: 1, Text: "<code>x</code>"}, &fact.Executed{Step: 1}},
		Settles: []messages.Event{*ev},
	})
	all, err := b.store.Read(b.ctx, runlog.Invocation{Run: b.inv.Run, Invocation: b.inv.Invocation}, 0)
	require.NoError(b, err, "the tenant is not needed to read")
	require.Len(b, all, 1)
	_, err = b.store.Append(b.ctx, b.inv, all[0].Seq, rec)
	require.NoError(b, err)
	got, err := b.store.Read(b.ctx, b.inv, all[0].Seq+1)
	require.NoError(b, err)
	require.Len(b, got, 1)
	require.True(b, got[0].Record.Same(rec))
	require.Equal(b, rec.Record(), got[0].Record.Record())
}

func (b *bundle) eventOrder() {
	b.started()
	b.publish(b.event(1, "1"), b.event(2, "2"))
	first := make(chan struct{})
	got := make(chan []messages.Event, 1)
	go func() {
		var events []messages.Event
		for ev, err := range b.store.Subscribe(b.ctx, b.inv.Run, 0) {
			if err != nil {
				break
			}
			if events = append(events, ev); len(events) == 2 {
				close(first)
			}
		}
		got <- events
	}()
	<-first
	b.publish(b.event(3, "3"))
	b.publish(b.event(4, "4"), b.last(5))
	events := <-got
	require.Equal(b, []string{"1", "2", "3", "4", "done"}, contents(events))
	for i := 1; i < len(events); i++ {
		require.Greater(b, events[i].Seq, events[i-1].Seq)
	}
	require.Positive(b, events[0].Seq)
}

func (b *bundle) idempotent() {
	b.started()
	b.publish(b.event(1, "1"), b.event(2, "2"))
	b.publish(b.event(2, "2"), b.event(3, "3"))
	b.publish(b.event(1, "1"), b.event(2, "2"), b.event(3, "3"), b.last(4))
	b.publish(b.last(4))
	require.Equal(b, []string{"1", "2", "3", "done"}, contents(b.read(0, 0)))
}

func (b *bundle) fromPosition() {
	b.started()
	for n := uint64(1); n <= 20; n++ {
		b.publish(b.event(n, fmt.Sprint(n)))
	}
	b.publish(b.last(21))
	all := b.read(0, 0)
	require.Len(b, all, 21)
	require.Equal(b, all[10:], b.read(all[9].Seq, 0))
}

func (b *bundle) beyondEnd() {
	for _, from := range []uint64{math.MaxUint64, math.MaxUint64 - 1, 1 << 40} {
		run := *b
		run.inv.Run, run.inv.Invocation = fmt.Sprint(b.inv.Run, "-", from), fmt.Sprint(b.inv.Invocation, "-", from)
		run.started()
		run.publish(run.event(1, "1"))
		var none error
		gave := make(chan int, 1)
		go func() {
			n := 0
			for _, err := range run.store.Subscribe(b.ctx, run.inv.Run, from) {
				none = errors.Join(none, err)
				n++
			}
			gave <- n
		}()
		run.publish(run.event(2, "2"))
		run.publish(run.last(3))
		require.Zero(b, <-gave, "from %d", from)
		require.NoError(b, none)
		require.Empty(b, run.read(from, 0), "a run that has ended ends its readers at once")
	}
}

func (b *bundle) lastEvent() {
	b.started()
	b.publish(b.event(1, "1"), b.last(2))
	all := b.read(0, 0)
	require.Len(b, all, 2)
	require.Equal(b, all, b.read(0, 0), "the end can be attached to more than once")
	require.Empty(b, b.read(all[1].Seq, 0))
	require.Empty(b, b.read(all[1].Seq+1000, 0))
}

func (b *bundle) childEnd() {
	b.started()
	child := b.event(1, "child")
	child.Type, child.Status, child.Depth = messages.FinalAnswer, messages.StatusAnswered, 1
	sub := b.event(2, "sub")
	sub.Type, sub.Status = messages.SubagentEnd, messages.StatusAnswered
	b.publish(child, sub, b.last(3))
	require.Len(b, b.read(0, 0), 3)
}

func (b *bundle) runsApart() {
	b.started()
	other := *b
	other.inv.Run, other.inv.Invocation = b.inv.Run+"-2", b.inv.Invocation+"-2"
	other.started()
	b.publish(b.event(1, "mine"))
	other.publish(other.event(1, "theirs"), other.last(2))
	b.publish(b.last(2))
	require.Equal(b, []string{"mine", "done"}, contents(b.read(0, 0)))
	require.Equal(b, []string{"theirs", "done"}, contents(other.read(0, 0)))
}

func (b *bundle) unknownRun() {
	n := 0
	for _, err := range b.store.Subscribe(b.ctx, "no-such-run", 0) {
		n++
		require.ErrorIs(b, err, messages.ErrUnknownRun)
	}
	require.Equal(b, 1, n)
}

func (b *bundle) cancelled() {
	b.started()
	b.publish(b.event(1, "1"))
	ctx, cancel := context.WithCancel(b.ctx)
	defer cancel()
	var last error
	for _, err := range b.store.Subscribe(ctx, b.inv.Run, 0) {
		last = err
		cancel()
	}
	require.ErrorIs(b, last, context.Canceled)
}

func (b *bundle) leaves() {
	b.started()
	b.publish(b.event(1, "1"), b.event(2, "2"))
	require.Len(b, b.read(0, 1), 1)
	b.publish(b.last(3))
	require.Len(b, b.read(0, 0), 3)
}

func (b *bundle) largeEvent() {
	b.started()
	big := strings.Repeat("答", 1<<20) // 3 MiB
	b.publish(b.event(1, big), b.last(2))
	require.Equal(b, []string{big, "done"}, contents(b.read(0, 0)))
}

func (b *bundle) blobs() {
	b.started()
	data := []byte(strings.Repeat("blob", 1<<18))
	hash, err := b.store.PutBlob(b.ctx, b.inv, data)
	require.NoError(b, err)
	sum := sha256.Sum256(data)
	require.Equal(b, hex.EncodeToString(sum[:]), hash)
	again, err := b.store.PutBlob(b.ctx, b.inv, data)
	require.NoError(b, err)
	require.Equal(b, hash, again)
	got, err := b.store.GetBlob(b.ctx, b.inv, hash)
	require.NoError(b, err)
	require.Equal(b, data, got)
	_, err = b.store.GetBlob(b.ctx, b.inv, strings.Repeat("0", 64))
	require.ErrorIs(b, err, runlog.ErrNoBlob)
	_, err = b.store.PutBlob(b.ctx, b.inv, make([]byte, runlog.MaxBlob+1))
	require.ErrorIs(b, err, runlog.ErrTooLarge)
}
