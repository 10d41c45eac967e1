package storetest

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/bridge/runlog"
	"github.com/troupe-go/troupe/messages"
	"github.com/troupe-go/troupe/messages/fact"
)

// RunLog checks what a runlog.Log does over a store (DESIGN §5). open gives an
// empty store that ends with the test.
func RunLog(t *testing.T, open func(*testing.T) runlog.Store) {
	for _, c := range []struct {
		name string
		test func(*logBundle)
	}{
		{"a run from its start to its last event", (*logBundle).whole},
		{"a log begins once", (*logBundle).beginsOnce},
		{"an unknown run can't be adopted", (*logBundle).unknown},
		{"an adopter goes on, the old owner stops quietly", (*logBundle).adopts},
		{"of many adopters exactly one wins each epoch", (*logBundle).oneOwner},
		{"an adopter publishes what was settled and lost", (*logBundle).publishesAgain},
		{"a finished run is adopted only to publish", (*logBundle).closes},
		{"crashes are counted", (*logBundle).crashes},
		{"every watcher sees each event once", (*logBundle).watchers},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := &logBundle{bundle: setup(t, open)}
			b.log = b.newLog()
			c.test(b)
		})
	}
}

type logBundle struct {
	*bundle
	log *runlog.Log
}

func (b *logBundle) newLog() *runlog.Log {
	l := runlog.New(runlog.Config{Store: b.store})
	b.Cleanup(l.Close)
	return l
}

func (b *logBundle) begin() *runlog.Journal {
	j, err := b.log.Begin(b.ctx, b.inv.Run, b.inv.Invocation, &fact.RunStarted{Tenant: "acme", Agent: "a", Query: "q"})
	require.NoError(b, err)
	return j
}

func (b *logBundle) adopt(cause string) *runlog.Adoption {
	a, err := b.log.Adopt(b.ctx, b.inv.Run, b.inv.Invocation, cause, "test")
	require.NoError(b, err)
	return a
}

// append waits for the fact to be stored.
func (b *logBundle) append(j *runlog.Journal, f fact.Fact, after ...messages.Event) error {
	done := make(chan error, 1)
	j.Append(f, after, func(err error) { done <- err })
	select {
	case err := <-done:
		return err
	case <-b.ctx.Done():
		return b.ctx.Err()
	}
}

func (b *logBundle) finish(j *runlog.Journal) {
	require.NoError(b, b.append(j, &fact.RunFinished{Status: messages.StatusAnswered}, final()))
}

func final() messages.Event {
	return messages.Event{Type: messages.FinalAnswer, Content: "done", Status: messages.StatusAnswered}
}

func note(s string) *messages.Event { return &messages.Event{Type: messages.Other, Content: s} }

func text(attempt, s string) *messages.Event {
	return &messages.Event{Type: messages.ModelOutputThinking, AttemptID: attempt, Content: s}
}

func (b *logBundle) watch() []messages.Event {
	var events []messages.Event
	for ev, err := range b.log.Watch(b.ctx, b.inv.Run, 0) {
		require.NoError(b, err)
		events = append(events, ev)
	}
	return events
}

func (b *logBundle) whole() {
	j := b.begin()
	require.Equal(b, uint64(1), j.Epoch())
	j.Publish(note("new"))
	j.Publish(text("t1", "wrong"))
	j.Withdraw("t1")
	j.Publish(text("t2", "th"))
	j.Publish(text("t2", "ink"))
	require.NoError(b, b.append(j, &fact.Thought{Step: 1, Text: "think", AttemptID: "t2"}, *note("commit")))
	j.Publish(note("log"))
	require.NoError(b, b.append(j, &fact.Executed{Step: 1}))
	b.finish(j)
	require.ErrorIs(b, b.append(j, &fact.Released{}), runlog.ErrFinished)
	j.Publish(note("too late"))

	events := b.watch()
	require.Equal(b, []string{"new", "wrong", "th", "ink", "commit", "log", "done"}, contents(events))
	for i, ev := range events {
		require.Equal(b, messages.EventID{Invocation: b.inv.Invocation, Epoch: 1, N: uint64(i + 1)}, ev.ID)
		require.Equal(b, b.inv.Run, ev.RunID)
		require.False(b, ev.Time.IsZero())
	}
	records, err := b.store.Read(b.ctx, b.inv, 0)
	require.NoError(b, err)
	var facts, settled []string
	for _, s := range records {
		for _, f := range s.Record.Facts() {
			facts = append(facts, f.Kind())
		}
		for _, ev := range s.Record.Settles() {
			settled = append(settled, ev.Content)
		}
	}
	require.Equal(b, []string{"run_started", "thought", "executed", "run_finished"}, facts)
	require.Equal(b, []string{"new", "think", "commit", "log", "done"}, settled)
}

func (b *logBundle) beginsOnce() {
	j := b.begin()
	_, err := b.newLog().Begin(b.ctx, b.inv.Run, b.inv.Invocation, &fact.RunStarted{Tenant: "acme", Agent: "a", Query: "q"})
	require.ErrorIs(b, err, runlog.ErrExists)
	b.finish(j)
}

func (b *logBundle) unknown() {
	_, err := b.log.Adopt(b.ctx, b.inv.Run, b.inv.Invocation, fact.CauseLoss, "")
	require.ErrorIs(b, err, messages.ErrUnknownRun)
	for _, err := range b.log.Watch(b.ctx, b.inv.Run, 0) {
		require.ErrorIs(b, err, messages.ErrUnknownRun)
	}
}

func (b *logBundle) adopts() {
	old := b.begin()
	old.Publish(note("settled"))
	require.NoError(b, b.append(old, &fact.Executed{Step: 1}))
	old.Publish(note("unsettled"))
	require.Len(b, b.read(0, 2), 2) // it is stored

	a := b.adopt(fact.CauseLoss)
	require.Equal(b, uint64(2), a.Journal.Epoch())
	require.Len(b, a.Records, 2)
	require.Nil(b, a.Finished)
	require.ErrorIs(b, b.append(old, &fact.Executed{Step: 2}), runlog.ErrStale)
	require.ErrorIs(b, b.append(old, &fact.Executed{Step: 3}), runlog.ErrStale, "and again")
	old.Publish(note("nobody sees this"))
	b.finish(a.Journal)

	events := b.watch()
	require.Equal(b, []string{"settled", "unsettled", "", "done"}, contents(events))
	adopted := events[2]
	require.Equal(b, messages.PhaseAdopted, adopted.Phase)
	require.Equal(b, uint64(2), adopted.Epoch)
	require.False(b, adopted.Withdraws(events[0].ID))
	require.True(b, adopted.Withdraws(events[1].ID))
}

func (b *logBundle) oneOwner() {
	b.begin()
	const adopters = 6
	owners := make([]*runlog.Journal, adopters)
	var wg sync.WaitGroup
	for i := range adopters {
		l := b.newLog()
		wg.Go(func() {
			if a, err := l.Adopt(b.ctx, b.inv.Run, b.inv.Invocation, fact.CauseLoss, fmt.Sprint(i)); err == nil {
				owners[i] = a.Journal
			}
		})
	}
	wg.Wait()
	epochs, newest := map[uint64]bool{}, (*runlog.Journal)(nil)
	for _, j := range owners {
		if j == nil {
			continue
		}
		require.False(b, epochs[j.Epoch()], "two owners of epoch %d", j.Epoch())
		epochs[j.Epoch()] = true
		if newest == nil || j.Epoch() > newest.Epoch() {
			newest = j
		}
	}
	require.NotNil(b, newest)
	for _, j := range owners {
		if j != nil && j != newest {
			require.ErrorIs(b, b.append(j, &fact.Executed{}), runlog.ErrStale)
		}
	}
	b.finish(newest)
}

// publishesAgain writes an owner's records by hand: its last events never
// reached the store.
func (b *logBundle) publishesAgain() {
	seq := b.started()
	piece := b.event(4, "whole text")
	piece.Type, piece.AttemptID, piece.Phase, piece.Keep = messages.ModelOutputThinking, "t", messages.PhaseReplace, 1
	rec := b.record(2, &fact.Thought{Step: 1, AttemptID: "t"}).Record()
	rec.Settles = []messages.Event{*b.event(1, "seen"), *piece, *b.event(5, "commit")}
	rec.Acked = 1
	_, err := b.store.Append(b.ctx, b.inv, seq, runlog.Freeze(rec))
	require.NoError(b, err)
	b.publish(b.event(1, "seen"), b.event(2, "who"))

	a := b.adopt(fact.CauseLoss)
	b.finish(a.Journal)
	events := b.watch()
	require.Equal(b, []string{"seen", "who", "whole text", "commit", "", "done"}, contents(events))
	require.True(b, events[2].Withdraws(events[1].ID), "the text takes the place of its piece")
	require.False(b, events[2].Withdraws(events[0].ID))
	require.Equal(b, uint64(5), events[4].Keep)
}

func (b *logBundle) closes() {
	seq := b.started()
	rec := b.record(2, &fact.RunFinished{Status: messages.StatusAnswered}).Record()
	rec.Settles = []messages.Event{*b.event(1, "log"), *b.last(2)}
	_, err := b.store.Append(b.ctx, b.inv, seq, runlog.Freeze(rec))
	require.NoError(b, err)

	for range 2 { // closing twice is no harm
		a := b.adopt(fact.CauseLoss)
		require.NotNil(b, a.Finished)
		require.ErrorIs(b, b.append(a.Journal, &fact.Released{}), runlog.ErrFinished)
	}
	require.Equal(b, []string{"log", "done"}, contents(b.watch()))
	records, err := b.store.Read(b.ctx, b.inv, 0)
	require.NoError(b, err)
	require.Len(b, records, 2, "no fact follows run_finished")
}

func (b *logBundle) crashes() {
	j := b.begin()
	for _, c := range []struct {
		before fact.Fact
		cause  string
		want   int
	}{
		{nil, fact.CausePanic, 1},
		{nil, fact.CausePanic, 2},
		{nil, fact.CauseLoss, 1},
		{&fact.Released{Reason: "drain"}, fact.CauseLoss, 0},
		{nil, fact.CausePanic, 3},
		{&fact.Thought{Step: 1}, fact.CausePanic, 1},
		{&fact.Executed{Step: 1}, fact.CauseLoss, 1},
	} {
		if c.before != nil {
			require.NoError(b, b.append(j, c.before))
		}
		a := b.adopt(c.cause)
		require.Equal(b, c.want, a.CrashCount, "%+v", c)
		j = a.Journal
	}
	b.finish(j)
}

func (b *logBundle) watchers() {
	j := b.begin()
	const n, watchers = 300, 5
	var wg sync.WaitGroup
	seen := make([][]messages.Event, watchers)
	for i := range watchers {
		wg.Go(func() {
			for ev, err := range b.log.Watch(b.ctx, b.inv.Run, 0) {
				if err != nil {
					return
				}
				seen[i] = append(seen[i], ev)
			}
		})
	}
	for i := range n {
		j.Publish(note(fmt.Sprint(i)))
		if i%50 == 0 {
			require.NoError(b, b.append(j, &fact.Executed{Step: i}))
		}
	}
	b.finish(j)
	wg.Wait()
	for _, events := range seen {
		require.Len(b, events, n+1)
		for i, ev := range events {
			require.Equal(b, uint64(i+1), ev.ID.N)
			require.Equal(b, i == n, ev.Last())
		}
	}
	ctx, cancel := context.WithCancel(b.ctx)
	defer cancel()
	var rest []messages.Event
	for ev, err := range b.log.Watch(ctx, b.inv.Run, seen[0][9].Seq) {
		require.NoError(b, err)
		rest = append(rest, ev)
	}
	require.Equal(b, seen[0][10:], rest, "EVT-03")
}
