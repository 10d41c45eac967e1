package tags_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/troupe-go/troupe/actors/agent/action/tags"
)

// recorder joins neighbouring spans of one kind, so that two ways to cut a
// text can be compared.
type recorder struct{ spans []span }

type span struct {
	Kind tags.Kind
	Text string
}

func (r *recorder) Span(k tags.Kind, text string) {
	if n := len(r.spans); n > 0 && r.spans[n-1].Kind == k && k <= tags.Code {
		r.spans[n-1].Text += text
		return
	}
	r.spans = append(r.spans, span{k, text})
}

func scan(pieces ...string) []span {
	var s tags.Scanner
	var r recorder
	for _, p := range pieces {
		s.Write(p, &r)
	}
	s.Close(&r)
	return r.spans
}

// shown is scan in short: p(rose), d(eep), c(ode), ! for forget; markers are
// left out.
func shown(pieces ...string) string {
	var b strings.Builder
	for _, s := range scan(pieces...) {
		switch s.Kind {
		case tags.Prose, tags.Deep, tags.Code:
			b.WriteString("pdc"[s.Kind:s.Kind+1] + "(" + s.Text + ")")
		case tags.Forget:
			b.WriteString("!")
		}
	}
	return b.String()
}

var texts = []struct{ name, text, want string }{
	{"plain", "你好，我是助手。", "p(你好，我是助手。)"},
	{"think in one token", "Hi. <think>plan</think>Answer.", "p(Hi. )d(plan)p(Answer.)"},
	{"think never closed", "<think>never closed", "d(never closed)"},
	{"think in capitals", "<THINK>a</Think >b", "d(a)p(b)"},
	{"nested think", "<think>a<think>b</think>c</think>d", "d(ab)p(c)!p(d)"},
	{"lone close", "step one</think>Paris", "p(step one)!p(Paris)"},
	{"lone close behind an open fence", "see\n```python\nx\n</think>Paris", "p(see\n```python\nx\n)!p(Paris)"},
	{"think is mentioned", "Use `<think>` and `</think>`.", "p(Use `<think>` and `</think>`.)"},
	{"think in a fence", "```\n<think>x</think>\n```\nend", "p(```\n<think>x</think>\n```\nend)"},
	{"close is quoted", `the "</think>" tag`, `p(the "</think>" tag)`},
	{"close after a quotation", `He said "yes"</think>Paris`, `p(He said "yes")!p(Paris)`},
	{"not a tag", "a < b <thin <codes> <c", "p(a < b <thin <codes> <c)"},

	{"code on lines", "go\n<code>\nprint(1)\n</code>\nend", "p(go\n)c(print(1)\n)p(\nend)"},
	{"code on one line", "<code>print(1)</code>", "c(print(1))"},
	{"capitals, blanks, CRLF", "<CODE >  \r\nprint(1)\r\n</Code>", "c(print(1)\r\n)"},
	{"indentation stays", "<code>\n    a = 2\n</code>", "c(    a = 2\n)"},
	{"label before the tag", "算一下。代码： <code>print(1)</code>", "p(算一下。代码： )c(print(1))"},
	{"mid-line with a line end", "then <code>\nx\n</code>", "p(then )c(x\n)"},
	{"tags are mentioned", "Put it between <code> and </code> as asked.\n<code>\nprint(1)\n</code>",
		"p(Put it between <code> and </code> as asked.\n)c(print(1)\n)"},
	{"two blocks", "<code>a</code><code>b</code>", "c(a)c(b)"},
	{"closing tag is missing between blocks", "<code>\nx=3\n<code>\nprint(x)\n</code>", "c(x=3\n)c(print(x)\n)"},
	{"doubled tags", "<code>\n<code>\nx\n</code>\n</code>\nend", "c(x\n)p(\n)p(\nend)"},
	{"closing tag is missing", "<code>\nprint(6*7)\n", "c(print(6*7)\n)"},
	{"fence inside the tags", "<code>\n```py\nprint(5)\n```\n</code>", "c(print(5)\n)c(\n)"},
	{"fence inside the tags, one line", "<code>```python print(5)```</code>", "c(print(5))"},
	{"code in thinking", "<think>\n<code>\nrm()\n</code>\n</think>no", "d(\n<code>\nrm()\n</code>\n)p(no)"},
	{"code in quotation marks", `say "<code>` + "\nx\n" + `</code>" twice`, `p(say "<code>` + "\nx\n" + `</code>" twice)`},
	{"code in Chinese quotation marks", "写「\n<code>\nx\n</code>\n」", "p(写「\n<code>\nx\n</code>\n」)"},
	{"a quotation opened twice", "用“工具“查。\n<code>\nx\n</code>", "p(用“工具“查。\n)c(x\n)"},
	{"an inch mark is no quotation", "5\" wide\n<code>\nx\n</code>", "p(5\" wide\n)c(x\n)"},
	{"an apostrophe is no quotation", "I don't\n<code>\nx\n</code>", "p(I don't\n)c(x\n)"},
	{"code in an inline span", "`<code>\nx\n</code>`", "p(`<code>\nx\n</code>`)"},
	{"code in another fence", "```html\n<code>\nx\n</code>\n```\nend", "p(```html\n<code>\nx\n</code>\n```\nend)"},
	{"code in a tilde fence", "~~~\n<code>\nx\n</code>\n~~~\n<code>\ny\n</code>", "p(~~~\n<code>\nx\n</code>\n~~~\n)c(y\n)"},
	{"code in DISPLAY", "<DISPLAY:python>\n<code>\nx\n</code>\n</DISPLAY>\n<code>\ny\n</code>",
		"p(<DISPLAY:python>\n<code>\nx\n</code>\n</DISPLAY>\n)c(y\n)"},
	{"fenced DISPLAY", "```<DISPLAY:python>\n<code>\nx\n</code>\n```<END_DISPLAY_CODE>\n<code>y</code>",
		"p(```<DISPLAY:python>\n<code>\nx\n</code>\n```<END_DISPLAY_CODE>\n)c(y)"},
	{"code after an inline fence", "old: ```python\nbad\n```\n<code>\nx\n</code>", "p(old: ```python\nbad\n```\n)c(x\n)"},
	{"envelope", "<FINAL_ANSWER>use\n<code>\nx\n</code></FINAL_ANSWER>", "p(use\n<code>\nx\n</code>)"},
	{"thinking in an envelope", "<FINAL_ANSWER><think>t</think>42</FINAL_ANSWER>", "d(t)p(42)"},

	{"RUN", "```<RUN>\nprint(1)\n```<END_CODE>\nend", "c(print(1)\n)p(\nend)"},
	{"RUN on one line", "```<RUN>a``` t", "c(a)p( t)"},
	{"python after a label", "Plan. Code:\n```python\nprint(1)\n```", "p(Plan. Code:\n)c(print(1)\n)"},
	{"py after a Chinese label", "代码：\n\n```py\nprint(1)\n```\n好", "p(代码：\n\n)c(print(1)\n)p(\n好)"},
	{"many blanks after a label", "Code:" + strings.Repeat(" ", 40) + "\n```python\nx\n```", "p(Code:" + strings.Repeat(" ", 40) + "\n)c(x\n)"},
	{"python without a label", "```python\nx\n```", "p(```python\nx\n```)"},
	{"a label in a sentence", "Here is an example Code:\n```python\nx\n```", "p(Here is an example Code:\n```python\nx\n```)"},
	{"text after a label", "Code: see\n```python\nx\n```", "p(Code: see\n```python\nx\n```)"},
	{"another language after a label", "Code:\n```bash\nx\n```", "p(Code:\n```bash\nx\n```)"},
	{"tags in a fence", "Code:\n```python\n<code>\nx\n</code>\n```\nend", "p(Code:\n)c(x\n)p(\n)p(\nend)"},

	{"closing tag in a string", "<code>\nhtml = '<p>1</p><code>k</code>'\nprint(len(html))\n</code>",
		"c(html = '<p>1</p><code>k</code>'\nprint(len(html))\n)"},
	{"closing tag in a triple string", "<code>\ns = '''it's\n</code>\n'''\n</code>", "c(s = '''it's\n</code>\n'''\n)"},
	{"closing tag in a comment", "<code>\nx = 1  # the end is </code>\nprint(x)\n</code>", "c(x = 1  # the end is </code>\nprint(x)\n)"},
	{"closing tag behind a comment", "<code>print(5)  # five</code>\n", "c(print(5)  # five)p(\n)"},
	{"closing tag after an empty string", "<code>x = ''</code>end", "c(x = '')p(end)"},
	{"closing tag in an f-string's expression", `<code>f"{"</code>"}"</code>end`, `c(f"{"</code>"}")p(end)`},
	{"escapes and raw strings", `<code>a = 'it\'s </code>'; r'\' </code>'</code>`, `c(a = 'it\'s </code>'; r'\' </code>')`},
	{"an unterminated string ends with its line", "<code>\nx = 'oops\n</code>", "c(x = 'oops\n)"},
	{"fence in a string", "```<RUN>\ns = '```'\n```", "c(s = '```'\n)"},
	{"lone think close in code", "<code>\nx\n</think>\nParis", "c(x\n)!p(\nParis)"},
	{"comparisons", "<code>a<b; c <code> d</code>", "c(a<b; c <code> d)"},
}

func TestScanner(t *testing.T) {
	for _, c := range texts {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, shown(c.text))
		})
	}
}

// TestScannerCuts: how a text is cut makes no difference, and nothing is lost.
func TestScannerCuts(t *testing.T) {
	for _, c := range texts {
		t.Run(c.name, func(t *testing.T) {
			whole := scan(c.text)
			for i := range len(c.text) + 1 {
				for j := i; j <= len(c.text); j++ {
					got := scan(c.text[:i], c.text[i:j], c.text[j:])
					if !equal(whole, got) {
						require.Equal(t, whole, got, "cut %q|%q|%q", c.text[:i], c.text[i:j], c.text[j:])
					}
				}
			}
		})
	}
}

func equal(a, b []span) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// fragments are what random texts are made of.
var fragments = []string{
	"<think>", "</think>", "<code>", "</code>", "<CODE >", "`", "```", "```py", "```python\n", "```<RUN>", "<END_CODE>", "~~~",
	"<DISPLAY:py>", "</DISPLAY>", "<FINAL_ANSWER>", "</FINAL_ANSWER>", "Code:", "代码：", "\n", "\r\n", " ", "    ", "x", "print(1)",
	"'", `"`, `"""`, "#", "f'{", "}", "{", "(", ")", "\\", "“", "”", "「", "」", "：", "é", "好", "a = 1", "<", "</", ">", ".", strings.Repeat(" ", 300),
	strings.Repeat("`", 300),
}

func TestScannerRandom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(fragments), 1, 24).Draw(t, "text"), "")
		cuts := rapid.SliceOfN(rapid.IntRange(0, len(text)), 0, 6).Draw(t, "cuts")
		pieces, rest := []string{}, text
		for _, c := range cuts {
			c = min(c, len(rest))
			pieces, rest = append(pieces, rest[:c]), rest[c:]
		}
		whole := scan(text)
		require.Equal(t, whole, scan(append(pieces, rest)...))
		require.Equal(t, withoutThinkTags(text), kept(whole), "nothing is lost")
	})
}

// kept is all text of the spans, without think tags that may have been text.
func kept(spans []span) string {
	var b strings.Builder
	for _, s := range spans {
		b.WriteString(s.Text)
	}
	return withoutThinkTags(b.String())
}

func withoutThinkTags(s string) string {
	for {
		next := strings.NewReplacer("<think>", "", "</think>", "").Replace(s)
		if next == s {
			return s
		}
		s = next
	}
}

func TestScannerHoldsBackOnlyWhatMayBeATag(t *testing.T) {
	for _, c := range []struct{ piece, held string }{
		{"Hello", ""},
		{"Hello ", ""},
		{"Code:", ""},
		{"a <", "<"},
		{"a <b", ""},
		{"a <th", "<th"},
		{"a </co", "</co"},
		{"wait <code>", "<code>"},
		{"a `", "`"},
		{"```py", ""},
		{"Code:\n```py", "```py"},
		{"好\xe5\xa5", "\xe5\xa5"},
		{"<think>deep <", "<"},
		{"<think>deep", ""},
		{"<code>\n  ", "\n  "},
		{"<code>\nx = '", ""},
		{"<code>\nx = '<", ""},
		{"<code>\nx <", "<"},
	} {
		t.Run(c.piece, func(t *testing.T) {
			var s tags.Scanner
			var r recorder
			s.Write(c.piece, &r)
			require.Equal(t, strings.TrimSuffix(withoutThinkTags(c.piece), c.held), kept(r.spans))
		})
	}
}
