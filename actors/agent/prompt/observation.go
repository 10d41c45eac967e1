package prompt

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/troupe-go/troupe/actors/agent/action"
	"github.com/troupe-go/troupe/messages"
)

// Bounds of what the model sees of a block.
const (
	DefaultLimit = 20 << 10 // bytes, when ObservationData.Limit is 0
	MinLimit     = 512      // below it a cut text says nothing
)

// Labels of an observation, the same in both languages (nexent-core §2.4).
const (
	logsLabel  = "Execution logs:\n"
	valueLabel = "Last output from code snippet:\n"
)

// ObservationData is how a block ended.
type ObservationData struct {
	Logs    string            // what it printed
	Printed int64             // bytes it printed, where Logs has been cut in its middle; 0: len(Logs)
	Value   string            // text of its last value; "" for none
	Err     *messages.PyError // nil when it ended without an exception
	Notes   []string          // whole sentences that follow, e.g. Killed, VariablesLost
	Limit   int               // bytes in all; 0: DefaultLimit; at least MinLimit
}

// Observation gives the message that the model reads after a block: what it
// printed, its last value, its error, and notes. When that is longer than the
// limit, each part keeps its head and its tail and says how much is left out:
// the error and the notes take at most half, the value half of what is left,
// the logs the rest. The result is never longer than the limit.
func Observation(lang string, o ObservationData) string {
	limit := o.Limit
	if limit <= 0 {
		limit = DefaultLimit
	}
	limit = max(limit, MinLimit)

	after := ending(lang, o)
	value := o.Value
	// 2: the newlines that may have to be put between the parts.
	room := limit - len(logsLabel) - 2
	if value != "" {
		room -= len(valueLabel)
	}
	if len(o.Logs)+len(value)+len(after) > room {
		after = Clip(after, max(room/2, room-len(o.Logs)-len(value)), lang)
		room -= len(after)
		value = Clip(value, max(room/2, room-len(o.Logs)), lang)
		room -= len(value)
	}
	logs := ClipOutput(o.Logs, o.Printed, room, lang)

	var b strings.Builder
	b.Grow(len(logsLabel) + len(logs) + len(valueLabel) + len(value) + len(after) + 2)
	b.WriteString(logsLabel)
	b.WriteString(logs)
	if value != "" {
		line(&b)
		b.WriteString(valueLabel)
		b.WriteString(value)
	}
	if after != "" {
		line(&b)
		b.WriteString(after)
	}
	return b.String()
}

// line ends the last line when it isn't.
func line(b *strings.Builder) {
	if s := b.String(); s[len(s)-1] != '\n' {
		b.WriteByte('\n')
	}
}

// ending is what stands after logs and value, one line each.
func ending(lang string, o ObservationData) string {
	if o.Err == nil {
		return strings.Join(o.Notes, "\n")
	}
	return strings.Join(append([]string{Error(lang, o.Err)}, o.Notes...), "\n")
}

// Error gives an exception's type, message and line, and what its traceback
// says beside them: the model's own frames when it was raised below the top
// level, the place in a line that is no Python, the cause.
func Error(lang string, err *messages.PyError) string {
	p := sentences(lang)
	text := fmt.Sprintf(p.err, err.Type, err.Message)
	if err.Line > 0 {
		text = fmt.Sprintf(p.errAt, err.Type, err.Message, err.Line)
	}
	if more := beside(err); more != "" {
		text += "\n" + more
	}
	return text
}

// beside is what a traceback says that type, message and line don't.
func beside(err *messages.PyError) string {
	headline := "\n" + err.Type
	if err.Message != "" {
		headline += ": " + err.Message
	}
	text := strings.Replace(strings.TrimRight(err.Traceback, "\n"), headline, "", 1)
	place, rest, more := strings.Cut(text, "\n")
	if !more || strings.HasPrefix(rest, "    ") && !strings.Contains(rest, "\n") {
		return "" // one place, with its line of source at most
	}
	return place + "\n" + rest
}

// Clip shortens s to at most limit bytes: its head and its tail stay, on whole
// characters, and a line between them says how much is left out. A limit too
// small for that line gives the line alone, cut.
func Clip(s string, limit int, lang string) string { return ClipOutput(s, 0, limit, lang) }

// ClipOutput is Clip for what a block printed, whose middle the executor may
// have left out already. The line then counts all of the printed bytes.
func ClipOutput(s string, printed int64, limit int, lang string) string {
	if len(s) <= limit {
		return s
	}
	format, all := sentences(lang).leftOut, max(printed, int64(len(s)))
	// The mark's own length depends on the figure in it; with the largest one
	// it can hold it is never too short.
	mark := fmt.Sprintf(format, all, all)
	keep := limit - len(mark) - 2
	if keep <= 0 {
		return mark[:boundary(mark, max(0, min(limit, len(mark))))]
	}
	// As much of the head as of the tail, so that an executor's mark is in
	// what goes.
	head, tail := boundary(s, keep/2), len(s)-keep/2
	for tail < len(s) && !utf8.RuneStart(s[tail]) {
		tail++
	}
	left := all - int64(head) - int64(len(s)-tail)
	return s[:head] + "\n" + fmt.Sprintf(format, left, all) + "\n" + s[tail:]
}

// boundary is the last place at or before n where s can be cut between two
// characters.
func boundary(s string, n int) int {
	for n > 0 && n < len(s) && !utf8.RuneStart(s[n]) {
		n--
	}
	return n
}

// FullWidth gives a sentence a character for the full-width punctuation that
// kept a block from being Python, with the place and what to write instead.
func FullWidth(lang string, hints []action.Hint) []string {
	lines := make([]string, len(hints))
	for i, h := range hints {
		lines[i] = fmt.Sprintf(sentences(lang).fullWidth, h.Line, h.Column, h.Character, h.ASCII)
	}
	return lines
}
