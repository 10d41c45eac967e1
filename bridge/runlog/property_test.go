package runlog

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/troupe-go/troupe/actors/system/worldtest"
	"github.com/troupe-go/troupe/messages"
	"github.com/troupe-go/troupe/messages/fact"
)

// TestOwnersOverAFaultyStore lets owners come and go over a store that loses,
// delays and refuses, and checks what must hold whatever happens.
func TestOwnersOverAFaultyStore(t *testing.T) {
	for range 20 { // 100 worlds each: some interleavings are rare
		rapid.Check(t, func(t *rapid.T) {
			w := newTroubled(t)
			for range rapid.IntRange(5, 60).Draw(t, "ops") {
				w.op()
			}
			w.end()
			w.checkFacts()
			w.checkEvents()
		})
	}
}

// troubled is a run of one invocation in a bad world.
type troubled struct {
	*rapid.T
	world  *worldtest.World
	store  *faulty
	log    *Log
	inv    Invocation
	owners []*owner
	paused int
}

// owner is a journal and what was asked of it.
type owner struct {
	*Journal
	id       int
	claimed  error // nil once it owns the invocation
	decided  int   // calls of the claim's done
	asked    int   // facts
	answers  []int // calls of done, by fact
	stored   map[int]bool
	errs     []error // that done was called with
	attempt  string
	attempts int
	left     bool            // an attempt was neither accepted nor withdrawn
	gone     map[string]bool // attempts withdrawn
}

var errUndecidedClaim = errors.New("the claim is not decided")

func newTroubled(t *rapid.T) *troubled {
	plan := rapid.SliceOfN(rapid.IntRange(0, faults-1), 0, 60).Draw(t, "faults")
	w := &troubled{
		T: t, world: worldtest.New(1), inv: Invocation{Run: "r", Invocation: "i"},
		store: &faulty{mem: NewMemory(MemoryConfig{})},
	}
	w.log = New(Config{Store: w.store, World: w.world, OnPaused: func(p Pause) {
		if p.Paused {
			w.paused++
		} else {
			w.paused--
		}
	}})
	j, err := w.log.Begin(context.Background(), "r", "i", &fact.RunStarted{Agent: "a"})
	require.NoError(t, err)
	w.store.plan = plan
	w.owners = []*owner{{Journal: j, stored: map[int]bool{}, gone: map[string]bool{}}}
	return w
}

// some gives an owner, mostly the newest.
func (w *troubled) some() *owner {
	i := max(rapid.IntRange(-3, len(w.owners)-1).Draw(w.T, "owner"), -1)
	if i >= 0 && w.owners[i].claimed == nil {
		return w.owners[i]
	}
	for i = len(w.owners) - 1; w.owners[i].claimed != nil; i-- {
	}
	return w.owners[i]
}

func (w *troubled) op() {
	switch rapid.SampledFrom([]string{
		"note", "note", "text", "text", "text", "executed", "thought", "rejected", "rollback", "leave", "adopt", "wait", "down", "up", "finish",
	}).Draw(w.T, "op") {
	case "note":
		w.some().Publish(&messages.Event{Type: messages.Other, Content: "n"})
	case "text":
		w.some().text(rapid.SampledFrom([]messages.ProcessType{messages.ModelOutputThinking, messages.ModelOutputCode}).Draw(w.T, "type"))
	case "executed":
		w.some().ask(func(tag int) (fact.Fact, []messages.Event) { return &fact.Executed{Step: tag}, nil })
	case "thought":
		w.some().thought("")
	case "rejected":
		w.some().thought("no code")
	case "rollback":
		w.some().rollback()
	case "leave":
		if o := w.some(); o.attempt != "" {
			o.left, o.attempt = true, ""
		}
	case "adopt":
		w.adopt()
	case "wait":
		w.world.Advance(time.Duration(rapid.IntRange(1, 3000).Draw(w.T, "ms")) * time.Millisecond)
	case "down":
		w.store.down = true
	case "up":
		w.store.down = false
	case "finish":
		if rapid.IntRange(0, 3).Draw(w.T, "sure") == 0 {
			w.some().finish()
		}
	}
}

func (o *owner) text(t messages.ProcessType) {
	if o.attempt == "" {
		o.attempts++
		o.attempt = fmt.Sprintf("%d-%d", o.id, o.attempts)
		o.Publish(&messages.Event{Type: messages.ModelAttemptControl, Phase: messages.PhaseBegin, AttemptID: o.attempt})
	}
	o.Publish(&messages.Event{Type: t, AttemptID: o.attempt, Content: fmt.Sprintf("<%d %d>", o.id, o.m.named)})
}

func (o *owner) thought(rejected string) {
	if o.attempt == "" {
		return
	}
	o.ask(func(tag int) (fact.Fact, []messages.Event) {
		f := &fact.Thought{Step: tag, AttemptID: o.attempt, Rejected: rejected}
		if rejected != "" {
			return f, nil
		}
		if !o.left && tag%2 == 0 {
			f.AttemptID = "" // then it is the only one open
		}
		return f, []messages.Event{{Type: messages.ModelAttemptControl, Phase: messages.PhaseCommit, AttemptID: o.attempt}}
	})
	if rejected == "" {
		o.attempt = ""
	}
}

func (o *owner) rollback() {
	if o.attempt == "" {
		return
	}
	o.Withdraw(o.attempt)
	o.gone[o.attempt] = true
	o.Publish(&messages.Event{Type: messages.ModelAttemptControl, Phase: messages.PhaseRollback, AttemptID: o.attempt})
	o.attempt = ""
}

func (o *owner) finish() {
	o.ask(func(int) (fact.Fact, []messages.Event) {
		return &fact.RunFinished{Status: messages.StatusAnswered},
			[]messages.Event{{Type: messages.FinalAnswer, Content: "end", Status: messages.StatusAnswered}}
	})
}

// ask appends a fact that carries its number.
func (o *owner) ask(f func(tag int) (fact.Fact, []messages.Event)) {
	tag := o.asked
	o.asked++
	o.answers = append(o.answers, 0)
	made, after := f(tag)
	last := o.m.named + uint64(len(after))
	o.Append(made, after, func(err error) {
		o.answers[tag]++
		o.stored[tag] = err == nil && (len(after) == 0 || o.m.storedN >= last)
		if err == nil && !o.stored[tag] {
			err = errors.New("done before its events were stored")
		}
		if err != nil {
			o.errs = append(o.errs, err)
		}
	})
}

func (w *troubled) adopt() *owner {
	o := &owner{id: len(w.owners), claimed: errUndecidedClaim, stored: map[int]bool{}, gone: map[string]bool{}}
	w.owners = append(w.owners, o)
	cause := rapid.SampledFrom([]string{fact.CausePanic, fact.CauseLoss}).Draw(w.T, "cause")
	o.Journal = w.log.claim(w.inv, &claim{cause: cause, done: func(err error) {
		o.decided++
		o.claimed = err
	}})
	return o
}

// end heals the store, lets everybody finish, and has a last owner close the
// run.
func (w *troubled) end() {
	w.store.down, w.store.plan = false, nil
	w.store.arrive()
	w.world.Advance(time.Minute)
	last := w.adopt()
	w.world.Advance(time.Minute)
	require.NoError(w, last.claimed)
	last.finish()
	w.world.Advance(time.Minute)
	require.Empty(w, w.world.Pending(), "nobody waits any more")
	require.Zero(w, w.paused, "every pause has an end")
	for _, o := range w.owners {
		if o.id > 0 {
			require.Equal(w, 1, o.decided, "claim of owner %d", o.id)
		}
		if o.claimed != nil {
			require.ErrorIs(w, o.claimed, ErrStale)
		}
		for _, err := range o.errs {
			require.True(w, errors.Is(err, ErrStale) || errors.Is(err, ErrFinished), "%v", err)
		}
		for tag, n := range o.answers {
			require.Equal(w, 1, n, "done of fact %d of owner %d", tag, o.id)
		}
	}
}

func (w *troubled) records() []Stored {
	records, err := w.store.mem.Read(context.Background(), w.inv, 0)
	require.NoError(w, err)
	return records
}

// checkFacts: one owner an epoch; nothing lost, doubled or reordered.
func (w *troubled) checkFacts() {
	byEpoch := map[uint64]*owner{}
	for _, o := range w.owners {
		if o.claimed == nil && !(o.m.n == 0) {
			require.Nil(w, byEpoch[o.m.epoch], "two owners of epoch %d", o.m.epoch)
			byEpoch[o.m.epoch] = o
		}
	}
	inLog := map[*owner]int{}
	var epoch, n, keep uint64
	ended := false
	for _, s := range w.records() {
		r := s.Record
		require.False(w, ended, "a record follows run_finished")
		if r.epoch != epoch {
			require.Equal(w, epoch+1, r.epoch)
			epoch, n = r.epoch, 0
		}
		n++
		require.Equal(w, n, r.n)
		o := byEpoch[epoch]
		if o == nil { // adopted before it knew that it was an owner
			require.True(w, n == 1 && len(r.facts) == 1, "epoch %d has no owner", epoch)
		}
		for i, f := range r.facts {
			tag := inLog[o]
			switch f := f.(type) {
			case *fact.RunStarted:
				require.True(w, epoch == 1 && n == 1 && i == 0)
				continue
			case *fact.Adopted:
				require.True(w, epoch > 1 && n == 1 && i == 0 && f.Prev == epoch-1)
				require.Equal(w, keep, f.Keep)
				keep = 0
				continue
			case *fact.Thought:
				require.Equal(w, tag, f.Step)
			case *fact.Executed:
				require.Equal(w, tag, f.Step)
			case *fact.RunFinished:
				ended = true
			}
			inLog[o]++
		}
		for _, ev := range r.settles {
			keep = max(keep, ev.ID.N)
			if o != nil && held(ev) {
				require.False(w, o.gone[ev.AttemptID], "text of an attempt withdrawn is settled")
			}
		}
	}
	require.True(w, ended)
	for _, o := range w.owners {
		for tag, ok := range o.stored {
			if ok {
				require.Less(w, tag, inLog[o], "fact %d of owner %d was acknowledged and is not in the log", tag, o.id)
			}
		}
	}
}

// checkEvents: what a reader shows at the end is what the facts settled.
func (w *troubled) checkEvents() {
	settled := map[messages.EventID]*messages.Event{}
	for _, s := range w.records() {
		for _, ev := range s.Record.settles {
			require.Nil(w, settled[ev.ID], "%v is settled twice", ev.ID)
			settled[ev.ID] = ev
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var p page
	ids, seq, lasts := map[messages.EventID]bool{}, uint64(0), 0
	for ev, err := range w.log.Watch(ctx, "r", 0) {
		require.NoError(w, err)
		require.False(w, ids[ev.ID], "%v came twice", ev.ID)
		ids[ev.ID] = true
		require.Greater(w, ev.Seq, seq)
		seq = ev.Seq
		if ev.Last() {
			lasts++
		}
		p.show(&ev)
	}
	require.Equal(w, 1, lasts)
	p.endAttempts()

	var want, got string
	var u unsure
	for _, s := range w.records() {
		u.events = append(u.events, s.Record.settles...)
	}
	for _, ev := range u.inOrder() {
		require.True(w, ids[ev.ID], "%v is settled and was not seen", ev.ID)
		want += ev.Content
	}
	for _, ev := range p.shown {
		got += ev.Content
	}
	require.Equal(w, want, got)
}

// page is a reader's screen.
type page struct {
	shown []messages.Event
	open  map[string]bool // attempts whose end is not known
}

func (p *page) show(ev *messages.Event) {
	p.drop(func(id messages.EventID, _ string) bool { return ev.Withdraws(id) })
	if held(ev) {
		if p.open == nil {
			p.open = map[string]bool{}
		}
		p.open[ev.AttemptID] = true
	}
	switch ev.Phase {
	case messages.PhaseCommit:
		delete(p.open, ev.AttemptID)
	case messages.PhaseRollback:
		p.drop(func(_ messages.EventID, attempt string) bool { return attempt == ev.AttemptID })
		delete(p.open, ev.AttemptID)
	case messages.PhaseAdopted:
		p.endAttempts()
	}
	p.shown = append(p.shown, *ev)
}

func (p *page) endAttempts() {
	p.drop(func(_ messages.EventID, attempt string) bool { return p.open[attempt] })
	clear(p.open)
}

func (p *page) drop(gone func(messages.EventID, string) bool) {
	rest := p.shown[:0]
	for _, ev := range p.shown {
		if !gone(ev.ID, ev.AttemptID) {
			rest = append(rest, ev)
		}
	}
	p.shown = rest
}
