package runlog

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/system/worldtest"
	"github.com/troupe-go/troupe/messages"
	"github.com/troupe-go/troupe/messages/fact"
)

// bench is a log over a faulty store in virtual time, and a journal that began
// while all was fine.
type bench struct {
	*testing.T
	world  *worldtest.World
	store  *faulty
	log    *Log
	j      *Journal
	inv    Invocation
	pauses []Pause
}

func setup(t *testing.T) *bench {
	b := &bench{
		T: t, world: worldtest.New(1), store: &faulty{mem: NewMemory(MemoryConfig{KeepEvents: 8})},
		inv: Invocation{Tenant: "acme", Run: "r", Invocation: "i"},
	}
	b.log = New(Config{Store: b.store, World: b.world, OnPaused: func(p Pause) { b.pauses = append(b.pauses, p) }})
	t.Cleanup(b.log.Close)
	var err error
	b.j, err = b.log.Begin(context.Background(), "r", "i", &fact.RunStarted{Tenant: "acme", Agent: "a"})
	require.NoError(t, err)
	return b
}

// answer keeps what done was called with.
type answer struct {
	err   error
	calls int
}

func (a *answer) done(err error) { a.err, a.calls = err, a.calls+1 }

func (b *bench) executed(step int) *answer {
	a := new(answer)
	b.j.Append(&fact.Executed{Step: step}, nil, a.done)
	return a
}

func (b *bench) records() []Stored {
	records, err := b.store.mem.Read(context.Background(), b.inv, 0)
	require.NoError(b, err)
	return records
}

func (b *bench) steps() (steps [][]int) {
	for _, s := range b.records()[1:] {
		var of []int
		for _, f := range s.Record.facts {
			of = append(of, f.(*fact.Executed).Step)
		}
		steps = append(steps, of)
	}
	return steps
}

func TestAppendIsFrozenWhenSent(t *testing.T) {
	for _, c := range []struct {
		name   string
		faults []int
	}{
		{"the call is lost", []int{lostCall, lostCall}},
		{"the ack is lost", []int{lostAck}},
		{"it is undecided", []int{undecided, undecided, undecided}},
		{"it arrives late", []int{delayed}},
		{"it is lost, then its ack", []int{lostCall, lostAck}},
		{"its ack and the read are lost", []int{lostAck, fine, lostCall}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := setup(t)
			b.store.plan = c.faults
			answers := []*answer{b.executed(1), b.executed(2), b.executed(3)}
			require.Zero(t, answers[0].calls)
			b.world.Advance(time.Minute)
			for _, a := range answers {
				require.Equal(t, answer{nil, 1}, *a)
			}
			require.Equal(t, [][]int{{1}, {2, 3}}, b.steps(), "what came meanwhile is merged into the next record")
			require.Empty(t, b.pauses)
		})
	}
}

func TestRecordsAreBounded(t *testing.T) {
	b := setup(t)
	b.store.down = true
	for i := range maxMerge + 10 {
		b.executed(i)
	}
	b.store.down = false
	b.world.Advance(time.Minute)
	steps := b.steps()
	require.Len(t, steps, 3)
	require.Len(t, steps[1], maxMerge)
	require.Len(t, steps[2], 9)
}

func TestBurstOfEvents(t *testing.T) {
	b := setup(t)
	b.store.mem.keep, b.store.mem.run("r").events.keep = 4096, 4096
	b.store.down = true
	const n = 3000
	for i := range n {
		b.j.Publish(&messages.Event{Type: messages.Other, Content: fmt.Sprint(i)})
	}
	b.store.down, b.store.plan = false, []int{half, fine, lostAck, half}
	a := new(answer)
	b.j.Append(&fact.RunFinished{}, []messages.Event{{Type: messages.FinalAnswer, Status: messages.StatusAnswered}}, a.done)
	b.world.Advance(time.Minute)
	require.Equal(t, answer{nil, 1}, *a)
	next := 0
	for ev, err := range b.log.Watch(context.Background(), "r", 0) {
		require.NoError(t, err)
		if !ev.Last() {
			require.Equal(t, fmt.Sprint(next), ev.Content)
		}
		next++
	}
	require.Equal(t, n+1, next)
	require.LessOrEqual(t, cap(b.j.m.out), maxIdle, "a burst leaves no memory behind")
}

func TestPauseIsTold(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(*bench)
	}{
		{"facts", func(b *bench) { b.executed(1) }},
		{"events", func(b *bench) { b.j.Publish(&messages.Event{Type: messages.Other}) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := setup(t)
			b.store.down = true
			c.do(b)
			b.world.Advance(1900 * time.Millisecond)
			require.Empty(t, b.pauses, "a short failure is nobody's business")
			b.world.Advance(time.Second)
			require.Equal(t, []Pause{{"r", "i", true, errLost}}, b.pauses)
			b.world.Advance(time.Minute)
			require.Len(t, b.pauses, 1)
			b.store.down = false
			b.world.Advance(time.Minute)
			require.Equal(t, Pause{"r", "i", false, nil}, b.pauses[1])
			require.Empty(t, b.world.Pending(), "an idle journal holds no timer")
		})
	}
}

func TestEventsGoOnWhileAFactWaits(t *testing.T) {
	b := setup(t)
	b.store.plan = []int{lostCall}
	a := new(answer)
	b.j.Append(&fact.Executed{}, []messages.Event{{Type: messages.Other, Content: "true by the fact"}}, a.done)
	require.Zero(t, b.store.mem.run("r").events.last)
	b.j.Publish(&messages.Event{Type: messages.Other, Content: "later"})
	require.Zero(t, b.store.mem.run("r").events.last, "the order is kept")
	b.world.Advance(time.Second)
	require.Equal(t, 1, a.calls)
	require.Equal(t, uint64(2), b.store.mem.run("r").events.last)

	b.store.plan = []int{lostCall}
	b.executed(2) // makes nothing true: nothing waits for it
	b.j.Publish(&messages.Event{Type: messages.Other, Content: "at once"})
	require.Equal(t, uint64(3), b.store.mem.run("r").events.last)
}

func TestLogThatDiverged(t *testing.T) {
	foreign := func(epoch, n uint64) *Frozen {
		return Freeze(&fact.Record{Schema: 1, Run: "r", Invocation: "i", Epoch: epoch, N: n, Facts: []fact.Fact{&fact.Released{Reason: "who?"}}})
	}
	for _, c := range []struct {
		name  string
		wrong func(*memoryLog)
		want  error
	}{
		{"a record of our epoch that is not ours", func(l *memoryLog) { l.facts = append(l.facts, foreign(1, 2)) }, ErrDiverged},
		{"our last record is gone", func(l *memoryLog) { l.facts = nil }, ErrDiverged},
		{"a newer owner", func(l *memoryLog) { l.facts = append(l.facts, foreign(2, 1)) }, ErrStale},
		{"a newer owner that wrote on", func(l *memoryLog) { l.facts = append(l.facts, foreign(2, 1), foreign(2, 2)) }, ErrStale},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := setup(t)
			c.wrong(b.store.mem.run("r").root)
			require.ErrorIs(t, b.executed(1).err, c.want)
			require.ErrorIs(t, b.executed(2).err, c.want, "it stays so")
			b.j.Publish(&messages.Event{Type: messages.Other})
			require.Zero(t, b.store.mem.run("r").events.last, "and publishes nothing")
		})
	}
}

func TestRefusedForGood(t *testing.T) {
	b := setup(t)
	b.log.Forget("r")
	require.ErrorIs(t, b.executed(1).err, messages.ErrUnknownRun)
	_, err := b.log.Begin(context.Background(), "", "i", &fact.RunStarted{})
	require.ErrorIs(t, err, ErrInput)
	_, err = b.log.Begin(context.Background(), "r2", "i", nil)
	require.ErrorIs(t, err, ErrInput)
	_, err = b.log.Adopt(context.Background(), "r", "i", "boredom", "")
	require.ErrorIs(t, err, ErrInput)
}

func TestBeginGivesUpWithItsContext(t *testing.T) {
	b := setup(t)
	b.store.down = true
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := b.log.Begin(ctx, "r2", "i", &fact.RunStarted{})
	require.ErrorIs(t, err, context.Canceled)
	_, err = b.log.Adopt(ctx, "r", "i", fact.CauseLoss, "")
	require.ErrorIs(t, err, context.Canceled)
	b.world.Advance(time.Minute)
	require.Empty(t, b.world.Pending(), "nobody tries any more")
}

func TestClose(t *testing.T) {
	b := setup(t)
	b.store.down = true
	waiting := b.executed(1)
	b.log.Close()
	b.log.Close()
	after := b.executed(2)
	b.world.Advance(time.Second)
	require.ErrorIs(t, waiting.err, messages.ErrShutdown)
	require.ErrorIs(t, after.err, messages.ErrShutdown)
	require.Equal(t, 1, waiting.calls)
	_, err := b.log.Begin(context.Background(), "r2", "i", &fact.RunStarted{})
	require.ErrorIs(t, err, messages.ErrShutdown)
}

// stuck is a store whose appends hang until their context ends.
type stuck struct {
	Store
	calls chan struct{}
}

func (s *stuck) Append(ctx context.Context, inv Invocation, expected uint64, rec *Frozen) (uint64, error) {
	if expected == 0 {
		return s.Store.Append(ctx, inv, expected, rec)
	}
	s.calls <- struct{}{}
	<-ctx.Done()
	return 0, ctx.Err()
}

func TestHangingStore(t *testing.T) {
	store := &stuck{Store: NewMemory(MemoryConfig{}), calls: make(chan struct{})}
	l := New(Config{Store: store, Retry: Retry{Timeout: time.Millisecond}})
	j, err := l.Begin(context.Background(), "r", "i", &fact.RunStarted{})
	require.NoError(t, err)
	done := make(chan error, 1)
	j.Append(&fact.Released{}, nil, func(err error) { done <- err })
	<-store.calls
	<-store.calls // the time-out ended the first

	j.Publish(&messages.Event{Type: messages.Other, Content: "events don't wait for it"})
	for ev, err := range l.Watch(context.Background(), "r", 0) {
		require.NoError(t, err)
		require.Equal(t, uint64(1), ev.ID.N)
		break
	}
	go l.Close()
	for {
		select {
		case <-store.calls:
			continue
		case err := <-done:
			require.ErrorIs(t, err, messages.ErrShutdown)
			l.Close()
			return
		}
	}
}

func TestSlowReaderIsTold(t *testing.T) {
	b := setup(t) // keeps 8 events
	publish := func(n int) {
		for range n {
			b.j.Publish(&messages.Event{Type: messages.Other, Content: "n"})
		}
	}
	publish(3)
	var seqs []uint64
	var missed []messages.Missed
	for ev, err := range b.log.Watch(context.Background(), "r", 1) {
		var m *messages.Missed
		switch {
		case errors.As(err, &m):
			missed = append(missed, *m)
			continue
		case err != nil:
			require.NoError(t, err)
		}
		seqs = append(seqs, ev.Seq)
		switch {
		case len(seqs) == 2:
			publish(20) // while this reader is busy
		case ev.Seq == 23:
			b.j.Append(&fact.RunFinished{}, []messages.Event{{Type: messages.FinalAnswer, Status: messages.StatusAnswered}}, nil)
		}
	}
	require.Equal(t, []messages.Missed{{From: 4, To: 15}}, missed)
	require.Equal(t, []uint64{2, 3, 16, 17, 18, 19, 20, 21, 22, 23, 24}, seqs)
	require.Equal(t, "events 4 to 15 are not kept any more: read more quickly, or keep more events", missed[0].Error())
}

func TestForgetEndsReaders(t *testing.T) {
	b := setup(t)
	b.j.Publish(&messages.Event{Type: messages.Other})
	var errs []error
	for _, err := range b.log.Watch(context.Background(), "r", 0) {
		errs = append(errs, err)
		b.log.Forget("r")
		b.log.Forget("r")
	}
	require.Len(t, errs, 2)
	require.ErrorIs(t, errs[1], messages.ErrUnknownRun)
}

// A restart in one process: the old journal still has an append on its way
// when the new owner reads.
func TestAdopterMeetsTheOldOwnersLastAppend(t *testing.T) {
	b := setup(t)
	b.store.plan = []int{delayed}
	old := b.executed(1)
	// the claim reads, then the old append arrives, then the claim is refused
	a, err := b.log.Adopt(context.Background(), "r", "i", fact.CausePanic, "boom")
	require.NoError(t, err)
	require.Len(t, a.Records, 2)
	require.Equal(t, []fact.Fact{&fact.Executed{Step: 1}}, a.Records[1].Facts)
	require.Equal(t, uint64(2), a.Records[1].Seq)
	require.Equal(t, uint64(2), a.Journal.Epoch())
	b.world.Advance(time.Minute)
	require.ErrorIs(t, old.err, ErrStale)
}

func TestCallersOrder(t *testing.T) {
	b := setup(t)
	var order []string
	b.store.plan = []int{lostCall, fine, lostCall, lostCall} // the append; then the events of the first
	for i := range 4 {
		var after []messages.Event
		if i%2 == 0 {
			after = []messages.Event{{Type: messages.Other}}
		}
		b.j.Append(&fact.Executed{Step: i}, after, func(error) { order = append(order, fmt.Sprint(i)) })
	}
	b.world.Advance(time.Minute)
	require.Equal(t, []string{"0", "1", "2", "3"}, order)
}

// Nobody waits for events of a log that is closed; what it holds is still read.
func TestCloseEndsReaders(t *testing.T) {
	b := setup(t)
	read := make(chan struct{}, 2)
	last := make(chan error, 1)
	watch := func(ctx context.Context) (err error) {
		for _, e := range b.log.Watch(ctx, "r", 0) {
			if err = e; e == nil {
				read <- struct{}{}
			}
		}
		return err
	}
	b.j.Publish(&messages.Event{Type: messages.ModelOutputThinking})
	go func() { last <- watch(context.Background()) }()
	<-read
	b.log.Close()
	require.ErrorIs(t, <-last, messages.ErrShutdown)
	require.ErrorIs(t, watch(context.Background()), messages.ErrShutdown, "one that comes later")
	require.Len(t, read, 1, "and it has read what there was")
}

// A reader's own end stays its own.
func TestCancelledReader(t *testing.T) {
	b := setup(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, err := range b.log.Watch(ctx, "r", 0) {
		require.ErrorIs(t, err, context.Canceled)
		require.NotErrorIs(t, err, messages.ErrShutdown)
	}
}
