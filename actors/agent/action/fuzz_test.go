package action_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/agent/action"
	"github.com/troupe-go/troupe/actors/agent/action/tags"
	"github.com/troupe-go/troupe/messages"
)

// stream is what a stream view shows as code.
type stream struct{ code strings.Builder }

func (s *stream) Span(k tags.Kind, text string) {
	if k == tags.Code {
		s.code.WriteString(text)
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", "你好", "<code>\nprint(1)\n</code>", "<think>a</think>b", "a</think>b", "<code>x", "```<RUN>\nx\n```<END_CODE>",
		"Code:\n```python\nf('''</code>''')\n```", "<code>\n```py\nx\n```\n</code>", "```<DISPLAY:code>:py", "<DISPLAY:py>x</DISPLAY>",
		"<FINAL_ANSWER>a</FINAL_ANSWER>", "<code>f'{x:{y}}' # </code>", "“<code>”\n<code>\nx\n</code>", "<code>\n  a\n\tb\n</code>", "`code:code:a",
	} {
		f.Add(seed, "stop", false)
		f.Add(seed, "length", true)
	}
	f.Fuzz(func(t *testing.T, text, finish string, enveloped bool) {
		protocol := messages.CodeAction
		if enveloped {
			protocol = messages.FinalAnswerEnvelope
		}
		out := action.Parse(action.Reply{Text: text, FinishReason: finish}, protocol)
		switch out.Kind {
		case action.Run:
			require.NotEmpty(t, out.Code)
			require.Negative(t, unquotedClose(out.Code), "a closing tag would run: %q", out.Code)
			requireStreamed(t, text, out.Code)
		case action.Answer:
			require.NotEmpty(t, out.Text)
		case action.Repair:
			require.NotEmpty(t, out.Reason)
		}
		for _, lang := range []string{"en", "zh"} {
			require.NotContains(t, action.RepairMessage(lang, out, protocol), "{calls}")
		}
		once := action.Display(text)
		require.Equal(t, once, action.Display(once), "Display is idempotent")
		_ = action.FullWidth(text)
		_ = action.Visible(text)
	})
}

// unquotedClose finds </code> outside Python strings and comments.
func unquotedClose(code string) int {
	var p tags.Python
	for i := range len(code) {
		inside := p.InString(code[i]) || p.InComment()
		if !inside && len(code)-i >= len("</code>") && strings.EqualFold(code[i:i+len("</code>")], "</code>") {
			return i
		}
		p.Feed(code[i])
	}
	return -1
}

// requireStreamed: what runs was shown as code, in this order.
func requireStreamed(t *testing.T, text, code string) {
	var s tags.Scanner
	var view stream
	s.Write(text, &view)
	s.Close(&view)
	shown := withoutSpace(view.code.String())
	for line := range strings.Lines(code) {
		line = withoutSpace(line)
		_, rest, found := strings.Cut(shown, line)
		require.True(t, found, "%q runs and was not shown", line)
		shown = rest
	}
}

func withoutSpace(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}
