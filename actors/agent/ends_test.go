package agent_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/agent"
	"github.com/troupe-go/troupe/actors/model"
	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/actors/system/worldtest"
	"github.com/troupe-go/troupe/messages"
	"github.com/troupe-go/troupe/messages/fact"
)

func steps(n int) func(*agent.Config) {
	return func(c *agent.Config) { c.Equipment.Definition.MaxSteps = n }
}

func TestMaxSteps(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(*question)
		want   string
		status messages.Status
	}{
		"summary":         {func(q *question) { q.say("<think>hm</think>So far: 1.") }, "So far: 1.", messages.StatusMaxSteps},
		"the call fails":  {func(q *question) { q.fail(&messages.Fault{Code: "c", Class: messages.Permanent, EN: "no power"}) }, "The step limit was reached, and the closing answer could not be written: no power", messages.StatusMaxSteps},
		"a blank summary": {func(q *question) { q.say("<think>nothing</think> \n") }, "I could not produce an answer to this question. Please ask again, perhaps in other words.", messages.StatusMaxSteps},
		"filtered":        {func(q *question) { q.reply(model.Reply{FinishReason: "content_filter"}) }, "I can't answer this: the answer was held back by a content filter.", messages.StatusBlocked},
	} {
		t.Run(name, func(t *testing.T) {
			s := begun(t, steps(2))
			s.block().end(python.Outcome{Output: "1\n"})
			s.block().end(python.Outcome{Output: "2\n"})
			q := s.question()
			require.NotContains(t, q.texts(), "system: Be a worker.", "the summary has a prompt of its own")
			require.Contains(t, q.texts(), "user: Execution logs:\n2\n")
			c.answer(q)
			s.endsWith(c.status, c.want)
			s.inOrder("fact:executed", "fact:executed", "max_steps_reached", "step_count", "fact:run_finished", "final_answer")
			require.Len(t, s.events(messages.StepCount), 3)
			require.Equal(t, "\n**Step 3** \n", s.events(messages.StepCount)[2].Content)
			require.Len(t, s.events(messages.TokenCount), 2, "the summary has none")
			require.JSONEq(t, `{"completedSteps":2,"maxSteps":2,"message":""}`, s.events(messages.MaxStepsReached)[0].Content)
		})
	}
}

// An answer in the last step there may be is an answer.
func TestAnswerInTheLastStep(t *testing.T) {
	s := begun(t, steps(1))
	s.block().end(python.Outcome{IsFinal: true, FinalText: "in time"})
	s.endsWith(messages.StatusAnswered, "in time")
	require.Empty(t, s.events(messages.MaxStepsReached))
}

func TestContentFilter(t *testing.T) {
	s := begun(t)
	s.question().reply(model.Reply{Text: "I may not", FinishReason: "content_filter"})
	s.endsWith(messages.StatusBlocked, "I can't answer this: the answer was held back by a content filter.")
	s.inOrder("fact:run_finished", "verification", "final_answer")
	require.JSONEq(t, `{"phase":"blocked","event":"content_filter","round":1,"severity":"blocking","score":0,
		"failed_criteria":["content_filter"],"repair_instruction":"","passed":false,
		"user_visible_note":"I can't answer this: the answer was held back by a content filter.",
		"message":"I can't answer this: the answer was held back by a content filter."}`, s.events(messages.Verification)[0].Content)
}

// An answer without a word is none that a person could read.
func TestEmptyFinalAnswer(t *testing.T) {
	s := begun(t, func(c *agent.Config) { c.Equipment.Lang = messages.ZH })
	s.block().end(python.Outcome{IsFinal: true, FinalText: " \n"})
	s.endsWith(messages.StatusAnswered, "抱歉，这次没能得出这个问题的答案。请重新提问，或换一种说法。")
}

func due(after time.Duration) func(*agent.Config) {
	return func(c *agent.Config) { c.Start.Deadline = worldtest.Start.Add(after) }
}

func TestDeadline(t *testing.T) {
	for name, reach := range map[string]func(*stage) func(){
		"while the model is asked": func(s *stage) func() {
			q := s.question()
			return func() { take(s, q.ctx.Done(), "the model call to be cancelled") }
		},
		"while code runs": func(s *stage) func() {
			b := s.block()
			return func() { take(s, b.ctx.Done(), "the block to be cancelled") }
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := begun(t, due(time.Minute))
			cancelled := reach(s)
			s.world.Advance(time.Minute)
			cancelled()
			require.Equal(t, messages.StatusBudget, s.end().Status)
			s.wellEnded(messages.StatusBudget)
			s.inOrder("fact:run_finished", "warning", "final_answer")
			require.Equal(t, "deadline_reached", s.events(messages.Warning)[0].ErrorCode)
			require.Contains(t, s.events(messages.FinalAnswer)[0].Content, "2026-01-02 03:05:05")
		})
	}
}

// Files that code made come before the answer that hands them over.
func TestFileArtifact(t *testing.T) {
	s := begun(t)
	b := s.block()
	require.Nil(t, b.call(1, "write", `{"path":"a.txt","size":1}`).err)
	require.Nil(t, b.call(2, "write", `{"path":"b.txt","size":1}`).err)
	require.Nil(t, b.call(3, "write", `{"path":"a.txt","size":9}`).err)
	b.end(python.Outcome{IsFinal: true, FinalText: "Two files."})
	end := s.end()
	require.Equal(t, 2, end.Artifacts)
	s.inOrder("fact:run_finished", "file_artifact", "final_answer")
	ev := s.events(messages.FileArtifact)[0]
	require.Empty(t, ev.Content)
	require.JSONEq(t, `{"artifacts":[
		{"name":"a.txt","path":"a.txt","mime_type":"text/plain","size":9,"sha256":"h"},
		{"name":"b.txt","path":"b.txt","mime_type":"text/plain","size":1,"sha256":"h"}]}`, string(ev.Object))
	require.Len(t, facts[*fact.Returned](s)[0].Changes, 1)
}

// What a run had written when it was stopped is not lost: people are told of
// the files, before its last event.
func TestArtifactsOfAStoppedRun(t *testing.T) {
	s := begun(t)
	b := s.block()
	require.Nil(t, b.call(1, "write", `{"path":"a.txt"}`).err)
	s.tell(&messages.Stop{After: messages.StopNow})
	end := s.end()
	require.Equal(t, messages.StatusStopped, end.Status)
	require.Equal(t, 1, end.Artifacts)
	s.inOrder("file_artifact", "final_answer")
}

// Whoever stopped a run has stopped it, whatever falls due after.
func TestDeadlineAfterAStop(t *testing.T) {
	s := setup(t, due(time.Minute))
	s.hold("thought")
	s.tell(&agent.Begin{})
	s.question().say(code("work()"))
	take(s, s.journal.held, "the thought")
	s.tell(&messages.Stop{After: messages.StopNow})
	s.settled()
	s.world.Advance(time.Minute)
	s.settled()
	s.journal.release()
	s.endsWith(messages.StatusStopped, messages.UserBreak)
	require.Empty(t, s.events(messages.Parse), "the code never ran")
}
