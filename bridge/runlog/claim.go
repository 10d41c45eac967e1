package runlog

// facts brings what doRead asked for. An error is given to lose by the caller.
func (m *machine) facts(records []Stored) error {
	m.flying &^= laneFacts
	if m.state == lost {
		return nil
	}
	m.tries[factTries] = tries{}
	if m.state == adopting {
		return m.plan(records)
	}
	return m.judge(records)
}

// plan reads the log to be adopted and queues what its next owner does first:
// the adopted fact, then the events that may not be stored, then its own
// event. An invocation that has ended has no next owner: its last events are
// published, that is all.
func (m *machine) plan(records []Stored) error {
	c := m.claim
	c.records = append(c.records, records...)
	t, err := planTakeover(m.inv, c.records, c.cause)
	if err != nil {
		return err
	}
	c.plan = t
	m.inv.Tenant, m.epoch, m.seq = t.start.Tenant, t.epoch, t.seq
	m.n, m.named, m.storedN = 0, 0, 0
	if t.finished != nil {
		m.out = append(m.out, t.again...)
		m.reqs = append(m.reqs, request{upto: m.end(), done: c.done})
		m.acked, m.ending, m.state, m.claim = 1, true, owning, nil
		return nil
	}
	m.state = claiming
	m.out = append(m.out, t.again...)
	ev := t.event(m.inv)
	ev.Time = c.at
	m.append(c.at, t.fact(c.owner, c.reason), nil, c.done)
	r := &m.reqs[0]
	r.first = m.taken // what the old owner left waits for the claim, too
	m.emit(&ev)
	r.settles, r.upto = append(r.settles, &ev), m.end()
	return nil
}

// judge tells what a refusal means, from the records after the last one known:
// our own record is success; one of a newer owner, or of a rival for our epoch,
// means that we are stale; anything else is not a log as we left it.
func (m *machine) judge(records []Stored) error {
	if len(records) == 0 {
		return ErrDiverged
	}
	if rival(records, m.flight) {
		if m.claim != nil && m.claim.begin {
			return ErrExists
		}
		return ErrStale
	}
	if records[0].Record.Same(m.flight) {
		if len(records) > 1 {
			return ErrDiverged
		}
		m.appended(records[0].Seq)
		return nil
	}
	if m.claim == nil || m.claim.begin {
		return ErrDiverged
	}
	return m.claimAgain(records)
}

// rival reports whether another owner of mine's epoch, or of a newer one,
// wrote one of the records.
func rival(records []Stored, mine *Frozen) bool {
	for _, s := range records {
		if s.Record.epoch > mine.epoch || s.Record.epoch == mine.epoch && mine.n == 1 && !s.Record.Same(mine) {
			return true
		}
	}
	return false
}

// claimAgain starts a claim anew: the old owner, who is ending or was believed
// dead, appended before us. Our refused record can never be stored: the
// position it expected has passed.
func (m *machine) claimAgain(records []Stored) error {
	m.reqs, m.sent, m.flight, m.decide = m.reqs[:0], 0, nil, false
	m.out, m.head, m.state = m.out[:0], 0, adopting // nothing was sent: all waits for the claim
	return m.plan(records)
}
