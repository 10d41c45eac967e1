package action

import (
	"strings"
	"unicode"

	"github.com/troupe-go/troupe/actors/agent/action/tags"
	"github.com/troupe-go/troupe/messages"
)

const (
	answerOpen  = "<FINAL_ANSWER>"
	answerClose = "</FINAL_ANSWER>"
)

// envelope takes the body of the one <FINAL_ANSWER> that must be the whole
// visible reply.
func envelope(reply string) Outcome {
	text := Visible(reply)
	if text == "" {
		return repair(EmptyVisibleContent, "")
	}
	body, opened := strings.CutPrefix(text, answerOpen)
	body, closed := strings.CutSuffix(body, answerClose)
	if !opened || !closed || trim(body) == "" || strings.Contains(body, answerClose) {
		return repair(InvalidFinalEnvelope, "")
	}
	return Outcome{Kind: Answer, Text: body}
}

// Visible is a text without thinking and without white space and invisible
// characters at its ends. Code blocks stay as they were written.
func Visible(text string) string { return trim(StripThinking(text)) }

// StripThinking removes <think>…</think>, an unclosed <think> with all that
// follows, and everything before a </think> that nothing opened.
func StripThinking(text string) string {
	if !strings.Contains(text, "<") {
		return text
	}
	var v visible
	v.Grow(len(text))
	var s tags.Scanner
	s.Write(text, &v)
	s.Close(&v)
	return v.String()
}

// visible is a tags.Sink that keeps what is not thinking.
type visible struct{ strings.Builder }

// Span implements tags.Sink.
func (v *visible) Span(k tags.Kind, text string) {
	switch k {
	case tags.Deep:
	case tags.Forget:
		v.Reset()
	default:
		v.WriteString(text)
	}
}

func trim(s string) string {
	return strings.TrimFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
	})
}

// withoutThought drops a first paragraph that a model labels as its thought
// (nexent-core §3.5), when an answer follows it.
func withoutThought(text string) string {
	for _, label := range [...]string{"思考：", "思考:", "Thought:", "Think:"} {
		if !strings.HasPrefix(text, label) {
			continue
		}
		_, rest, found := strings.Cut(strings.ReplaceAll(text, "\r\n", "\n"), "\n\n")
		if rest = trim(rest); found && rest != "" {
			return rest
		}
	}
	return text
}

// unsupported reports whether a text is a native tool call written out, or
// has nothing but tags and control tokens.
func unsupported(text string) bool {
	for _, mark := range [...]string{"<tool_call", "<function_call", "<function=", "<|tool", "[TOOL_CALLS]"} {
		if strings.HasPrefix(text, mark) {
			return true
		}
	}
	for strings.HasPrefix(text, "<") {
		_, rest, found := strings.Cut(text, ">")
		if !found || !isTag(text[1:len(text)-len(rest)-1]) {
			return false
		}
		text = trim(rest)
	}
	return text == ""
}

// isTag reports whether what stands between "<" and ">" is a tag's name, with
// or without slash, or a |control token|.
func isTag(name string) bool {
	if strings.HasPrefix(name, "|") || strings.HasPrefix(name, "｜") {
		return true
	}
	name = strings.Trim(name, "/ ")
	return name != "" && strings.IndexFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-:.", r)
	}) < 0
}

// Bounds of what a repair message repeats of native calls.
const (
	maxCallNames = 8
	maxCallName  = 64 // bytes
)

// callNames lists the functions of native calls, names only, made harmless.
func callNames(calls []messages.ToolCallDelta) string {
	names := make([]string, 0, min(len(calls), maxCallNames)+1)
	for i, c := range calls {
		if i == maxCallNames {
			names = append(names, "…")
			break
		}
		name := strings.Map(nameRune, c.Name)
		names = append(names, name[:min(len(name), maxCallName)])
	}
	return strings.Join(names, ", ")
}

func nameRune(r rune) rune {
	if r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_-.", r)) {
		return r
	}
	return -1
}
