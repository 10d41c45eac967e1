package agent_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/agent"
	"github.com/troupe-go/troupe/actors/model"
	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/messages"
	"github.com/troupe-go/troupe/messages/fact"
)

// One step of code and an answer: every event and fact, in order.
func TestLoop(t *testing.T) {
	s := begun(t)
	b := s.block()
	require.Equal(t, "work()", b.code)
	b.end(python.Outcome{Output: "printed\n", Repr: "42"})
	q := s.question()
	require.Equal(t, []string{
		"system: Be a worker.",
		"user: [Current time: 2026-01-02 03:04:05]\n\nDo it.",
		"assistant: " + code("work()"),
		"user: Execution logs:\nprinted\nLast output from code snippet:\n42",
	}, q.texts())
	q.say("It is done.")
	s.endsWith(messages.StatusAnswered, "It is done.")
	s.inOrder(
		"agent_new_run", "step_count", "model_attempt_control:begin", "model_output_code",
		"fact:thought", "model_attempt_control:commit", "parse", "execution_logs", "execution_logs", "token_count", "fact:executed",
		"step_count", "model_attempt_control:begin", "model_output_thinking",
		"fact:thought", "model_attempt_control:commit", "token_count", "fact:run_finished", "final_answer",
	)
	steps := s.events(messages.StepCount)
	require.Equal(t, []string{"\n**Step 1** \n", "\n**Step 2** \n"}, []string{steps[0].Content, steps[1].Content})
	require.Equal(t, []int{1, 2}, []int{steps[0].Step, steps[1].Step})
	require.Equal(t, "Do it.", s.events(messages.AgentNewRun)[0].Content)
}

func TestFinalAnswer(t *testing.T) {
	s := begun(t)
	s.block().end(python.Outcome{IsFinal: true, FinalText: "forty-two", Output: "on the way\n"})
	s.endsWith(messages.StatusAnswered, "forty-two")
	require.True(t, facts[*fact.Executed](s)[0].IsFinal)
	require.Equal(t, "forty-two", facts[*fact.RunFinished](s)[0].Answer)
}

// What comes late, with an id that is none or an old one, changes nothing.
func TestLateAnswersAreIgnored(t *testing.T) {
	s := begun(t)
	q := s.question()
	s.tell(&messages.Thought{ID: 99, Text: "an answer of nobody", FinishReason: "stop"})
	s.tell(&messages.ThinkFailed{ID: 99, Fault: messages.ErrBusy})
	s.tell(&messages.ThinkCancelled{ID: 99})
	s.tell(&messages.Executed{ID: 0, IsFinal: true, FinalText: "no"})
	s.settled()
	q.say(code("work()"))
	b := s.running()
	s.tell(&messages.Thought{ID: 1, Text: "the first answer again", FinishReason: "stop"})
	s.tell(&messages.Executed{ID: 99, IsFinal: true, FinalText: "no"})
	s.tell(&messages.ToolReturned{Block: 99, Call: 1})
	s.tell(&messages.CallTool{Block: 99, Call: 1, Tool: "send"})
	s.tell(&agent.Begin{})
	s.settled()
	b.end(python.Outcome{})
	q = s.question()
	s.tell(&messages.Executed{ID: 2, IsFinal: true, FinalText: "the first block again"})
	s.settled()
	q.say("right")
	s.endsWith(messages.StatusAnswered, "right")
	require.Len(t, facts[*fact.Thought](s), 2)
	require.Len(t, facts[*fact.Executed](s), 1)
	require.Empty(t, facts[*fact.Intended](s))

	s.tell(&messages.Thought{ID: 3, Text: "after the end", FinishReason: "stop"})
	s.settled() // an unknown message is an error its sender sees, after the end too
	require.Empty(t, s.ended)
}

func TestAbort(t *testing.T) {
	s := setup(t)
	s.tell(&agent.Begin{Fault: messages.ErrBusy})
	s.endsWith(messages.StatusFailed, messages.ErrBusy.EN)
	require.Equal(t, "busy", s.events(messages.Error)[0].ErrorCode)
	require.True(t, *s.events(messages.Error)[0].Retryable)
}

// An earlier conversation joins the window without what the assistant thought.
func TestHistory(t *testing.T) {
	s := begun(t, func(c *agent.Config) {
		c.Start.History = []messages.Turn{
			{Role: "user", Content: "Hello."},
			{Role: "assistant", Content: "<think>who is that?</think>Good day."},
			{Role: "assistant", Content: "<think>nothing else</think>"},
		}
	})
	q := s.question()
	require.Equal(t, []string{"user: Hello.", "assistant: Good day."}, q.texts()[1:3])
	require.Len(t, q.texts(), 4)
	q.say("<think>short</think>Yes.")
	s.endsWith(messages.StatusAnswered, "Yes.")
	require.Equal(t, "short", s.events(messages.ModelOutputDeepThinking)[0].Content)
}

func TestHistoryOfAnUnknownRole(t *testing.T) {
	s := begun(t, func(c *agent.Config) { c.Start.History = []messages.Turn{{Role: "tool", Content: "x"}} })
	require.Equal(t, messages.StatusFailed, s.end().Status)
	require.Equal(t, "history_role", s.events(messages.Error)[0].ErrorCode)
}

// Images go to a model that takes them, beside the task's text.
func TestImages(t *testing.T) {
	s := begun(t, func(c *agent.Config) {
		c.Equipment.Models[0].Config.Images = true
		c.Task.Parts = []messages.ContentPart{{Type: "image_url", ImageURL: &messages.ImageURL{URL: "data:image/png;base64,AA=="}}}
	})
	q := s.question()
	require.JSONEq(t, `{"role":"user","content":[
		{"type":"text","text":"[Current time: 2026-01-02 03:04:05]\n\nDo it."},
		{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}}]}`, string(q.req.Messages[1].Parts))
	q.say("A picture.")
	s.endsWith(messages.StatusAnswered, "A picture.")
}

// A model that refuses for good is followed by the next of the chain.
func TestModelChain(t *testing.T) {
	s := begun(t, func(c *agent.Config) {
		c.Equipment.Definition.RequestedOutputTokens = 77
		c.Equipment.Models = append(c.Equipment.Models, model.Model{
			Config: messages.ModelConfig{CiteName: "second"},
			Client: &client{name: "second", asked: c.Equipment.Models[0].Client.(*client).asked},
		})
	})
	q := s.question()
	require.Equal(t, "first", q.model)
	require.Equal(t, 77, q.req.MaxTokens)
	refused := &messages.Fault{Code: "model_rejected", Class: messages.Permanent, EN: "no such model"}
	q.fail(refused)
	q = s.question()
	require.Equal(t, "second", q.model)
	q.say("From the second.")
	s.endsWith(messages.StatusAnswered, "From the second.")
	require.Equal(t, "second", facts[*fact.Thought](s)[0].Model)
	require.Len(t, s.events(messages.Warning), 1)

	s = begun(t)
	s.question().fail(refused)
	s.endsWith(messages.StatusFailed, "no such model")
	require.Equal(t, "model_rejected", s.events(messages.Error)[0].ErrorCode)
}

// An owner that can't write any more stops quietly and tells its run why.
func TestLostLog(t *testing.T) {
	s := setup(t)
	s.journal.refuse = map[string]error{"thought": messages.ErrShutdown, "run_finished": messages.ErrShutdown}
	s.tell(&agent.Begin{})
	q := s.question()
	q.say("Nobody hears this.")
	end := s.end()
	require.ErrorIs(t, end.Lost, messages.ErrShutdown)
	require.Empty(t, end.Status)
	s.settled()
	require.Empty(t, s.ended, "said once")
	require.Empty(t, s.events(messages.FinalAnswer))
}
