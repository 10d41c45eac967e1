package cases

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe"
	"github.com/troupe-go/troupe/messages"
	"github.com/troupe-go/troupe/tests/scripted"
)

// thinkCases are the faults of telling thinking from text.
func thinkCases() cases {
	return cases{
		"THINK-01": tagsSplit,
		"THINK-02": tagsInOneToken,
		"THINK-04": closeWithoutOpen,
		"THINK-07": emptyReasoning,
		"THINK-09": thinkingStaysOut,
	}
}

func tagsSplit(t *testing.T) {
	replies := []scripted.Reply{{Deltas: []string{"<th", "ink>a", "b</thi", "nk>", "好", "的"}}}
	for _, deltas := range cuts("<think>ab</think>好的") {
		replies = append(replies, scripted.Reply{Deltas: deltas})
	}
	s := play(t, answers(replies...))
	for _, reply := range replies {
		tr := s.run(troupe.RunRequest{Query: "Go."})
		require.Equal(t, []spoken{
			{messages.ModelOutputDeepThinking, "ab"},
			{messages.ModelOutputThinking, "好的"},
		}, tr.speech(), "%q", reply.Deltas)
		tr.answered(t, "好的")
		tr.tagless(t)
	}
	s.calls(len(replies))
}

// cuts gives every way to cut a text once or twice between characters.
func cuts(text string) [][]string {
	runes := []rune(text)
	var out [][]string
	for i := 1; i < len(runes); i++ {
		out = append(out, []string{string(runes[:i]), string(runes[i:])})
		for j := i + 1; j < len(runes); j++ {
			out = append(out, []string{string(runes[:i]), string(runes[i:j]), string(runes[j:])})
		}
	}
	return out
}

func tagsInOneToken(t *testing.T) {
	s := play(t, answers(scripted.Reply{Deltas: []string{"Hi. <think>plan</think>Answer."}}))
	tr := s.run(troupe.RunRequest{Query: "Go."})
	require.Equal(t, []spoken{
		{messages.ModelOutputThinking, "Hi. "},
		{messages.ModelOutputDeepThinking, "plan"},
		{messages.ModelOutputThinking, "Answer."},
	}, tr.speech())
	tr.answered(t, "Hi. Answer.")
	tr.tagless(t)
}

func closeWithoutOpen(t *testing.T) {
	s := play(t, answers(scripted.Reply{Deltas: []string{"step one", "</think>", "Paris"}}))
	tr := s.run(troupe.RunRequest{Query: "Go."})
	tr.answered(t, "Paris")
	tr.tagless(t)
	require.Contains(t, tr.text(shown...), "step one")
	s.calls(1)
}

func emptyReasoning(t *testing.T) {
	chunk := `{"choices":[{"index":0,"delta":{"reasoning_content":"","content":"a"}}]}`
	s := play(t, answers(sse(chunk, chunk, chunk, finishStop, done)))
	tr := s.run(troupe.RunRequest{Query: "Go."})
	require.Equal(t, []spoken{{messages.ModelOutputThinking, "aaa"}}, tr.speech())
	tr.answered(t, "aaa")
	tr.tagless(t)
}

func thinkingStaysOut(t *testing.T) {
	const secret = "secret-plan-7"
	first := "<think>" + secret + "</think>晴"
	t.Run("next turn", func(t *testing.T) {
		for name, kept := range map[string]string{"answer": "晴", "raw text, kept by a caller": first} {
			t.Run(name, func(t *testing.T) {
				s := play(t, says(first, "Yes."))
				one := s.run(troupe.RunRequest{Query: "天气？"})
				one.answered(t, "晴")
				two := s.run(troupe.RunRequest{Query: "Sure?", History: []messages.Turn{
					{Role: "user", Content: "天气？"}, {Role: "assistant", Content: kept},
				}})
				two.answered(t, "Yes.")
				body := string(s.model.Requests()[1].Body)
				require.NotContains(t, body, secret)
				require.Contains(t, body, "晴")
			})
		}
	})
	t.Run("next step", func(t *testing.T) {
		s, tr := ask(t, "<think>"+secret+"</think>看\n"+code("print('cloudy')"))
		require.NotContains(t, tr.last().Content, secret)
		require.NotContains(t, string(s.model.Requests()[1].Body), secret)
		require.Contains(t, string(s.model.Requests()[1].Body), "看")
	})
	t.Run("unclosed", func(t *testing.T) {
		s, _ := ask(t, "<think>"+secret)
		body := string(s.model.Requests()[1].Body)
		require.NotContains(t, body, secret)
		require.Contains(t, s.sent(2), "no visible content")
	})
	t.Run("code that was thought only", func(t *testing.T) {
		_, tr := ask(t, "<think>\n"+code("print('"+secret+"')")+"\n</think>")
		tr.ran(t, "final_answer('done')")
		tr.prints(t, "")
	})
	t.Run("reasoning deltas", func(t *testing.T) {
		s := play(t, answers(scripted.Reply{Reasoning: secret, Text: code("print(1)")}, scripted.Reply{Text: finish}))
		tr := s.run(troupe.RunRequest{Query: "Go."})
		tr.answered(t, "done")
		require.Equal(t, secret, tr.text(messages.ModelOutputDeepThinking))
		require.NotContains(t, string(s.model.Requests()[1].Body), secret)
	})
}
