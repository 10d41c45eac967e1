package tags

import (
	"strings"
	"unicode/utf8"
)

// prose is the state outside thinking and code.
type prose struct {
	solid    bool // the line holds more than blanks
	label    bool // a label was read, and only white space since
	display  bool // in <DISPLAY:lang>
	envelope bool // in <FINAL_ANSWER>
	outer    bool // a tagged block stood in a fenced one, whose closing fence may follow
	quote    rune // closes the quotation that is open; 0 none
	ticks    int  // length of the run that opened an inline code span; 0 none
	fence    int  // length of the run that opened a fence; 0 none
	fenced   byte // its character
	mentions int  // <think> tags that were only quoted

	refused bool // a code tag stood in the region that is open
	inline  bool // a code tag stood in mid-line with text behind it
	lines   bool // and a line end came since
	doubt   bool // what was refused looks like a block after all
}

type class uint8

const (
	plain class = iota
	blank
	special
)

// proseClass: 0xE2, 0xE3 and 0xEF begin the quotation marks and the colon
// that are no ASCII.
var proseClass = [256]class{
	' ': blank, '\t': blank, '\r': blank,
	'\n': special, '<': special, '`': special, '~': special, ':': special, '"': special,
	0xE2: special, 0xE3: special, 0xEF: special,
}

// Doubt reports, after Close, whether text that was taken for prose has code
// tags that may have been meant: in a quotation or fence that was never
// closed, after a colon in mid-line, or around several lines.
func (s *Scanner) Doubt() bool {
	return s.doubt || s.refused && s.region()
}

func (s *Scanner) nextProse(text string, i int, end bool) move {
	j := i
	for j < len(text) {
		k := proseClass[text[j]]
		if k == special {
			break
		}
		if k == plain {
			s.solid, s.label, s.outer = true, false, false
		}
		j++
	}
	if j > i {
		return move{j - i, take}
	}
	switch text[i] {
	case '\n':
		s.newline()
		return move{1, take}
	case '<':
		return s.proseTag(text, i, end)
	case '`':
		return s.backticks(text, i, end)
	case '~':
		return s.tildes(text, i, end)
	}
	return s.punctuation(text, i, end)
}

// word takes n bytes of ordinary text.
func (s *Scanner) word(n int) move {
	s.solid, s.label, s.outer = true, false, false
	return move{n, take}
}

// region reports whether the text is in something that is never code.
func (s *Scanner) region() bool {
	return s.quote != 0 || s.ticks > 0 || s.fence > 0 || s.display || s.envelope
}

// newline ends an inline span, or makes a fence of it; an empty line ends a
// quotation, which then was none.
func (s *Scanner) newline() {
	if s.ticks >= 3 {
		s.fence, s.fenced = s.ticks, '`'
	}
	s.ticks = 0
	if !s.solid {
		s.doubt = s.doubt || s.quote != 0 && s.refused
		s.quote, s.inline, s.lines = 0, false, false
	}
	s.lines = s.inline
	s.solid = false
}

// punctuation reads a colon or a quotation mark, of ASCII or not.
func (s *Scanner) punctuation(text string, i int, end bool) move {
	if !end && !utf8.FullRuneInString(text[i:]) {
		return holdBack
	}
	r, n := utf8.DecodeRuneInString(text[i:])
	switch {
	case r == ':' || r == '：':
		s.solid, s.outer = true, false
		s.label = !s.region() && isLabel(s.tail.before(text, i))
		return move{n, take}
	case s.ticks > 0 || s.fence > 0 || s.display || s.envelope:
	case s.quote != 0:
		if r == s.quote || r == '“' && s.quote == '”' { // some models open twice
			s.quote, s.refused = 0, false
		}
	case r == '"':
		if opensQuote(s.tail.before(text, i)) {
			s.quote = '"'
		}
	default:
		s.quote = closingQuote(r)
	}
	if r == '\u3000' || r == '\ufeff' {
		return move{n, take} // white space
	}
	return s.word(n)
}

func closingQuote(r rune) rune {
	switch r {
	case '“':
		return '”'
	case '「':
		return '」'
	case '『':
		return '』'
	}
	return 0
}

// opensQuote tells an opening " from an inch mark or a closing one by what
// stands before it.
func opensQuote(before string) bool {
	r, _ := utf8.DecodeLastRuneInString(before)
	return before == "" || strings.ContainsRune(" \t\r\n([{:：，,=>", r)
}

// isLabel says whether the text before a colon makes it a label.
func isLabel(before string) bool {
	rest, ok := strings.CutSuffix(before, "Code")
	if !ok {
		rest, ok = strings.CutSuffix(before, "代码")
	}
	if !ok {
		return false
	}
	rest = strings.TrimRight(rest, " \t")
	r, _ := utf8.DecodeLastRuneInString(rest)
	return rest == "" || strings.ContainsRune("\n.。!！?？;；>", r)
}

func (s *Scanner) proseTag(text string, i int, end bool) move {
	t, n, found := matchTag(text[i:], end)
	if found == wait {
		return holdBack
	}
	switch t {
	case thinkOpen:
		return s.thinkTag(n)
	case thinkClose:
		return s.loneTag(text, i, n)
	case codeOpen:
		return s.codeTag(text, i, n, end)
	case codeClose:
		return s.strayTag(text, i, n, end)
	case displayOpen:
		s.display = s.display || !s.region()
	case displayClose:
		s.display, s.refused = false, false
	case answerOpen:
		if !s.region() {
			s.envelope = true
			return move{n, drop}
		}
	case answerClose:
		if s.envelope {
			s.prose = prose{solid: true, doubt: s.doubt}
			return move{n, drop}
		}
	default:
		n = 1
	}
	return s.word(n)
}

// thinkTag begins thinking, unless it is quoted.
func (s *Scanner) thinkTag(n int) move {
	if s.ticks == 0 && s.fence == 0 && !s.display {
		return move{n, think}
	}
	s.mentions++
	return s.word(n)
}

// loneTag is a </think> outside thinking. In a code span, a quotation or
// behind a quoted <think> it is only mentioned.
func (s *Scanner) loneTag(text string, i, n int) move {
	before := s.tail.before(text, i)
	mentioned := s.ticks > 0 && strings.HasSuffix(before, "`") ||
		s.quote != 0 && (strings.HasSuffix(before, `"`) || strings.HasSuffix(before, "“"))
	if s.mentions > 0 {
		s.mentions--
		mentioned = true
	}
	if mentioned {
		return s.word(n)
	}
	return move{n, forget}
}

// codeTag begins a block, or is refused.
func (s *Scanner) codeTag(text string, i, n int, end bool) move {
	_, ends := lineEnds(text, i+n, end)
	if s.solid && !s.label && ends == wait {
		return holdBack
	}
	before := s.tail.before(text, i)
	placed := !s.solid || s.label || ends == yes
	switch {
	case s.region() || strings.HasSuffix(before, "'") || strings.HasSuffix(before, "‘"):
		s.refused = s.refused || placed && s.region() && (s.ticks == 0 || s.ticks >= 3)
	case placed:
		s.startBlock(false)
		return move{n, begin}
	default:
		before = strings.TrimRight(before, " \t")
		s.doubt = s.doubt || strings.HasSuffix(before, ":") || strings.HasSuffix(before, "：")
		s.inline = true
	}
	return s.word(n)
}

// strayTag is a </code> outside code. Alone on its line it is dropped.
func (s *Scanner) strayTag(text string, i, n int, end bool) move {
	if s.region() {
		return s.word(n)
	}
	if s.inline {
		s.doubt = s.doubt || s.lines
		s.inline, s.lines = false, false
	}
	if s.solid {
		return s.word(n)
	}
	switch _, ends := lineEnds(text, i+n, end); ends {
	case wait:
		return holdBack
	case no:
		return s.word(n)
	}
	return move{n, drop}
}

// backticks opens or closes an inline span or a fence, or begins a block.
func (s *Scanner) backticks(text string, i int, end bool) move {
	n, found := run(text, i, '`', end)
	if found == wait {
		return holdBack
	}
	switch {
	case s.fence > 0:
		return s.closeFence(text, i, n, '`', end)
	case s.outer && n >= 3:
		s.outer = false
		return move{n, drop}
	case s.ticks == n:
		s.ticks, s.refused = 0, false
	case s.ticks > 0:
	case n == 3 && !s.region():
		m := s.blockFence(text, i, end)
		if m.act == begin {
			s.startBlock(true)
		}
		if m.act != take {
			return m
		}
		s.ticks = n
	default:
		s.ticks = n
	}
	return s.word(n)
}

func (s *Scanner) tildes(text string, i int, end bool) move {
	n, found := run(text, i, '~', end)
	if found == wait {
		return holdBack
	}
	if s.fence > 0 {
		return s.closeFence(text, i, n, '~', end)
	}
	if n >= 3 && !s.solid && !s.region() {
		s.fence, s.fenced = n, '~'
	}
	return s.word(n)
}

// closeFence ends a fence with a run at least as long as its opening one and
// nothing else on the line but <END_…>.
func (s *Scanner) closeFence(text string, i, n int, c byte, end bool) move {
	if c == s.fenced && n >= s.fence {
		_, ends := lineEnds(text, i+n, end)
		mark := prefix(text[i+n:], "<END_", true, end)
		if ends == wait || mark == wait {
			return holdBack
		}
		if ends != no || mark == yes {
			s.fence, s.refused = 0, false
		}
	}
	return s.word(n)
}

// blockFence says whether three backticks begin a block: ```<RUN>, or
// ```python right after a label.
func (s *Scanner) blockFence(text string, i int, end bool) move {
	const runMark = "<RUN>"
	info := i + 3
	switch prefix(text[info:], runMark, false, end) {
	case wait:
		return holdBack
	case yes:
		n := 3 + len(runMark)
		if !s.solid || s.label {
			return move{n, begin}
		}
		switch _, ends := lineEnds(text, i+n, end); ends {
		case wait:
			return holdBack
		case yes:
			return move{n, begin}
		}
		return move{0, take}
	}
	if !s.label {
		return move{0, take}
	}
	return pythonFence(text, i, end)
}

func pythonFence(text string, i int, end bool) move {
	for _, lang := range [...]string{"python", "py"} {
		switch prefix(text[i+3:], lang, false, end) {
		case wait:
			return holdBack
		case yes:
			n := 3 + len(lang)
			switch l, ends := lineEnds(text, i+n, end); ends {
			case wait:
				return holdBack
			case yes:
				return move{n + l, begin}
			}
		}
	}
	return move{0, take}
}
