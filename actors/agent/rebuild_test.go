package agent_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/agent"
	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/actors/python/slots"
	"github.com/troupe-go/troupe/actors/tool"
	"github.com/troupe-go/troupe/messages"
	"github.com/troupe-go/troupe/messages/fact"
)

// The blocks that ended are run again, with their calls answered from the log,
// before the next one.
func TestResumeRebuilds(t *testing.T) {
	earlier := &fact.Executed{Step: 1, Observation: "Execution logs:\n7\n", OutputHash: fact.HashOf([]byte("7\n"))}
	play := func(t *testing.T, printed string) (*stage, *question) {
		s := begun(t, from([]fact.Fact{acted, intended, returned, earlier}, nil))
		s.question().say(code("work()"))
		past := s.running()
		require.True(t, past.what.Replay)
		require.Equal(t, acted.Clock, past.what.Clock)
		require.Equal(t, "5", string(past.call(1, "look", "").value))
		require.Equal(t, `"sent hi"`, string(past.sendAgain().value))
		past.end(python.Outcome{Output: printed})
		s.running().end(python.Outcome{Output: "8\n"})
		q := s.question()
		require.Contains(t, q.last(), "Execution logs:\n8\n")
		return s, q
	}
	t.Run("as it was", func(t *testing.T) {
		s, q := play(t, "7\n")
		require.NotContains(t, q.last(), "The interpreter was replaced")
		q.say("Done.")
		s.endsWith(messages.StatusAnswered, "Done.")
		require.Empty(t, s.sent)
		require.Nil(t, facts[*fact.Executed](s)[0].Lost)
	})
	t.Run("another way", func(t *testing.T) {
		s, q := play(t, "other\n")
		require.Contains(t, q.last(), "The interpreter was replaced")
		q.say(code("work()"))
		s.running().end(python.Outcome{Output: "9\n"})
		q = s.question()
		require.NotContains(t, q.last(), "The interpreter was replaced", "it is said once")
		q.say("Done.")
		s.endsWith(messages.StatusAnswered, "Done.")
		require.Empty(t, s.sent)
		require.Equal(t, messages.LostDiverged, facts[*fact.Executed](s)[0].Lost.Reason)
	})
}

// What was lost once isn't tried again: only the blocks since then are.
func TestRebuildBeginsBehindALoss(t *testing.T) {
	lost := &fact.Executed{Step: 2, OutputHash: fact.HashOf([]byte("8\n")), Lost: &messages.LostVariables{Reason: messages.LostCeiling}}
	s := begun(t, from([]fact.Fact{acted, ran, again, lost}, nil))
	s.question().say(code("work()"))
	s.running().end(python.Outcome{Output: "8\n"})
	s.running().end(python.Outcome{Output: "9\n"})
	q := s.question()
	require.Contains(t, q.last(), "Execution logs:\n9\n")
	require.NotContains(t, q.last(), "The interpreter was replaced")
	q.say("Done.")
	s.endsWith(messages.StatusAnswered, "Done.")
}

// Calls are answered in the order in which the block made them, whichever fact
// told of them first.
func TestRebuildOrdersCalls(t *testing.T) {
	alone := *intended
	alone.Calls = nil
	earlier := &fact.Executed{Step: 1, OutputHash: fact.HashOf([]byte("7\n")), Calls: intended.Calls}
	s := begun(t, from([]fact.Fact{acted, &alone, returned, earlier}, nil))
	s.question().say(code("work()"))
	past := s.running()
	require.Equal(t, "5", string(past.call(1, "look", "").value))
	require.Equal(t, `"sent hi"`, string(past.sendAgain().value))
	ends(past)
	s.running().end(python.Outcome{Output: "9\n"})
	s.question().say("Done.")
	s.endsWith(messages.StatusAnswered, "Done.")
}

// A block's clock is on the log before it runs; a call's time with its result.
func TestFactsHoldTheBlocksTimes(t *testing.T) {
	s := begun(t)
	b := s.block()
	require.False(t, b.what.Clock.IsZero())
	require.Equal(t, 1, b.what.Number)
	free := b.host.Call(b.ctx, python.Call{Ordinal: 1, Tool: "look"})
	refused := b.host.Call(b.ctx, python.Call{Ordinal: 2, Tool: "nothing"})
	require.Equal(t, "NameError", refused.Err.Type)
	s.mail <- struct{}{}
	effect := b.host.Call(b.ctx, python.Call{Ordinal: 3, Tool: "send", Kwargs: hi})
	ends(b)
	s.question().say("Done.")
	s.endsWith(messages.StatusAnswered, "Done.")
	require.Equal(t, b.what.Clock, facts[*fact.Thought](s)[0].Clock)
	calls := facts[*fact.Intended](s)[0].Calls
	require.Len(t, calls, 2, "the refused one, too: the code saw it")
	require.Equal(t, []time.Time{free.At, refused.At}, []time.Time{calls[0].At, calls[1].At})
	require.Equal(t, "NameError", calls[1].Err.Type)
	require.Equal(t, fact.CallHash("nothing", nil, nil), calls[1].Hash)
	require.Equal(t, effect.At, facts[*fact.Returned](s)[0].At)
	for _, at := range []time.Time{free.At, refused.At, effect.At} {
		require.False(t, at.IsZero())
	}
}

// A block that is run again has used up the calls that it made before, and was
// shown to people before.
func TestReopenedBlockGoesOn(t *testing.T) {
	s := begun(t, func(c *agent.Config) {
		from([]fact.Fact{acted, intended, returned}, nil)(c)
		def := *c.Equipment.Definition
		def.ToolCallLimit = 2
		c.Equipment.Definition = &def
		c.Records[1].Settles = append(c.Records[1].Settles, messages.Event{Type: messages.Parse, Step: 1})
	})
	b := s.running()
	b.call(1, "look", "")
	b.sendAgain()
	require.Equal(t, "tool_call_limit", b.call(3, "look", "").err.Code)
	ends(b)
	s.question().say("Done.")
	s.endsWith(messages.StatusAnswered, "Done.")
	require.Empty(t, s.events(messages.Parse))
}

// People are told that a block waits for its turn on the node.
func TestWaitsForASlot(t *testing.T) {
	all := slots.New(1)
	taken, err := all.Acquire(t.Context(), "another run", nil)
	require.NoError(t, err)
	s := begun(t, func(c *agent.Config) { c.Equipment.Slots = all })
	s.question().say(code("work()"))
	require.Eventually(t, func() bool { return len(s.events(messages.Other)) == 1 }, 5*time.Second, time.Millisecond)
	require.Equal(t, "waiting for a free executor, 0 ahead", s.events(messages.Other)[0].Content)
	taken.Release()
	ends(s.running())
	s.question().say("Done.")
	s.endsWith(messages.StatusAnswered, "Done.")
}

// A call that was to be made again, by a block that went another way, is
// forgotten: a later block's call at that place is a new one, with an intent.
func TestInterruptedBlockLeavesNoTry(t *testing.T) {
	s := begun(t, from([]fact.Fact{acted, intended}, func(c *agent.Config) {
		for i := range c.Equipment.Tools {
			spec := *c.Equipment.Tools[i].Spec
			spec.Effects = tool.EffectsIdempotent
			c.Equipment.Tools[i].Spec = &spec
		}
	}))
	s.running().begin(1, "send", `{"text":"hi"}`) // not as before
	q := s.question()
	require.Contains(t, q.last(), "BlockInterrupted")
	q.say(code("work()"))
	b := s.running()
	s.mail <- struct{}{}
	b.call(2, "send", `{"text":"another letter"}`)
	ends(b)
	s.question().say("Done.")
	s.endsWith(messages.StatusAnswered, "Done.")
	require.Len(t, facts[*fact.Intended](s), 1)
	require.NotEqual(t, "c1", facts[*fact.Returned](s)[0].ToolCallID)
}
