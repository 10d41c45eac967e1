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
	Logs  string            // what it printed
	Value string            // text of its last value; "" for none
	Err   *messages.PyError // nil when it ended without an exception
	Notes []string          // whole sentences that follow, e.g. Killed, VariablesGone
	Limit int               // bytes in all; 0: DefaultLimit; at least MinLimit
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
	logs := Clip(o.Logs, room, lang)

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

// Error gives an exception's type, message and line, and the model's own
// frames when it was raised below the top level.
func Error(lang string, err *messages.PyError) string {
	p := sentences(lang)
	text := fmt.Sprintf(p.err, err.Type, err.Message)
	if err.Line > 0 {
		text = fmt.Sprintf(p.errAt, err.Type, err.Message, err.Line)
	}
	if frames := strings.TrimRight(err.Traceback, "\n"); strings.Contains(frames, "\n") {
		text += "\n" + frames
	}
	return text
}

// Clip shortens s to at most limit bytes: its head and its tail stay, on whole
// characters, and a line between them says how much is left out. A limit too
// small for that line gives the line alone, cut.
func Clip(s string, limit int, lang string) string {
	if len(s) <= limit {
		return s
	}
	format := sentences(lang).leftOut
	// The mark's own length depends on the figure in it; with the largest one
	// it can hold it is never too short.
	keep := limit - len(fmt.Sprintf(format, len(s), len(s))) - 2
	if keep <= 0 {
		mark := fmt.Sprintf(format, len(s), len(s))
		return mark[:boundary(mark, max(0, min(limit, len(mark))))]
	}
	head := boundary(s, keep*2/3)
	tail := len(s) - (keep - keep*2/3)
	for tail < len(s) && !utf8.RuneStart(s[tail]) {
		tail++
	}
	return s[:head] + "\n" + fmt.Sprintf(format, tail-head, len(s)) + "\n" + s[tail:]
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
