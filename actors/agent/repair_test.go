package agent_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/agent"
	"github.com/troupe-go/troupe/actors/model"
	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/messages"
	"github.com/troupe-go/troupe/messages/fact"
)

const malformed = "I will SECRETLY do it: <code>" // an empty block that nothing closes

// Two repair turns: no step is counted, tokens are, and what was rejected is
// neither repeated to the model nor kept.
func TestRepair(t *testing.T) {
	s := begun(t)
	usage := messages.Usage{InputTokens: 10, OutputTokens: 3}
	s.question().reply(model.Reply{Text: malformed, FinishReason: "stop", Usage: usage})
	q := s.question()
	require.Len(t, q.texts(), 3)
	q.reply(model.Reply{Text: "half of an ans", FinishReason: "length", Usage: usage})
	q = s.question()
	require.Len(t, q.texts(), 4)
	require.NotContains(t, strings.Join(q.texts(), "\n"), "SECRETLY")
	require.NotContains(t, strings.Join(q.texts(), "\n"), "half of an ans")
	require.Contains(t, q.last(), "was cut off")
	q.reply(model.Reply{Text: code("work()"), FinishReason: "stop", Usage: usage})
	s.running().end(python.Outcome{Output: "ok\n"})
	q = s.question()
	require.Len(t, q.texts(), 4, "system, task, the good answer, its observation: repair turns are forgotten")
	q.say("Done.")
	s.endsWith(messages.StatusAnswered, "Done.")

	require.Len(t, s.events(messages.StepCount), 2)
	require.Len(t, s.events(messages.Warning), 2)
	require.Equal(t, "model_output_rejected", s.events(messages.Warning)[0].ErrorCode)
	s.inOrder("model_attempt_control:begin", "model_attempt_control:rollback", "fact:thought",
		"model_attempt_control:begin", "model_attempt_control:rollback", "fact:thought",
		"model_attempt_control:begin", "fact:thought", "model_attempt_control:commit")
	var attempts []int
	for _, ev := range s.events(messages.ModelAttemptControl) {
		if ev.Phase == messages.PhaseBegin {
			attempts = append(attempts, ev.Attempt)
		}
	}
	require.Equal(t, []int{1, 2, 3, 1}, attempts, "attempts are counted in their step")
	var tokens map[string]any
	require.NoError(t, json.Unmarshal([]byte(s.events(messages.TokenCount)[0].Content), &tokens))
	require.EqualValues(t, 30, tokens["step_input_tokens"])
	require.EqualValues(t, 9, tokens["step_output_tokens"])
	thoughts := facts[*fact.Thought](s)
	require.NotEmpty(t, thoughts[0].Rejected)
	require.NotEmpty(t, thoughts[1].Rejected)
	require.Empty(t, thoughts[2].Rejected)
}

func TestRepairExhausted(t *testing.T) {
	no := false
	for name, c := range map[string]struct {
		repair  *bool
		answers int
	}{
		"the third broken answer ends it": {nil, 3},
		"no repair: the first does":       {&no, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := begun(t, func(cfg *agent.Config) { cfg.Equipment.Definition.EnableProtocolRepairRetry = c.repair })
			for range c.answers {
				s.question().say(malformed)
			}
			require.Equal(t, messages.StatusFailed, s.end().Status)
			s.wellEnded(messages.StatusFailed)
			last := s.events(messages.Error)[0]
			require.Equal(t, "model_output_protocol_exhausted", last.ErrorCode)
			require.NotContains(t, last.Content, "SECRETLY")
			require.Len(t, facts[*fact.Thought](s), c.answers)
			require.Len(t, s.events(messages.StepCount), 1)
		})
	}
}

// Native tool calls are not carried out: a repair turn says how to call.
func TestNativeToolCalls(t *testing.T) {
	s := begun(t)
	s.question().reply(model.Reply{FinishReason: "tool_calls", ToolCalls: []messages.ToolCallDelta{{Name: "send", Arguments: `{"text":"SECRET"}`}}})
	q := s.question()
	require.Contains(t, q.last(), "send")
	require.NotContains(t, q.last(), "SECRET")
	q.say("Then in words.")
	s.endsWith(messages.StatusAnswered, "Then in words.")
	require.Empty(t, s.sent)
}

func TestEnvelope(t *testing.T) {
	s := begun(t, func(c *agent.Config) { c.Equipment.Definition.OutputProtocol = messages.FinalAnswerEnvelope })
	s.question().say("Prose is no answer here.")
	q := s.question()
	require.Contains(t, q.last(), "<FINAL_ANSWER>")
	q.say(code("work()"))
	s.running().end(python.Outcome{})
	s.question().say("<think>so</think><FINAL_ANSWER>The end.</FINAL_ANSWER>")
	s.endsWith(messages.StatusAnswered, "The end.")
}
