package main

import (
	"io"
	"os"
	"strings"
	"unicode"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
	"golang.org/x/term"
)

// defaultWidth is the width of a page where there is no terminal.
const defaultWidth = 80

// palette are the looks of a stream. Each takes a piece of one line.
type palette struct {
	rule, thought, deep, code, log, tool, note, warn, bad, answer func(string) string
}

// plainPalette changes nothing.
func plainPalette() palette {
	same := func(s string) string { return s }
	return palette{same, same, same, same, same, same, same, same, same, same}
}

// colourPalette uses the terminal's own sixteen colours, so that it fits dark
// and light ones.
func colourPalette() palette {
	base := lipgloss.NewStyle().Inline(true).TabWidth(lipgloss.NoTabConversion)
	look := func(s lipgloss.Style) func(string) string { return func(t string) string { return s.Render(t) } }
	faint := base.Faint(true)
	return palette{
		rule:    look(base.Bold(true)),
		thought: look(faint),
		deep:    look(faint.Italic(true)),
		code:    look(base.Foreground(lipgloss.Cyan)),
		log:     look(base.Foreground(lipgloss.Green)),
		tool:    look(base.Foreground(lipgloss.Magenta)),
		note:    look(faint),
		warn:    look(base.Foreground(lipgloss.Yellow)),
		bad:     look(base.Foreground(lipgloss.Red).Bold(true)),
		answer:  look(base.Bold(true)),
	}
}

// page finds out what stdout can show.
func (a *app) page() (palette, int) {
	width := defaultWidth
	if f, ok := a.stdout.(*os.File); ok {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w >= 20 {
			width = w
		}
	}
	if !a.coloured(a.stdout) {
		return plainPalette(), width
	}
	return colourPalette(), width
}

func (a *app) coloured(w io.Writer) bool {
	if v, ok := a.env("NO_COLOR"); ok && v != "" {
		return false
	}
	return colorprofile.Detect(w, a.environ) >= colorprofile.ANSI
}

// clean makes text of a model or a tool safe for a terminal: control
// characters and those that reorder text are shown, not obeyed.
func clean(s string) string {
	if strings.IndexFunc(s, unsafeRune) < 0 {
		return s
	}
	s = strings.ReplaceAll(s, "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case !unsafeRune(r):
			return r
		case r < ' ':
			return 0x2400 + r // control pictures
		case r == 0x7f:
			return 0x2421
		}
		return unicode.ReplacementChar
	}, s)
}

func unsafeRune(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < ' ' || r >= 0x7f && r < 0xa0:
		return true
	}
	return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// oneLine puts text on one line.
func oneLine(s string) string { return strings.Join(strings.Fields(clean(s)), " ") }
