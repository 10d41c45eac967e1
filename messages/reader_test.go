package messages_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/messages"
)

func TestReader(t *testing.T) {
	id := func(inv string, epoch, n uint64) *messages.Event {
		return &messages.Event{ID: messages.EventID{Invocation: inv, Epoch: epoch, N: n}}
	}
	var r messages.Reader
	for i, c := range []struct {
		ev   *messages.Event
		want bool
	}{
		{id("a", 1, 1), true},
		{id("a", 1, 2), true},
		{id("a", 1, 2), false}, // seen
		{id("b", 1, 1), true},  // another invocation
		{id("a", 1, 1), false}, // published again
		{id("a", 1, 4), true},  // a joined text
		{id("a", 2, 1), true},  // a new owner
		{id("a", 1, 5), false}, // the old one, late
		{id("a", 2, 1), false},
		{id("b", 1, 2), true},
		{&messages.Event{}, true}, // no id: not ours to judge
	} {
		require.Equal(t, c.want, r.Take(c.ev), "event %d", i)
	}
}

func TestWithdraws(t *testing.T) {
	id := func(epoch, n uint64) messages.EventID { return messages.EventID{Invocation: "a", Epoch: epoch, N: n} }
	adopted := &messages.Event{ID: id(3, 1), Phase: messages.PhaseAdopted, Epoch: 3, Keep: 4}
	whole := &messages.Event{ID: id(1, 9), Phase: messages.PhaseReplace, Keep: 5}
	for name, c := range map[string]struct {
		by   *messages.Event
		id   messages.EventID
		want bool
	}{
		"above what is kept":         {adopted, id(2, 5), true},
		"kept":                       {adopted, id(2, 4), false},
		"its own":                    {adopted, id(3, 5), false},
		"of an owner before":         {adopted, id(1, 5), false},
		"of another invocation":      {adopted, messages.EventID{Invocation: "b", Epoch: 2, N: 5}, false},
		"a piece":                    {whole, id(1, 6), true},
		"before the pieces":          {whole, id(1, 5), false},
		"the whole":                  {whole, id(1, 9), false},
		"a piece of another's":       {whole, id(2, 6), false},
		"by an event without phase":  {&messages.Event{ID: id(3, 1), Epoch: 3}, id(2, 5), false},
		"by an adopted without text": {&messages.Event{ID: id(1, 1), Phase: messages.PhaseAdopted}, id(0, 5), false},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, c.by.Withdraws(c.id)) })
	}
}
