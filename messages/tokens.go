package messages

import "unicode/utf8"

// EstimateTokens guesses how many tokens a text is, for windows and for
// providers that report no usage: 0 for the empty text, else at least 1.
//
// Plain ASCII letters and spaces count a quarter of a token, Chinese, Japanese
// and Korean 1/1.1 (nexent-core §13.9). What that estimate takes for plain text
// and isn't is weighed by what common byte-pair tokenizers were measured to
// make of it: digits and punctuation a half, other alphabets three fifths,
// pictographs 2.2, and long unbroken runs of letters with digits (base64, keys,
// hashes) 0.65.
func EstimateTokens(text string) int {
	if text == "" {
		return 0
	}
	var t tokenTally
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			t.ascii(c)
			i++
			continue
		}
		t.endRun()
		r, size := utf8.DecodeRuneInString(text[i:])
		t.wide(r)
		i += size
	}
	t.endRun()
	return max(1, t.letters/4+t.symbols/2+t.cjk*10/11+t.alphabet*3/5+t.pictures*11/5+t.dense*13/20)
}

// denseRun is the length from which a run that mixes letters and digits is
// taken for encoded data: no word is that long and has a digit in it.
const denseRun = 20

// tokenTally counts characters by what they cost.
type tokenTally struct {
	letters, symbols, cjk, alphabet, pictures, dense int

	runLetters, runSymbols, runDigits int // the run that is open
}

func (t *tokenTally) ascii(c byte) {
	switch {
	case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
		t.runLetters++
	case c >= '0' && c <= '9':
		t.runSymbols++
		t.runDigits++
	case c == '+', c == '/', c == '=', c == '_', c == '-':
		t.runSymbols++
	default:
		t.endRun()
		if c <= ' ' {
			t.letters++
		} else {
			t.symbols++
		}
	}
}

func (t *tokenTally) endRun() {
	if n := t.runLetters + t.runSymbols; n >= denseRun && t.runLetters > 0 && t.runDigits > 0 {
		t.dense += n
	} else {
		t.letters += t.runLetters
		t.symbols += t.runSymbols
	}
	t.runLetters, t.runSymbols, t.runDigits = 0, 0, 0
}

func (t *tokenTally) wide(r rune) {
	switch {
	case r >= 0x3000 && r <= 0x9FFF, // CJK punctuation, kana, Han
		r >= 0x1100 && r <= 0x11FF, r >= 0xAC00 && r <= 0xD7AF, // Hangul
		r >= 0xF900 && r <= 0xFAFF, r >= 0xFF00 && r <= 0xFFEF, // compatibility, full width
		r >= 0x20000 && r <= 0x3FFFF: // Han extensions
		t.cjk++
	case r >= 0x1F000, r >= 0x2600 && r <= 0x27BF: // emoji and pictographs
		t.pictures++
	default:
		t.alphabet++
	}
}
