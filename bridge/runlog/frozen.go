package runlog

import (
	"bytes"
	"fmt"
	"sync"
	"time"

	"github.com/troupe-go/troupe/messages"
	"github.com/troupe-go/troupe/messages/fact"
)

// Frozen is a record that was given to a store: it never changes again. Its
// bytes are made at most once, when a store first asks for them.
type Frozen struct {
	schema          int
	run, invocation string
	epoch, n, acked uint64
	time            time.Time
	facts           []fact.Fact
	settles         []*messages.Event
	one             [1]fact.Fact // where facts lies when it is one: no allocation

	encode sync.Once
	bytes  []byte
	err    error
}

// Freeze makes a record that a store may keep. The caller doesn't change what
// rec refers to.
func Freeze(rec *fact.Record) *Frozen {
	f := &Frozen{
		schema: rec.Schema, run: rec.Run, invocation: rec.Invocation, epoch: rec.Epoch, n: rec.N,
		acked: rec.Acked, time: rec.Time, facts: rec.Facts,
	}
	for i := range rec.Settles {
		f.settles = append(f.settles, &rec.Settles[i])
	}
	return f
}

// Thaw reads the bytes of a frozen record, which it keeps. Its errors match
// ErrRefused.
func Thaw(b []byte) (*Frozen, error) {
	rec, err := fact.Parse(b)
	if err != nil {
		return nil, fmt.Errorf("%w: reading a record of %d bytes: %w", ErrRefused, len(b), err)
	}
	f := Freeze(rec)
	f.encode.Do(func() { f.bytes = b })
	return f, nil
}

// Epoch is that of the owner who wrote the record.
func (f *Frozen) Epoch() uint64 { return f.epoch }

// N is the record's number in its epoch, from 1.
func (f *Frozen) N() uint64 { return f.n }

// Facts are the record's facts; the caller doesn't change them.
func (f *Frozen) Facts() []fact.Fact { return f.facts }

// Settles are the events that the facts make permanent; the caller doesn't
// change them.
func (f *Frozen) Settles() []*messages.Event { return f.settles }

// Record gives the record as a value of its own.
func (f *Frozen) Record() *fact.Record {
	rec := &fact.Record{
		Schema: f.schema, Run: f.run, Invocation: f.invocation, Epoch: f.epoch, N: f.n,
		Time: f.time, Facts: f.facts, Acked: f.acked,
	}
	if len(f.settles) > 0 {
		rec.Settles = make([]messages.Event, len(f.settles))
		for i, ev := range f.settles {
			rec.Settles[i] = *ev
		}
	}
	return rec
}

// Bytes gives the record's JSON; the caller doesn't change it.
func (f *Frozen) Bytes() ([]byte, error) {
	f.encode.Do(func() {
		if f.bytes, f.err = f.Record().Encode(); f.err != nil {
			f.err = fmt.Errorf("%w: encoding record %d of epoch %d: %w", ErrRefused, f.n, f.epoch, f.err)
		}
	})
	return f.bytes, f.err
}

// Same reports whether both are one record: one object, or equal bytes.
func (f *Frozen) Same(o *Frozen) bool {
	if f == o {
		return true
	}
	if f.epoch != o.epoch || f.n != o.n {
		return false
	}
	a, errA := f.Bytes()
	b, errB := o.Bytes()
	return errA == nil && errB == nil && bytes.Equal(a, b)
}
