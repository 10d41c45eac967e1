package agent_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/agent"
	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/messages"
	"github.com/troupe-go/troupe/messages/fact"
)

// A call with effects begins when its intent is stored, and the code sees its
// result when that is.
func TestEffectsAreLoggedFirst(t *testing.T) {
	s := begun(t)
	b := s.block()
	require.Nil(t, b.call(1, "look", `{"n":3}`).err)

	s.hold("intended")
	done := b.begin(2, "send", `{"text":"a"}`)
	intended := take(s, s.journal.held, "the intent").(*fact.Intended)
	s.settled()
	require.Empty(t, s.sent, "nothing begins before the intent is stored")
	require.Len(t, s.events(messages.Tool), 2, "the call is announced")
	s.journal.release()
	require.Equal(t, "a", take(s, s.sent, "the call to begin"))

	s.hold("returned")
	s.mail <- struct{}{}
	take(s, s.journal.held, "the result to be logged")
	s.settled()
	require.Empty(t, done, "code sees no result that is not stored")
	s.journal.release()
	require.JSONEq(t, `"sent a"`, string(take(s, done, "the result").value))
	b.end(python.Outcome{IsFinal: true, FinalText: "ok"})
	s.endsWith(messages.StatusAnswered, "ok")
	s.inOrder("tool", "tool", "fact:intended", "fact:returned", "fact:executed")

	tools := s.events(messages.Tool)
	require.Equal(t, "send", tools[1].ToolName)
	require.JSONEq(t, `{"text":"a"}`, string(tools[1].ToolArguments))
	require.Equal(t, intended.ToolCallID, tools[1].ToolCallID)
	require.NotEqual(t, tools[0].ToolCallID, tools[1].ToolCallID)
	require.Contains(t, intended.IdempotencyKey, intended.ToolCallID)
	require.Len(t, intended.Calls, 1, "the effect-free calls before it")
	require.JSONEq(t, "3", string(intended.Calls[0].Value))
	require.Empty(t, facts[*fact.Executed](s)[0].Calls)
}

func (s *stage) hold(kind string) {
	s.journal.mu.Lock()
	defer s.journal.mu.Unlock()
	s.journal.hold = kind
}

// Effect-free calls cost no fact of their own.
func TestEffectFreeCallsAreSettledByTheBlock(t *testing.T) {
	s := begun(t)
	b := s.block()
	for i := range uint64(3) {
		require.Nil(t, b.call(i+1, "look", `{}`).err)
	}
	b.end(python.Outcome{IsFinal: true, FinalText: "ok"})
	s.endsWith(messages.StatusAnswered, "ok")
	require.Empty(t, facts[*fact.Intended](s))
	calls := facts[*fact.Executed](s)[0].Calls
	require.Len(t, calls, 3)
	require.Equal(t, uint64(3), calls[2].Call)
	require.NotEmpty(t, calls[2].Hash)
	require.JSONEq(t, "5", string(calls[2].Value))
}

// What can't be called is an exception in the code, and no tool begins.
func TestCallsThatAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		tool, kwargs string
		want         messages.ToolError
	}{
		"unknown tool":     {"fly", `{}`, messages.ToolError{Type: "NameError", Message: `there is no tool named "fly" here`}},
		"argument missing": {"send", `{}`, messages.ToolError{Type: "TypeError"}},
		"unknown argument": {"send", `{"text":"a","loud":true}`, messages.ToolError{Type: "TypeError"}},
		"wrong type":       {"send", `{"text":["a"]}`, messages.ToolError{Type: "ValueError"}},
		"no JSON":          {"send", `{`, messages.ToolError{Type: "ValueError"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := begun(t)
			b := s.block()
			got := b.call(1, c.tool, c.kwargs)
			require.NotNil(t, got.err)
			if c.want.Message != "" {
				require.Equal(t, c.want.Message, got.err.Message)
			}
			require.NotEmpty(t, got.err.Message)
			b.end(python.Outcome{IsFinal: true, FinalText: "ok"})
			s.endsWith(messages.StatusAnswered, "ok")
			require.Empty(t, s.sent)
			require.Empty(t, s.events(messages.Tool))
			require.Empty(t, facts[*fact.Intended](s))
		})
	}
}

func TestCallLimit(t *testing.T) {
	s := begun(t, func(c *agent.Config) { c.Equipment.Definition.ToolCallLimit = 2 })
	b := s.block()
	require.Nil(t, b.call(1, "look", `{}`).err)
	require.Nil(t, b.call(2, "look", `{}`).err)
	got := b.call(3, "look", `{}`)
	require.Equal(t, "tool_call_limit", got.err.Code)
	b.end(python.Outcome{})
	b = s.block()
	require.Nil(t, b.call(1, "look", `{}`).err, "the limit is a block's")
	b.end(python.Outcome{IsFinal: true, FinalText: "ok"})
	s.endsWith(messages.StatusAnswered, "ok")
}

// A value beyond its bounds is clamped; people and the model are told.
func TestClampedArguments(t *testing.T) {
	s := begun(t)
	b := s.block()
	require.JSONEq(t, "10", string(b.call(1, "look", `{"n":99}`).value))
	b.end(python.Outcome{Output: "ten\n"})
	q := s.question()
	note := s.events(messages.Other)[0].Content
	require.Contains(t, note, "10")
	require.Contains(t, q.last(), note)
	q.say(code("work()"))
	s.running().end(python.Outcome{})
	q = s.question()
	require.NotContains(t, q.last(), note, "told once")
	q.say("ok")
	s.endsWith(messages.StatusAnswered, "ok")
}

// A call that a block leaves running is cancelled with it. What came of it
// stands on the log all the same, and the model is told: first that it can't
// be known yet, then how it ended.
func TestBlockLeavesACallRunning(t *testing.T) {
	s := begun(t)
	b := s.block()
	b.begin(1, "send", `{"text":"a"}`)
	take(s, s.sent, "the call to begin")
	b.end(python.Outcome{Output: "left it\n"})
	q := s.question()
	require.Contains(t, q.last(), "The call of send was cut off")
	s.logged("returned")
	require.NotNil(t, facts[*fact.Returned](s)[0].Err, "it was cancelled")
	s.inOrder("fact:intended", "fact:executed", "fact:returned")
	q.say(code("work()"))
	s.running().end(python.Outcome{Output: "went on\n"})
	q = s.question()
	require.Contains(t, q.last(), "The call of send that was cut off ended with")
	q.say("ok")
	s.endsWith(messages.StatusAnswered, "ok")
}

// A stop in mid-call: the log says what came of an effect, though the code
// never sees it.
func TestStopNowLogsTheEffect(t *testing.T) {
	s := begun(t)
	b := s.block()
	b.begin(1, "send", `{"text":"a"}`)
	take(s, s.sent, "the call to begin")
	s.tell(&messages.Stop{After: messages.StopNow})
	end := s.end()
	require.Equal(t, messages.StatusStopped, end.Status)
	var actors []string
	for _, p := range end.Parts {
		actors = append(actors, p.Actor)
	}
	require.ElementsMatch(t, []string{"python", "tool:send", "agent"}, actors)
	require.NotNil(t, facts[*fact.Returned](s)[0].Err, "it was cancelled")
	s.inOrder("fact:intended", "fact:stop_requested", "fact:returned", "fact:run_finished")
}

// A stop that comes while an intent is on its way: the call never begins.
func TestStopBeforeTheIntentIsStored(t *testing.T) {
	s := begun(t)
	b := s.block()
	s.hold("intended")
	b.begin(1, "send", `{"text":"a"}`)
	take(s, s.journal.held, "the intent")
	s.tell(&messages.Stop{After: messages.StopNow})
	take(s, b.ctx.Done(), "the block to be cancelled")
	s.settled()
	s.journal.release()
	require.Equal(t, messages.StatusStopped, s.end().Status)
	require.Empty(t, s.sent)
}

// What is wrong with Python is an observation of a counted step.
func TestErrorsOfABlock(t *testing.T) {
	s := begun(t)
	s.block().end(python.Outcome{Output: "before\n", Err: &messages.PyError{Type: "ValueError", Message: "bad", Line: 2}})
	q := s.question()
	require.Equal(t, "Execution logs:\nbefore\nError in line 2: ValueError: bad", q.last())
	q.say(code("print（1）"))
	s.running().end(python.Outcome{Err: &messages.PyError{Type: "SyntaxError", Message: "invalid character", Line: 1}})
	q = s.question()
	require.Contains(t, q.last(), `"（" is a full-width character; write "(" in code`)
	q.say(code("work()"))
	s.running().end(python.Outcome{Killed: python.KilledTimeout, Output: "part\n"})
	q = s.question()
	require.Contains(t, q.last(), "part\n")
	require.Contains(t, q.last(), "it took longer than it may")
	q.say("ok")
	s.endsWith(messages.StatusAnswered, "ok")
	var codes []string
	for _, ev := range s.events(messages.Warning) {
		codes = append(codes, ev.ErrorCode)
	}
	require.Equal(t, []string{"code_error", "code_error", "executor_timeout"}, codes)
	require.Len(t, s.events(messages.StepCount), 4)
}

// A stop that comes while a result is on its way to the log waits for nobody
// and calls nothing abandoned.
func TestStopWhileAResultIsOnItsWay(t *testing.T) {
	s := begun(t)
	b := s.block()
	s.hold("returned")
	b.begin(1, "write", `{"path":"a.txt"}`)
	take(s, s.journal.held, "the result")
	s.tell(&messages.Stop{After: messages.StopNow})
	take(s, b.ctx.Done(), "the block to be cancelled")
	s.settled()
	s.journal.release()
	end := s.end()
	require.Equal(t, messages.StatusStopped, end.Status)
	for _, p := range end.Parts {
		require.NotContains(t, p.Actor, "tool:", "it had returned")
	}
	require.Len(t, facts[*fact.Returned](s), 1)
}
