package agent_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/agent"
	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/messages"
	"github.com/troupe-go/troupe/messages/fact"
)

// children are the ids of the agent's child actors.
func (s *stage) children() []string {
	var ids []string
	for _, bucket := range s.system.Actors().ProcessRegistry.LocalPIDs.LocalPIDs {
		for _, id := range bucket.Keys() {
			if strings.HasPrefix(id, s.agent.Id+"/") {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// kill ends the one child that was not there before.
func (s *stage) kill(before []string) {
	s.t.Helper()
	s.settled()
	born := slices.DeleteFunc(s.children(), func(id string) bool { return slices.Contains(before, id) })
	require.Len(s.t, born, 1)
	s.system.Root().Stop(actor.NewPID(s.agent.Address, born[0]))
}

// A model actor that is lost is replaced, and the question asked again, twice
// a step.
func TestModelActorLost(t *testing.T) {
	for name, c := range map[string]struct {
		crashes int
		status  messages.Status
	}{"twice": {2, messages.StatusAnswered}, "again and again": {3, messages.StatusFailed}} {
		t.Run(name, func(t *testing.T) {
			s := setup(t)
			s.settled()
			before := s.children()
			s.tell(&agent.Begin{})
			for range c.crashes {
				q := s.question()
				s.kill(before)
				take(s, q.ctx.Done(), "the call of the lost model actor to be cancelled")
			}
			if c.status == messages.StatusAnswered {
				s.question().say("Done.")
			}
			require.Equal(t, c.status, s.end().Status)
			s.wellEnded(c.status)
			require.Len(t, s.events(messages.Warning), 2)
			require.Len(t, s.events(messages.StepCount), 1)
		})
	}
}

// The loss of the executor actor ends its block; what ran before is run again.
func TestExecutorActorLost(t *testing.T) {
	s := begun(t)
	q := s.question()
	before := s.children()
	q.say(code("work()"))
	s.running().end(python.Outcome{Output: "first\n"})
	q = s.question()
	q.say(code("work()"))
	b := s.running()
	s.kill(before)
	take(s, b.ctx.Done(), "the block to be cancelled")
	q = s.question()
	require.Contains(t, q.last(), "its interpreter ended unexpectedly")
	q.say(code("work()"))
	s.running().end(python.Outcome{Output: "first\n"}) // the first block, again
	s.running().end(python.Outcome{Output: "third\n"})
	q = s.question()
	require.Contains(t, q.last(), "Execution logs:\nthird\n")
	require.NotContains(t, q.last(), "The interpreter was replaced")
	q.say("Done.")
	s.endsWith(messages.StatusAnswered, "Done.")
	require.Equal(t, "died", facts[*fact.Executed](s)[1].Killed)
}

// The loss of a tool's actor is an exception in the code that called it; the
// next call has a new actor.
func TestToolActorLost(t *testing.T) {
	s := begun(t)
	b := s.block()
	before := s.children()
	done := b.begin(1, "send", `{"text":"a"}`)
	take(s, s.sent, "the call to begin")
	s.kill(before)
	got := take(s, done, "the call to fail")
	require.NotNil(t, got.err)
	require.NotNil(t, facts[*fact.Returned](s)[0].Err, "on the log too")
	require.Eventually(t, func() bool { return len(s.events(messages.Warning)) == 1 }, 5*time.Second, time.Millisecond, "the agent knows that it is gone")
	s.mail <- struct{}{}
	require.Nil(t, b.call(2, "send", `{"text":"b"}`).err)
	b.end(python.Outcome{IsFinal: true, FinalText: "ok"})
	s.endsWith(messages.StatusAnswered, "ok")
	require.Equal(t, "tool_restarted", s.events(messages.Warning)[0].ErrorCode)
}
