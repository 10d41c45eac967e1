package cases

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe"
	"github.com/troupe-go/troupe/messages"
	"github.com/troupe-go/troupe/tests/scripted"
)

// parseCases are the faults of reading code out of a reply.
func parseCases() cases {
	return cases{
		"PARSE-01": closingTagInString,
		"PARSE-02": missingClosingTag,
		"PARSE-04": tagsInProse,
		"PARSE-05": indentedBlock,
		"PARSE-06": fencedExample,
		"PARSE-07": variations,
		"PARSE-08": twoBlocks,
		"PARSE-10": plainAnswer,
		"PARSE-11": fullWidth,
	}
}

func closingTagInString(t *testing.T) {
	block := "html = '<p>1</p><code>k</code>'\nprint(len(html))"
	s, tr := ask(t, code(block))
	tr.ran(t, block, "final_answer('done')")
	tr.prints(t, "22\n")
	require.Equal(t, block+"\n", tr.firstCode(), "watchers see the whole block, too")
	require.Contains(t, s.sent(2), "22")
	require.NotContains(t, s.sent(2), "Error")
}

func missingClosingTag(t *testing.T) {
	const text = "思考：算一下\n<code>\nprint(6*7)\n"
	t.Run("stop", func(t *testing.T) {
		s, tr := ask(t, text)
		tr.ran(t, "print(6*7)", "final_answer('done')")
		tr.prints(t, "42\n")
		require.Contains(t, s.sent(2), "42")
		tr.tagless(t)
	})
	t.Run("length", func(t *testing.T) {
		s := play(t, answers(scripted.Reply{Text: text, FinishReason: "length"}, scripted.Reply{Text: finish}))
		tr := s.run(troupe.RunRequest{Query: "Go."})
		tr.answered(t, "done")
		tr.ran(t, "final_answer('done')")
		tr.prints(t, "")
		s.calls(2)
		require.Contains(t, s.sent(2), "cut off")
	})
}

func tagsInProse(t *testing.T) {
	_, tr := ask(t, "Put it between <code> and </code> as asked.\n<code>\nprint(1)\n</code>")
	tr.ran(t, "print(1)", "final_answer('done')")
	tr.prints(t, "1\n")
	require.Empty(t, tr.of(messages.Warning))
}

func indentedBlock(t *testing.T) {
	_, tr := ask(t, "<code>\n    a = 2\n    print(a)\n</code>")
	tr.ran(t, "a = 2\nprint(a)", "final_answer('done')")
	tr.prints(t, "2\n")
}

func fencedExample(t *testing.T) {
	_, tr := ask(t, "思考：旧写法是\n```\nbad syntax here\n```\n代码：\n<code>\nprint('ok')\n</code>")
	tr.ran(t, "print('ok')", "final_answer('done')")
	tr.prints(t, "ok\n")
	require.Contains(t, tr.speech()[0].Text, "bad syntax here")
	require.Equal(t, messages.ModelOutputThinking, tr.speech()[0].Type)
	tr.tagless(t)
}

func variations(t *testing.T) {
	for name, text := range map[string]string{
		"CRLF":                "<code>\r\nprint(5)\r\n</code>",
		"capitals":            "<CODE>\nprint(5)\n</CODE>",
		"trailing blanks":     "<code>  \nprint(5)\n</code>",
		"tag and code a line": "<code>print(5)</code>",
		"fence inside":        "<code>\n```py\nprint(5)\n```\n</code>",
	} {
		t.Run(name, func(t *testing.T) {
			_, tr := ask(t, text)
			tr.ran(t, "print(5)", "final_answer('done')")
			tr.prints(t, "5\n")
			require.Equal(t, "print(5)", strings.TrimSpace(tr.firstCode()), "watchers see what runs")
			tr.tagless(t)
		})
	}
}

// firstCode is the code that watchers see of the first attempt.
func (tr trace) firstCode() string {
	var out string
	first := tr.of(messages.ModelAttemptControl)[0].AttemptID
	for _, ev := range tr.of(messages.ModelOutputCode) {
		if ev.AttemptID == first {
			out += ev.Content
		}
	}
	return out
}

func twoBlocks(t *testing.T) {
	_, tr := ask(t, "<code>\nx=3\n</code> 然后 <code>\nprint(x+1)\n</code>")
	tr.ran(t, "x=3\n\nprint(x+1)", "final_answer('done')")
	tr.prints(t, "4\n")
	require.Len(t, tr.of(messages.ExecutionLogs), 1)
	tr.tagless(t)
}

func plainAnswer(t *testing.T) {
	s := play(t, says("你好，我是助手。"))
	tr := s.run(troupe.RunRequest{Query: "你是谁？"})
	tr.answered(t, "你好，我是助手。")
	require.Empty(t, tr.of(messages.Parse))
	s.calls(1)
}

func fullWidth(t *testing.T) {
	s, tr := ask(t, code("print（'总数：'，3）"), code("print('总数：', 3)"))
	tr.prints(t, "总数： 3\n")
	observation := s.sent(2)
	require.Contains(t, observation, "SyntaxError")
	require.Contains(t, observation, "Line 1")
	for _, r := range []string{"（", "，", "）"} {
		require.Contains(t, observation, r)
	}
	require.Len(t, tr.of(messages.Warning), 1, "a person is told, too")
	require.Contains(t, s.sent(3), "总数： 3")
}
