package observer_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/messages"
)

// TestThinkCases are the THINK cases of a stream, and the PARSE cases that say
// how the stream view shows code.
func TestThinkCases(t *testing.T) {
	for _, c := range []struct {
		id     string
		pieces []string
		want   string
	}{
		{"THINK-01", []string{"<th", "ink>a", "b</thi", "nk>", "好", "的"}, "deep_thinking(ab) thinking(好的)"},
		{"THINK-02", []string{"Hi. <think>plan</think>Answer."}, "thinking(Hi. ) deep_thinking(plan) thinking(Answer.)"},
		{"THINK-04", []string{"step one", "</think>", "Paris"}, "thinking(step oneParis)"},
		{"PARSE-04", []string{"Put it between <code> and </code>.\n<code>\nprint(1)\n</code>"},
			"thinking(Put it between <code> and </code>.\n) code(print(1)\n)"},
		{"PARSE-07 CRLF", []string{"<code>\r\nprint(5)\r\n</code>"}, "code(print(5)\r\n)"},
		{"PARSE-07 capitals", []string{"<CODE>\nprint(5)\n</CODE>"}, "code(print(5)\n)"},
		{"PARSE-07 trailing blanks", []string{"<code>  \nprint(5)\n</code>  "}, "code(print(5)\n) thinking(  )"},
		{"PARSE-07 one line", []string{"<code>print(5)</code>"}, "code(print(5))"},
		{"PARSE-07 fence inside", []string{"<code>\n```py\nprint(5)\n```\n</code>"}, "code(print(5)\n\n)"},
	} {
		t.Run(c.id, func(t *testing.T) {
			b := setup(t, rootScope)
			require.Equal(t, c.want, b.stream(c.pieces...))
			whole := strings.Join(c.pieces, "")
			for i := range len(whole) {
				require.Equal(t, c.want, b.stream(whole[:i], whole[i:]), "cut at %d", i)
			}
		})
	}
	t.Run("THINK-07", func(t *testing.T) {
		b := setup(t, rootScope)
		b.begin()
		for range 3 {
			b.send(&messages.AttemptDelta{AttemptID: "a1", Content: "a", Reasoning: ""})
			b.world.Advance(1e9)
		}
		require.Equal(t, []string{`thinking a1 "a"`, `thinking a1 "a"`, `thinking a1 "a"`}, b.journal.take())
	})
}

// stream shows the events of a text streamed in one attempt; neighbours of one
// kind joined.
func (b *bundle) stream(pieces ...string) string {
	b.t.Helper()
	b.journal.take()
	b.begin()
	from := len(b.journal.events)
	b.send(content(pieces...)...)
	b.send(&messages.AttemptEnd{AttemptID: "a1"})
	var shown strings.Builder
	var last messages.ProcessType
	for _, ev := range b.journal.events[from:] {
		require.Equal(b.t, "a1", ev.AttemptID)
		require.LessOrEqual(b.t, len(ev.Content), 16)
		if ev.Type != last {
			if last != "" {
				shown.WriteString(") ")
			}
			shown.WriteString(strings.TrimPrefix(string(ev.Type), "model_output_") + "(")
			last = ev.Type
		}
		shown.WriteString(ev.Content)
	}
	return shown.String() + ")"
}
