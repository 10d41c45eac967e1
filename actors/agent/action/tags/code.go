package tags

// code is the state inside a code block.
type code struct {
	python  Python
	fresh   bool // nothing of the body was read yet
	fenceIn bool // the block is a fence, not tagged
	wrapped bool // a fence stands just inside the tags
	indent  bool // only blanks on the line so far
	after   bool // outer of prose, when the block ends
}

func (s *Scanner) startBlock(fence bool) {
	s.code = code{fresh: true, fenceIn: fence, indent: true}
}

// nextCode takes Python up to the next marker.
func (s *Scanner) nextCode(text string, i int, end bool) move {
	if s.fresh {
		if m := s.bodyStart(text, i, end); m.act != take {
			return m
		}
	}
	for j := i; j < len(text); j++ {
		c := text[j]
		if (c == '<' || c == '`') && !s.python.InString(c) {
			m := s.codeMarker(text, j, end)
			if m.act != take && j > i {
				return move{j - i, take} // the marker is met again
			}
			if m.act != take {
				return s.endBlock(m)
			}
		}
		s.python.Feed(c)
		if c == '\n' {
			s.indent = true
		} else if !isBlank(c) {
			s.indent = false
		}
	}
	return move{len(text) - i, take}
}

// endBlock prepares what follows a marker.
func (s *Scanner) endBlock(m move) move {
	switch m.act {
	case drop:
		s.wrapped = false
	case begin:
		after := s.after || s.fenceIn
		s.startBlock(false)
		s.after = after
	case finish:
		s.outer = s.after
	}
	return m
}

// bodyStart drops the line end behind the opening marker, empty lines, and a
// fence just inside the tags. Indentation of the first line stays.
func (s *Scanner) bodyStart(text string, i int, end bool) move {
	j, line := i, i
	for j < len(text) && (isBlank(text[j]) || text[j] == '\n') && j-i < maxLookahead {
		if text[j] == '\n' {
			line = j + 1
		}
		j++
	}
	if j == len(text) && !end && j-i < maxLookahead {
		return holdBack
	}
	if !s.fenceIn && j < len(text) && j-i < maxLookahead && text[j] == '`' {
		n, found := innerFence(text, j, end)
		switch found {
		case wait:
			return holdBack
		case yes:
			s.fresh, s.wrapped = false, true
			return move{j + n - i, drop}
		}
	}
	s.fresh = false
	if line > i {
		return move{line - i, drop}
	}
	return move{0, take}
}

// innerFence matches ```, ```py, ```python or ```<RUN>; the rest of the line
// may hold code.
func innerFence(text string, i int, end bool) (int, look) {
	if l := prefix(text[i:], "```", true, end); l != yes {
		return 0, l
	}
	rest := text[i+3:]
	for _, lang := range [...]string{"python", "py", "<RUN>"} {
		switch prefix(rest, lang, false, end) {
		case wait:
			return 0, wait
		case yes:
			if n, found := infoEnds(rest, len(lang), end); found != no {
				return 3 + n, found
			}
		}
	}
	if n, found := lineEnds(rest, 0, end); found != no {
		return 3 + n, found
	}
	return 0, no
}

// infoEnds says whether a language's name ends at i, and where code begins.
func infoEnds(s string, i int, end bool) (int, look) {
	if i < len(s) && isIdentifier(s[i]) {
		return 0, no
	}
	n, found := lineEnds(s, i, end)
	switch found {
	case no:
		return min(skipBlanks(s, i), i+maxLookahead), yes
	case last:
		return i + n, yes
	}
	return i + n, found
}

// codeMarker says what a '<' or '`' outside strings means.
func (s *Scanner) codeMarker(text string, i int, end bool) move {
	if text[i] == '`' {
		return s.codeFence(text, i, end)
	}
	t, n, found := matchTag(text[i:], end)
	switch {
	case found == wait:
		return holdBack
	case t == codeClose:
		return s.closing(text, i, n, end)
	case s.python.InComment():
	case t == thinkClose:
		return move{n, forget}
	case t == codeOpen && s.indent && !s.python.Unfinished():
		return move{n, begin}
	}
	return move{0, take}
}

// codeFence ends a fenced block; inside tags it ends the inner fence.
func (s *Scanner) codeFence(text string, i int, end bool) move {
	n, found := run(text, i, '`', end)
	if found == wait {
		return holdBack
	}
	if n < 3 || !s.fenceIn && !s.wrapped {
		return move{0, take}
	}
	if !s.fenceIn {
		if s.python.InComment() {
			return move{0, take}
		}
		return move{n, drop}
	}
	for _, mark := range [...]string{"<END_CODE>", "<END_DISPLAY_CODE>"} {
		switch prefix(text[i+n:], mark, true, end) {
		case wait:
			return holdBack
		case yes:
			return s.closing(text, i, n+len(mark), end)
		}
	}
	return s.closing(text, i, n, end)
}

// closing ends the block. In a comment a marker is only mentioned, unless
// nothing follows it: then the comment stood before it on its line.
func (s *Scanner) closing(text string, i, n int, end bool) move {
	if !s.python.InComment() {
		return move{n, finish}
	}
	switch textEnds(text, i+n, end) {
	case wait:
		return holdBack
	case no:
		return move{0, take}
	}
	return move{n, finish}
}
