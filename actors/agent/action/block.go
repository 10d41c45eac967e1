package action

import (
	"strings"

	"github.com/troupe-go/troupe/actors/agent/action/tags"
)

// block is the body of one code block.
type block struct {
	text     string
	ownLine  bool // the body begins on a line of its own, not behind the tag
	followed bool // prose came after it
	mention  bool // a sentence that names the tags, not a block
}

// padded reports whether the body is one line with blanks at both ends, as
// between tags that a sentence names: "<code> and </code> are tags".
func (b *block) padded() bool {
	t := b.text
	return !b.ownLine && len(t) > 2 && t[0] == ' ' && t[len(t)-1] == ' ' && !strings.Contains(t, "\n")
}

func beginsWithWord(text string) bool {
	line, _, _ := strings.Cut(text, "\n")
	return strings.TrimSpace(line) != ""
}

// source is the body as Python: line ends of one kind, no empty lines around
// it, and without the indentation that all its statements share.
func (b *block) source() string {
	src := strings.ReplaceAll(b.text, "\r\n", "\n")
	src = strings.TrimRight(src, " \t\r\n")
	behindTag := !b.ownLine
	for {
		line, rest, found := strings.Cut(src, "\n")
		if !found || strings.TrimSpace(line) != "" {
			break
		}
		src, behindTag = rest, false
	}
	lines := strings.Split(src, "\n")
	kinds := lineKinds(src, len(lines))
	margin := commonMargin(lines, kinds)
	if margin == "" && behindTag {
		lines[0] = strings.TrimLeft(lines[0], " \t")
	}
	if margin == "" {
		return strings.Join(lines, "\n")
	}
	for i, l := range lines {
		if kinds[i] != inString {
			lines[i] = l[len(commonPrefix(l, margin)):]
		}
	}
	return strings.Join(lines, "\n")
}

// lineKind says how a line begins.
type lineKind uint8

const (
	statement lineKind = iota
	continued          // inside brackets: its indentation is free
	inString           // its beginning is part of a string
)

func lineKinds(src string, n int) []lineKind {
	kinds := make([]lineKind, 1, n)
	var p tags.Python
	for i := range len(src) {
		p.Feed(src[i])
		if src[i] != '\n' {
			continue
		}
		switch {
		case p.InString(0):
			kinds = append(kinds, inString)
		case p.Unfinished():
			kinds = append(kinds, continued)
		default:
			kinds = append(kinds, statement)
		}
	}
	return kinds
}

// commonMargin is the indentation that all lines with a statement begin with.
func commonMargin(lines []string, kinds []lineKind) string {
	margin, seen := "", false
	for i, l := range lines {
		body := strings.TrimLeft(l, " \t")
		if kinds[i] != statement || body == "" {
			continue
		}
		indent := l[:len(l)-len(body)]
		if !seen {
			margin, seen = indent, true
			continue
		}
		margin = commonPrefix(margin, indent)
	}
	return margin
}

func commonPrefix(a, b string) string {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return a[:n]
}
