package tags

// Python follows Python source byte by byte, just closely enough to know
// strings and comments from code. It needs no look-ahead, so a text may be cut
// anywhere. It knows every quote and prefix, escapes, comments, and f- and
// t-strings whose expressions hold strings of their own (Python 3.12).
// The zero value stands at the beginning of a source.
type Python struct {
	stack   [maxNesting]frame
	n       int
	depth   int  // open brackets outside strings
	comment bool // until the end of the line
	word    [2]byte
	wordLen uint8
}

// maxNesting bounds strings in expressions in strings; what is deeper is taken
// for code.
const maxNesting = 12

type frameKind uint8

const (
	plainString frameKind = iota
	formatString
	expression // in the braces of a formatString
	formatSpec // after the colon of an expression
)

type frame struct {
	kind    frameKind
	quote   byte
	triple  bool
	opening uint8 // quotes seen of an opening that may still become a triple one
	closing uint8 // quotes seen of a triple closing
	escape  bool  // the next byte is escaped
	brace   bool  // an opening brace that may be doubled
	depth   int   // open brackets, in an expression
}

// InString reports whether the byte c, coming next, lies inside a string.
func (p *Python) InString(c byte) bool {
	p.settle(c)
	return p.n > 0 && p.stack[p.n-1].kind != expression
}

// InComment reports whether the next byte lies in a comment.
func (p *Python) InComment() bool { return p.comment }

// Unfinished reports whether the source read so far has an open string or
// bracket.
func (p *Python) Unfinished() bool {
	p.settle(0)
	return p.n > 0 || p.depth > 0
}

// Feed reads one byte.
func (p *Python) Feed(c byte) {
	p.settle(c)
	switch {
	case p.comment:
		p.comment = c != '\n'
	case p.n > 0 && p.stack[p.n-1].kind != expression:
		p.text(c, &p.stack[p.n-1])
	default:
		p.code(c)
	}
}

// settle decides, now that the next byte is known, what the bytes before it
// meant: two quotes are an empty string unless a third follows, a brace opens
// an expression unless it is doubled.
func (p *Python) settle(c byte) {
	if p.n == 0 {
		return
	}
	f := &p.stack[p.n-1]
	switch {
	case f.opening == 1 && c != f.quote:
		f.opening = 0
	case f.opening == 2 && c != f.quote:
		p.n--
	case f.brace && c != '{':
		f.brace = false
		p.push(frame{kind: expression})
	}
}

func (p *Python) push(f frame) {
	if p.n < maxNesting {
		p.stack[p.n] = f
		p.n++
	}
}

// code reads a byte outside strings and comments.
func (p *Python) code(c byte) {
	if isIdentifier(c) {
		if p.wordLen < 2 {
			p.word[p.wordLen] = c
		}
		p.wordLen = min(p.wordLen+1, 3)
		return
	}
	prefix := p.word[:min(p.wordLen, 2)]
	if p.wordLen > 2 {
		prefix = nil
	}
	p.wordLen = 0
	switch c {
	case '#':
		p.comment = true
	case '\'', '"':
		p.push(frame{kind: stringKind(prefix), quote: c, opening: 1})
	case '(', '[', '{':
		*p.brackets()++
	case ')', ']', '}':
		p.closeBracket(c)
	case ':':
		p.colon()
	}
}

func (p *Python) brackets() *int {
	if p.n > 0 {
		return &p.stack[p.n-1].depth
	}
	return &p.depth
}

func (p *Python) closeBracket(c byte) {
	open := p.brackets()
	if *open > 0 {
		*open--
		return
	}
	if p.n > 0 && c == '}' {
		p.n-- // the expression; its string goes on
	}
}

// colon begins a format specification when it stands in an expression itself,
// not in a lambda's, slice's or dict's brackets.
func (p *Python) colon() {
	if p.n < 2 || p.stack[p.n-1].depth > 0 {
		return
	}
	s := p.stack[p.n-2]
	p.push(frame{kind: formatSpec, quote: s.quote, triple: s.triple})
}

// text reads a byte of a string.
func (p *Python) text(c byte, f *frame) {
	switch {
	case f.opening == 1:
		f.opening = 2
		return
	case f.opening == 2:
		f.opening, f.triple = 0, true
		return
	case f.escape && c != '{':
		f.escape = c == '\r' // an escaped CRLF is one line end
		return
	}
	f.escape = false
	if c != f.quote {
		f.closing = 0
	}
	switch c {
	case '\\':
		f.escape = true
	case '\n':
		if !f.triple {
			p.leave(f)
		}
	case f.quote:
		f.closing++
		if !f.triple || f.closing == 3 {
			p.leave(f)
		}
	case '{':
		p.openBrace(f)
	case '}':
		if f.kind == formatSpec {
			p.n -= 2 // the specification and its expression
		}
	}
}

func (p *Python) openBrace(f *frame) {
	switch f.kind {
	case formatString:
		f.brace = !f.brace
	case formatSpec:
		p.push(frame{kind: expression})
	}
}

// leave ends a string; a specification ends with the string it belongs to.
func (p *Python) leave(f *frame) {
	if f.kind == formatSpec {
		p.n -= 2
	}
	p.n = max(p.n-1, 0)
}

func stringKind(prefix []byte) frameKind {
	for _, c := range prefix {
		switch c {
		case 'f', 'F', 't', 'T':
			return formatString
		}
	}
	return plainString
}

func isIdentifier(c byte) bool {
	return c == '_' || c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}
