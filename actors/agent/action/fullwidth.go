package action

import (
	"strings"
	"unicode/utf8"

	"github.com/troupe-go/troupe/actors/agent/action/tags"
)

// Hint points at a full-width character where Python wants an ASCII one.
type Hint struct {
	Line, Column int // from 1; columns count characters
	Character    string
	ASCII        string // what to write instead
}

// maxHints bounds what FullWidth returns.
const maxHints = 16

// FullWidth finds full-width punctuation outside Python strings and comments,
// at most the first 16. It changes nothing: Python refuses the code itself.
func FullWidth(code string) []Hint {
	var hints []Hint
	var p tags.Python
	line, column := 1, 1
	for i, r := range code {
		n := utf8.RuneLen(r)
		if r >= utf8.RuneSelf && r != utf8.RuneError && !p.InString(code[i]) && !p.InComment() {
			if ascii := asciiFor(r); ascii != "" {
				hints = append(hints, Hint{line, column, string(r), ascii})
			}
		}
		if len(hints) == maxHints {
			break
		}
		for j := i; j < min(i+max(n, 1), len(code)); j++ {
			p.Feed(code[j])
		}
		column++
		if r == '\n' {
			line, column = line+1, 1
		}
	}
	return hints
}

// asciiFor gives the ASCII character for a full-width one, "" for any other.
// Full-width letters are left alone: Python reads them as ASCII ones.
func asciiFor(r rune) string {
	const offset = '！' - '!'
	switch {
	case r == '\u3000':
		return " "
	case r >= '！' && r <= '～':
		if c := r - offset; !('a' <= c|0x20 && c|0x20 <= 'z') {
			return string(c)
		}
		return ""
	case strings.ContainsRune("“”„", r):
		return `"`
	case strings.ContainsRune("‘’", r):
		return "'"
	}
	return otherASCII[r]
}

var otherASCII = map[rune]string{
	'、': ",", '。': ".", '【': "[", '】': "]", '《': "<", '》': ">", '「': `"`, '」': `"`, '—': "-", '×': "*", '÷': "/", '≤': "<=", '≥': ">=", '≠': "!=",
}
