package main

import (
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/troupe-go/troupe/messages"
)

// view shows a run's events.
type view interface {
	event(ev messages.Event) error
	missed() error
}

// The marks at the start of lines. Without colour they alone tell code, output
// and tools from text.
const (
	codeMark = "  │ "
	logMark  = "  ┆ "
	deepMark = "  ~ "
	toolMark = "  → "
	noteMark = "  · "
	warnMark = "  ! "
	badMark  = "  ✗ "
)

// stream is the view for people. Text is written as it comes; a line that is
// open is closed before something else begins. Its methods are called by one
// goroutine.
type stream struct {
	w     io.Writer
	lang  string
	width int
	look  palette
	err   error // of the first write that failed

	workspace string // where files that are handed over lie; empty: they are named as the agent does

	open     block
	fresh    bool // the block has no text yet: blank lines at its start are left out
	midLine  bool // the cursor isn't at the start of a line
	newlines int  // line ends that are written when more text follows
	indent   string

	coded    bool            // code of this step was shown as it came
	attempts map[string]bool // attempts that showed text
}

// block is what the open text is, and of whom.
type block struct {
	kind  messages.ProcessType
	owner string // invocation
}

func newStream(w io.Writer, lang string, look palette, width int) *stream {
	return &stream{w: w, lang: lang, look: look, width: width, attempts: map[string]bool{}}
}

// event shows one event. It gives the first write error there was.
func (s *stream) event(ev messages.Event) error {
	s.indent = strings.Repeat("    ", ev.Depth)
	if show, ok := shows[ev.Type]; ok {
		show(s, &ev)
	} else {
		s.other(&ev)
	}
	if ev.Last() {
		s.ended(&ev)
	}
	return s.err
}

func (s *stream) missed() error {
	s.line(warnMark, tx.missed.in(s.lang), s.look.warn)
	return s.err
}

func (s *stream) write(text string) {
	if s.err == nil {
		_, s.err = io.WriteString(s.w, text)
	}
}

// close ends an open line.
func (s *stream) close() {
	if s.midLine {
		s.write("\n")
	}
	s.open, s.midLine, s.newlines = block{}, false, 0
}

// line writes a whole line, cut to the page.
func (s *stream) line(mark, text string, look func(string) string) {
	s.whole(ansi.Truncate(s.indent+mark+oneLine(text), s.width, "…"), look)
}

// whole writes a line that is of no use when cut, such as a path.
func (s *stream) whole(text string, look func(string) string) {
	s.close()
	s.write(look(text) + "\n")
}

// text writes a piece of streamed text, each of its lines after mark.
func (s *stream) text(ev *messages.Event, mark string, look func(string) string) {
	b := block{ev.Type, ev.ID.Invocation}
	if s.open != b {
		s.close()
		s.open, s.fresh = b, true
	}
	text := clean(ev.Content)
	if s.fresh {
		text = strings.TrimLeft(text, "\n")
	}
	if text == "" {
		return
	}
	s.fresh = false
	for i, piece := range strings.Split(text, "\n") {
		if i > 0 {
			s.newlines++
		}
		if piece == "" {
			continue
		}
		for ; s.newlines > 0; s.newlines-- {
			if blank := strings.TrimRight(s.indent+mark, " "); !s.midLine && blank != "" {
				s.write(look(blank)) // a blank line keeps its mark
			}
			s.write("\n")
			s.midLine = false
		}
		if !s.midLine {
			piece = s.indent + mark + piece
			s.midLine = true
		}
		s.write(look(piece))
	}
}

// rule writes a heading across the page.
func (s *stream) rule(line, title string) {
	s.close()
	head := s.indent + line + line + " " + title + " "
	if fill := s.width - ansi.StringWidth(head); fill > 0 {
		head += strings.Repeat(line, fill)
	}
	s.write("\n" + s.look.rule(head) + "\n")
}
