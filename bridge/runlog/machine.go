package runlog

import (
	"math/rand/v2"
	"time"

	"github.com/troupe-go/troupe/messages"
	"github.com/troupe-go/troupe/messages/fact"
)

// A machine is all rules of one owner's hold on an invocation, as a value:
// calls from above (publish, append, withdraw) and answers of the store come
// in, next says what to do. It starts no goroutine, reads no clock and waits
// for nothing. It is not safe for concurrent use.
//
// It has three lanes, each with one operation at a time: facts (Append and
// Read), events (Publish), and calls of done. They may be driven by one
// goroutine or by three.
type machine struct {
	inv   Invocation
	rules *Retry
	state state
	// ending is set once run_finished is queued or read: nothing may follow.
	ending bool
	// decide is set after a refusal: reading tells what it means.
	decide  bool
	flying  lane // an operation is with the driver
	resting lane // waits for its back-off to pass
	err     error
	claim   *claim // until the invocation is ours

	epoch, n    uint64 // of this owner; number of its last record
	seq         uint64 // position of the invocation's last record
	named       uint64 // number of the last event made
	storedN     uint64 // number of the last event known to be stored
	reqs        []request
	acked, sent int     // reqs begins with acked stored ones, then sent ones in flight
	flight      *Frozen // what those sent went into
	late        []call  // calls of done that no request waits for

	open  []*messages.Event // published, not settled, not withdrawn
	out   []*messages.Event // to be published from head on, in this order
	head  int
	taken uint64 // how many left out for good: the position of out[head]

	tries [2]tries
}

// state says whose the invocation is.
type state uint8

const (
	adopting state = iota + 1 // reading the log before claiming it
	claiming                  // our first record is not decided
	owning
	lost // nothing more is written; err says why
)

// lane is a set of kinds of work.
type lane uint8

const (
	laneEvents lane = 1 << iota
	laneCalls
	laneFacts
	allLanes = laneEvents | laneCalls | laneFacts
)

// request is one Append from above. Its after events lie at the positions
// from first to below upto of what is to be published.
type request struct {
	fact        fact.Fact
	at          time.Time
	settles     []*messages.Event
	first, upto uint64
	done        func(error)
}

type call struct {
	done func(error)
	err  error
}

// claim is how a machine begins.
type claim struct {
	begin         bool // a new log
	at            time.Time
	owner         string
	cause, reason string
	done          func(error)
	records       []Stored // the log so far
	plan          *takeover
}

// action is a kind of step.
type action uint8

const (
	doNothing action = iota
	doAppend         // Append(expected, record)
	doRead           // Read(from)
	doPublish        // Publish(events)
	doCall           // done(err)
)

// step is what next wants done. All but doNothing and doCall are answered
// with one of appended, refused, facts, stored, failed or lose.
type step struct {
	do       action
	expected uint64
	record   *Frozen
	from     uint64
	events   []*messages.Event
	call     call
}

const (
	maxMerge  = 64  // requests in one record, so that its size has a bound
	maxWindow = 256 // events in one Publish
	maxIdle   = 64  // places for events that an idle machine keeps

	factTries, eventTries = 0, 1
)

// tries is how often an operation was tried in vain.
type tries struct {
	n      int
	since  time.Time // when it was first tried, or first failed
	paused bool      // since longer than Retry.PauseAfter
}

// begin claims a new log with its first fact.
func (m *machine) begin(now time.Time, start *fact.RunStarted, done func(error)) {
	m.state, m.epoch = claiming, 1
	m.claim = &claim{begin: true}
	m.append(now, start, nil, done)
}

// adopt claims an existing log. The claim tells afterwards what was found.
func (m *machine) adopt(c *claim) {
	m.state, m.claim = adopting, c
}

// publish names an event and queues it.
func (m *machine) publish(ev *messages.Event) {
	if m.state == lost || m.ending {
		return
	}
	m.emit(ev)
	m.open = append(m.open, ev)
}

func (m *machine) emit(ev *messages.Event) {
	m.named++
	ev.ID = messages.EventID{Invocation: m.inv.Invocation, Epoch: m.epoch, N: m.named}
	if ev.RunID == "" {
		ev.RunID = m.inv.Run
	}
	m.out = append(m.out, ev)
}

// append queues a fact with the events that it makes true; they are the
// machine's from then on.
func (m *machine) append(now time.Time, f fact.Fact, after []messages.Event, done func(error)) {
	switch {
	case m.state == lost:
		m.late = append(m.late, call{done, m.err})
		return
	case m.ending:
		m.late = append(m.late, call{done, ErrFinished})
		return
	}
	r := request{fact: f, at: now, first: m.end(), done: done}
	r.settles, m.open = settle(m.open, f, len(after))
	if len(after) > 0 {
		for i := range after {
			ev := &after[i]
			if ev.Time.IsZero() {
				ev.Time = now
			}
			m.emit(ev)
			r.settles = append(r.settles, ev)
		}
	}
	r.upto = m.end()
	m.reqs = append(m.reqs, r)
	_, m.ending = f.(*fact.RunFinished)
}

// withdraw takes an attempt's text from what is to be settled.
func (m *machine) withdraw(attempt string) { m.open = withdraw(m.open, attempt) }

// end is the position after the last event queued.
func (m *machine) end() uint64 { return m.taken + uint64(len(m.out)-m.head) }

// ready gives the lanes that have something to do.
func (m *machine) ready() lane {
	var l lane
	if m.sendable() > 0 {
		l |= laneEvents
	}
	if len(m.late) > 0 || m.acked > 0 && m.reqs[0].upto <= m.taken {
		l |= laneCalls
	}
	if m.state == adopting || m.decide || m.flight != nil || m.acked+m.sent < len(m.reqs) {
		l |= laneFacts
	}
	return l &^ (m.flying | m.resting)
}

// sendable counts the events that wait for no fact.
func (m *machine) sendable() int {
	n := len(m.out) - m.head
	if n == 0 {
		return 0
	}
	for i := m.acked; i < len(m.reqs); i++ {
		if r := &m.reqs[i]; r.first < r.upto {
			n = int(r.first - m.taken)
			break
		}
	}
	return min(n, maxWindow)
}

// next gives something to do in one of the lanes. Events go first, so that
// they are stored when done is called; facts go last.
func (m *machine) next(lanes lane) step {
	switch lanes &= m.ready(); {
	case lanes&laneEvents != 0:
		m.flying |= laneEvents
		return step{do: doPublish, events: m.out[m.head : m.head+m.sendable()]}
	case lanes&laneCalls != 0:
		return step{do: doCall, call: m.popCall()}
	case lanes&laneFacts != 0:
		m.flying |= laneFacts
		return m.nextFact()
	}
	return step{}
}

func (m *machine) nextFact() step {
	switch {
	case m.state == adopting && len(m.claim.records) == 0:
		return step{do: doRead, from: 1}
	case m.state == adopting:
		return step{do: doRead, from: m.claim.records[len(m.claim.records)-1].Seq + 1}
	case m.decide:
		return step{do: doRead, from: m.seq + 1}
	case m.flight == nil:
		m.freeze()
	}
	return step{do: doAppend, expected: m.seq, record: m.flight}
}

// freeze makes the next record of what waits.
func (m *machine) freeze() {
	reqs := m.reqs[m.acked:]
	reqs = reqs[:min(len(reqs), maxMerge)]
	m.sent = len(reqs)
	m.n++
	f := &Frozen{schema: fact.Schema, run: m.inv.Run, invocation: m.inv.Invocation, epoch: m.epoch, n: m.n, acked: m.storedN, time: reqs[0].at}
	if len(reqs) == 1 {
		f.one[0], f.facts, f.settles = reqs[0].fact, f.one[:], reqs[0].settles
	} else {
		for i := range reqs {
			f.facts = append(f.facts, reqs[i].fact)
			f.settles = append(f.settles, reqs[i].settles...)
		}
	}
	m.flight = f
}

func (m *machine) popCall() call {
	if len(m.late) > 0 {
		c := m.late[0]
		m.late = dropFirst(m.late)
		return c
	}
	c := call{done: m.reqs[0].done}
	m.reqs = dropFirst(m.reqs)
	m.acked--
	return c
}

// dropFirst keeps a short queue in its memory.
func dropFirst[T any](q []T) []T {
	copy(q, q[1:])
	clear(q[len(q)-1:])
	return q[:len(q)-1]
}

// appended says that the record in flight has position seq.
func (m *machine) appended(seq uint64) {
	m.flying &^= laneFacts
	if m.state == lost {
		return
	}
	m.seq, m.flight, m.decide = seq, nil, false
	m.acked, m.sent = m.acked+m.sent, 0
	if m.state == claiming {
		m.state, m.claim = owning, nil
	}
	m.tries[factTries] = tries{}
}

// refused says that the record in flight met another position.
func (m *machine) refused() {
	m.flying &^= laneFacts
	m.decide = true
}

// stored says that the first k events given are stored.
func (m *machine) stored(k int) {
	m.flying &^= laneEvents
	if m.state == lost || k == 0 {
		return
	}
	if last := m.out[m.head+k-1].ID; last.Epoch == m.epoch {
		m.storedN = last.N
	}
	clear(m.out[m.head : m.head+k])
	m.head, m.taken = m.head+k, m.taken+uint64(k)
	m.tries[eventTries] = tries{}
	switch {
	case m.head == len(m.out) && cap(m.out) > maxIdle:
		m.out, m.head = nil, 0
	case m.head == len(m.out):
		m.out, m.head = m.out[:0], 0
	case m.head > maxWindow:
		rest := copy(m.out, m.out[m.head:])
		clear(m.out[rest:])
		m.out, m.head = m.out[:rest], 0
	}
}

// failed says that it is not known what an operation did. The lane rests
// until resume, which is due after wait; r draws the jitter.
func (m *machine) failed(l lane, now time.Time, r *rand.Rand) (wait time.Duration) {
	m.flying &^= l
	if m.state == lost {
		return 0
	}
	t := &m.tries[eventTries]
	if l == laneFacts {
		t = &m.tries[factTries]
	}
	if t.n++; t.n == 1 {
		t.since = now
		if l == laneFacts && m.flight != nil {
			t.since = m.flight.time
		}
	}
	t.paused = t.paused || now.Sub(t.since) >= m.rules.PauseAfter
	m.resting |= l
	return m.rules.Backoff.Delay(t.n, r)
}

// resume ends a back-off.
func (m *machine) resume(l lane) { m.resting &^= l }

// paused reports that an operation has failed for so long that somebody
// should know.
func (m *machine) paused() bool { return m.tries[factTries].paused || m.tries[eventTries].paused }

// lose ends this owner: every done gets err, nothing more is written.
func (m *machine) lose(l lane, err error) {
	m.flying &^= l
	if m.state == lost {
		return
	}
	if c := m.claim; c != nil && c.done != nil && len(m.reqs) == 0 {
		m.late = append(m.late, call{c.done, err})
	}
	for i := range m.reqs {
		m.late = append(m.late, call{m.reqs[i].done, err})
	}
	m.state, m.err, m.claim = lost, err, nil
	m.reqs, m.acked, m.sent, m.flight, m.decide = nil, 0, 0, nil, false
	m.open, m.out, m.head, m.resting = nil, nil, 0, 0
	m.tries = [2]tries{}
}
