package system

import (
	"sync"
	"testing"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"
)

func TestQueue(t *testing.T) {
	var q queue[int]
	pushed, popped := 0, 0
	for round := range 40 { // grows, wraps around, runs empty
		for range round {
			q.push(pushed)
			pushed++
		}
		for range round - round%3 {
			require.Equal(t, popped, q.pop())
			popped++
		}
	}
	require.Equal(t, pushed-popped, q.n)
	q.trim(0)
	require.NotNil(t, q.ring, "not while there is something in it")
	for ; popped < pushed; popped++ {
		require.Equal(t, popped, q.pop())
	}
	q.trim(len(q.ring))
	require.NotNil(t, q.ring)
	q.trim(len(q.ring) - 1)
	require.Nil(t, q.ring)
	q.push(1)
	require.Equal(t, 1, q.pop())
}

// hand is an invoker and a dispatcher whose activations a test runs itself.
type hand struct {
	got       []any
	on        func(msg any)
	escalated []any
	scheduled []func()
}

func (h *hand) invoke(msg any) {
	h.got = append(h.got, msg)
	if h.on != nil {
		h.on(msg)
	}
}

func (h *hand) InvokeSystemMessage(msg any)     { h.invoke(msg) }
func (h *hand) InvokeUserMessage(msg any)       { h.invoke(msg) }
func (h *hand) EscalateFailure(reason, msg any) { h.escalated = append(h.escalated, reason, msg) }
func (h *hand) Schedule(f func())               { h.scheduled = append(h.scheduled, f) }
func (h *hand) Throughput() int                 { return 2 }

// run runs the activations that are due.
func (h *hand) run() []any {
	for len(h.scheduled) > 0 {
		f := h.scheduled[0]
		h.scheduled = h.scheduled[1:]
		f()
	}
	got := h.got
	h.got = nil
	return got
}

func newHand() (*hand, actor.Mailbox) {
	h := &hand{}
	m := (&System{}).newMailbox()
	m.RegisterHandlers(h, h)
	return h, m
}

func TestMailboxOrder(t *testing.T) {
	h, m := newHand()
	for _, msg := range []any{1, 2, 3, 4} {
		m.PostUserMessage(msg)
	}
	m.PostSystemMessage("system 1")
	m.PostSystemMessage("system 2")
	require.Equal(t, 4, m.UserMessageCount())
	require.Len(t, h.scheduled, 1, "one activation at a time")
	require.Equal(t, []any{"system 1", "system 2", 1, 2, 3, 4}, h.run())
	require.Zero(t, m.UserMessageCount())

	h.on = func(msg any) { // what comes in a turn is the same activation's
		if msg == 5 {
			m.PostUserMessage(6)
			m.PostSystemMessage("system 3")
		}
	}
	m.PostUserMessage(5)
	require.Len(t, h.scheduled, 1)
	require.Equal(t, []any{5, "system 3", 6}, h.run())
}

func TestMailboxSuspended(t *testing.T) {
	h, m := newHand()
	m.PostSystemMessage(&actor.SuspendMailbox{})
	m.PostUserMessage(1)
	require.Empty(t, h.run())
	m.PostUserMessage(2)
	require.Empty(t, h.scheduled, "nothing to do until it is resumed")
	m.PostSystemMessage("system")
	require.Equal(t, []any{"system"}, h.run())
	m.PostSystemMessage(&actor.ResumeMailbox{})
	require.Equal(t, []any{1, 2}, h.run())
}

func TestMailboxGoesOnAfterAPanic(t *testing.T) {
	h, m := newHand()
	h.on = func(msg any) {
		if msg == 1 {
			panic("on purpose")
		}
	}
	m.PostUserMessage(1)
	m.PostUserMessage(2)
	require.Equal(t, []any{1, 2}, h.run())
	require.Equal(t, []any{"on purpose", 1}, h.escalated)
}

// Every message is handled once, those of one sender in order, and never two
// at a time.
func TestMailboxUnderManySenders(t *testing.T) {
	const senders, each = 8, 2000
	p := newPool(10, discard())
	defer p.close()
	m := (&System{}).newMailbox()
	var (
		next [senders]int
		left = senders * each
		done = make(chan struct{})
	)
	h := &hand{on: func(msg any) { // unguarded: two at a time would be a race
		at := msg.([2]int)
		if at[1] != next[at[0]] {
			panic("out of order")
		}
		next[at[0]]++
		if left--; left == 0 {
			close(done)
		}
	}}
	m.RegisterHandlers(h, p)
	var sending sync.WaitGroup
	for s := range senders {
		sending.Go(func() {
			for i := range each {
				m.PostUserMessage([2]int{s, i})
			}
		})
	}
	sending.Wait()
	<-done
	require.Empty(t, h.escalated)
}
