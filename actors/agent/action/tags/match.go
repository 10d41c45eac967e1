package tags

import "strings"

type tag uint8

const (
	noTag tag = iota
	thinkOpen
	thinkClose
	codeOpen
	codeClose
	displayOpen
	displayClose
	answerOpen
	answerClose
)

// maxLookahead bounds white space that is held back to see what follows it.
const maxLookahead = 256

// maxDisplayLang bounds the language of <DISPLAY:lang>, in bytes.
const maxDisplayLang = 32

var tagNames = [...]struct {
	name  string
	exact bool // else any case
	tag   tag
}{
	{"code", false, codeOpen},
	{"/code", false, codeClose},
	{"think", false, thinkOpen},
	{"/think", false, thinkClose},
	{"/DISPLAY", true, displayClose},
	{"FINAL_ANSWER", true, answerOpen},
	{"/FINAL_ANSWER", true, answerClose},
}

// look is what a look ahead found.
type look uint8

const (
	no   look = iota
	yes       // at least one more character follows, or it does not matter
	last      // yes, and the text ends there
	wait      // the text read so far does not tell
)

// matchTag says which tag s, that begins with '<', begins with, and its length.
// end says that no more text comes.
func matchTag(s string, end bool) (t tag, n int, found look) {
	for _, c := range tagNames {
		switch l := prefix(s[1:], c.name, c.exact, end); l {
		case wait:
			return noTag, 0, wait
		case yes:
			if n, l = tagEnd(s, 1+len(c.name), end); l != yes {
				return noTag, 0, l
			}
			return c.tag, n, yes
		}
	}
	return matchDisplay(s, end)
}

// tagEnd finds the ">" behind a tag's name; blanks may stand before it.
func tagEnd(s string, i int, end bool) (int, look) {
	j := skipBlanks(s, i)
	switch {
	case j-i > maxLookahead || j == len(s) && end:
		return 0, no
	case j == len(s):
		return 0, wait
	case s[j] == '>':
		return j + 1, yes
	}
	return 0, no
}

func matchDisplay(s string, end bool) (tag, int, look) {
	const open = "<DISPLAY:"
	if l := prefix(s, open, true, end); l != yes {
		return noTag, 0, l
	}
	for i := len(open); i < len(s) && i <= len(open)+maxDisplayLang; i++ {
		switch c := s[i]; {
		case c == '>' && i > len(open):
			return displayOpen, i + 1, yes
		case c <= ' ' || c == '<' || c == '>':
			return noTag, 0, no
		}
	}
	if len(s) > len(open)+maxDisplayLang || end {
		return noTag, 0, no
	}
	return noTag, 0, wait
}

// prefix says whether s begins with want, or still may.
func prefix(s, want string, exact, end bool) look {
	n := min(len(s), len(want))
	if exact && s[:n] != want[:n] || !exact && !strings.EqualFold(s[:n], want[:n]) {
		return no
	}
	switch {
	case n == len(want):
		return yes
	case end:
		return no
	}
	return wait
}

// lineEnds says whether nothing but blanks stands between i and the end of the
// line, and gives the length up to and with the line end.
func lineEnds(s string, i int, end bool) (n int, found look) {
	j := skipBlanks(s, i)
	switch {
	case j-i > maxLookahead:
		return 0, no
	case j < len(s) && s[j] == '\n':
		return j + 1 - i, yes
	case j < len(s):
		return 0, no
	case end:
		return j - i, last
	}
	return 0, wait
}

// textEnds says whether nothing but white space stands between i and the end
// of the text.
func textEnds(s string, i int, end bool) look {
	for j := i; j < len(s); j++ {
		if !isBlank(s[j]) && s[j] != '\n' || j-i > maxLookahead {
			return no
		}
	}
	if end {
		return last
	}
	return wait
}

// run is the length of the run of c at i, at most maxLookahead; wait when it
// may go on.
func run(s string, i int, c byte, end bool) (int, look) {
	j := i
	for j < len(s) && s[j] == c && j-i < maxLookahead {
		j++
	}
	if j == len(s) && !end && j-i < maxLookahead {
		return 0, wait
	}
	return j - i, yes
}

func skipBlanks(s string, i int) int {
	for i < len(s) && isBlank(s[i]) {
		i++
	}
	return i
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }
