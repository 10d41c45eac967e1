package tags

import "unicode/utf8"

// Kind says what a span of a model's text is.
type Kind uint8

// The kinds of span. All spans but those of the think tags, put together,
// are the text as it was written.
const (
	Prose  Kind = iota // visible text
	Deep               // thinking
	Code               // the body of a code block
	Open               // a code block begins; the text is its marker
	Close              // it ends; the text is its marker, "" when it is missing
	Mark               // another marker that is no text for people
	Forget             // a lone </think>: all before it was thinking; no text
)

// Sink takes spans, in order.
type Sink interface{ Span(k Kind, text string) }

type mode uint8

const (
	inProse mode = iota
	inDeep
	inCode
)

// action is what to do with the bytes a step has looked at.
type action uint8

const (
	take   action = iota // they are text of the mode
	stay                 // hold them back until more is known
	drop                 // a marker; the mode stays
	think                // thinking begins
	answer               // thinking ends
	forget               // a lone </think>
	begin                // a code block begins
	finish               // a code block ends
)

type move struct {
	n   int
	act action
}

var holdBack = move{0, stay}

// Scanner splits a model's text into spans. How the text is cut into pieces
// makes no difference to the spans put together, and no more is held back than
// what may begin a tag. The zero value stands at the beginning of a text.
type Scanner struct {
	mode mode
	held string // not yet decided
	tail tail   // the end of what was decided
	prose
	code
	missing bool
}

// Write scans the next piece of text.
func (s *Scanner) Write(piece string, sink Sink) {
	if s.held != "" {
		piece = s.held + piece
	}
	s.scan(piece, false, sink)
}

// Close says that no more text comes: what was held back is decided.
func (s *Scanner) Close(sink Sink) {
	s.scan(s.held, true, sink)
	if s.mode != inCode {
		return
	}
	s.missing = true
	s.mode = inProse
	sink.Span(Close, "")
}

// Unclosed reports, after Close, whether the last code block had no closing
// marker, and whether its Python was unfinished there.
func (s *Scanner) Unclosed() (missing, unfinished bool) {
	return s.missing, s.missing && s.python.Unfinished()
}

func (s *Scanner) scan(text string, end bool, sink Sink) {
	from, i := 0, 0
	for i < len(text) {
		m := s.next(text, i, end)
		if m.act == stay {
			break
		}
		if m.act != take {
			s.give(text[from:i], sink)
			s.apply(m.act, text[i:i+m.n], sink)
			from = i + m.n
		}
		i += m.n
	}
	if !end && i == len(text) {
		i -= partialRune(text[from:])
	}
	s.give(text[from:i], sink)
	s.tail.add(text[:i])
	s.held = text[i:]
}

func (s *Scanner) next(text string, i int, end bool) move {
	switch s.mode {
	case inDeep:
		return nextDeep(text, i, end)
	case inCode:
		return s.nextCode(text, i, end)
	}
	return s.nextProse(text, i, end)
}

// give hands on text of the present mode.
func (s *Scanner) give(text string, sink Sink) {
	if text != "" {
		sink.Span(Kind(s.mode), text)
	}
}

func (s *Scanner) apply(a action, marker string, sink Sink) {
	switch a {
	case drop:
		if s.mode != inDeep {
			sink.Span(Mark, marker)
		}
	case think:
		s.mode = inDeep
	case answer:
		s.toProse()
	case forget:
		s.toProse()
		s.doubt, s.envelope = false, false
		sink.Span(Forget, "")
	case begin:
		if s.mode == inCode { // the closing marker of the block before is missing
			sink.Span(Close, "")
		}
		s.mode = inCode
		sink.Span(Open, marker)
	case finish:
		s.toProse()
		sink.Span(Close, marker)
	}
}

// toProse goes back to visible text, at the beginning of a line as it were.
func (s *Scanner) toProse() {
	s.mode = inProse
	s.prose = prose{doubt: s.doubt, outer: s.outer, envelope: s.envelope}
}

// nextDeep finds the end of thinking. An inner <think> is no text.
func nextDeep(text string, i int, end bool) move {
	for j := i; j < len(text); j++ {
		if text[j] != '<' {
			continue
		}
		t, n, found := matchTag(text[j:], end)
		if found != wait && t != thinkOpen && t != thinkClose {
			continue
		}
		switch {
		case j > i:
			return move{j - i, take}
		case found == wait:
			return holdBack
		case t == thinkOpen:
			return move{n, drop}
		}
		return move{n, answer}
	}
	return move{len(text) - i, take}
}

// tail keeps the last bytes of the text, for what depends on what was before.
type tail struct {
	b [tailLen]byte
	n int
}

const tailLen = 24

func (t *tail) add(s string) {
	if len(s) >= tailLen {
		t.n = copy(t.b[:], s[len(s)-tailLen:])
		return
	}
	keep := min(t.n, tailLen-len(s))
	copy(t.b[:], t.b[t.n-keep:t.n])
	t.n = keep + copy(t.b[keep:], s)
}

// before gives up to tailLen bytes that stand before text[i].
func (t *tail) before(text string, i int) string {
	if i >= tailLen {
		return text[i-tailLen : i]
	}
	keep := min(t.n, tailLen-i)
	return string(t.b[t.n-keep:t.n]) + text[:i]
}

// partialRune is the length of an incomplete UTF-8 sequence at the end of s.
func partialRune(s string) int {
	for n := 1; n <= min(len(s), utf8.UTFMax-1); n++ {
		c := s[len(s)-n]
		if !utf8.RuneStart(c) {
			continue
		}
		if c >= utf8.RuneSelf && !utf8.FullRuneInString(s[len(s)-n:]) {
			return n
		}
		return 0
	}
	return 0
}
