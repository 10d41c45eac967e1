package file

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
)

// codec is a text encoding, strict in both directions.
type codec struct {
	name  string // as the caller gave it
	enc   encoding.Encoding
	ascii bool // nothing above U+007F
	wide  bool // NUL bytes are normal in it
}

// pythonCodecs are names that Python knows and the WHATWG list lacks, or means
// otherwise.
var pythonCodecs = map[string]codec{
	"utf8":       {enc: encoding.Nop},
	"utf-8":      {enc: encoding.Nop},
	"utf-8-sig":  {enc: unicode.UTF8BOM},
	"ascii":      {enc: encoding.Nop, ascii: true},
	"us-ascii":   {enc: encoding.Nop, ascii: true},
	"latin-1":    {enc: charmap.ISO8859_1},
	"latin1":     {enc: charmap.ISO8859_1},
	"iso-8859-1": {enc: charmap.ISO8859_1},
	"iso8859-1":  {enc: charmap.ISO8859_1},
	"cp936":      {enc: simplifiedchinese.GBK},
	"cp1252":     {enc: charmap.Windows1252},
	"sjis":       {enc: japanese.ShiftJIS},
	"shift-jis":  {enc: japanese.ShiftJIS},
	"utf-16":     {enc: unicode.UTF16(unicode.LittleEndian, unicode.UseBOM), wide: true},
	"utf-16-le":  {enc: unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), wide: true},
	"utf-16-be":  {enc: unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), wide: true},
	"utf-32":     {enc: utf32.UTF32(utf32.LittleEndian, utf32.UseBOM), wide: true},
	"utf-32-le":  {enc: utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM), wide: true},
	"utf-32-be":  {enc: utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM), wide: true},
}

func codecNamed(name string) (codec, error) {
	key := strings.ReplaceAll(strings.ToLower(strings.TrimSpace(name)), "_", "-")
	c, ok := pythonCodecs[key]
	if !ok {
		enc, err := htmlindex.Get(name)
		if err != nil {
			enc, err = htmlindex.Get(key)
		}
		if err != nil || enc == encoding.Replacement {
			return codec{}, errUnknownEncoding.Withf(name)
		}
		c.enc = enc
	}
	c.name = name
	return c, nil
}

// encode turns text into bytes; a character the encoding lacks is an error.
func (c codec) encode(text string) ([]byte, error) {
	b, err := c.enc.NewEncoder().Bytes([]byte(text))
	if err != nil || c.ascii && !isASCII(b) {
		return nil, errEncode.Withf(c.name)
	}
	return b, nil
}

// decode turns bytes into text; bytes that mean nothing in the encoding are an
// error. With cut the end may stand in the middle of a character, which is
// dropped.
func (c codec) decode(raw []byte, cut bool) (string, bool) {
	if c.enc == encoding.Nop {
		if cut {
			raw = trimPartial(raw)
		}
		return string(raw), utf8.Valid(raw) && (!c.ascii || isASCII(raw))
	}
	text, err := c.enc.NewDecoder().Bytes(raw)
	if err != nil {
		return "", false
	}
	if cut {
		text = bytes.TrimRight(text, "\uFFFD")
	}
	if !bytes.ContainsRune(text, utf8.RuneError) {
		return string(text), true
	}
	// The replacement character stands for bytes that mean nothing, unless the
	// file holds it.
	again, err := c.enc.NewEncoder().Bytes(text)
	return string(text), err == nil && bytes.HasPrefix(raw, again)
}

func isASCII(b []byte) bool {
	return bytes.IndexFunc(b, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}

// trimPartial drops the first bytes of a UTF-8 character that was cut.
func trimPartial(raw []byte) []byte {
	for i := 1; i <= min(utf8.UTFMax, len(raw)); i++ {
		tail := raw[len(raw)-i:]
		if utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				return raw[:len(raw)-i]
			}
			break
		}
	}
	return raw
}

// suggest names encodings in which the bytes are text, the likeliest first.
func suggest(raw []byte, cut bool) []string {
	if bytes.HasPrefix(raw, []byte{0xFF, 0xFE}) || bytes.HasPrefix(raw, []byte{0xFE, 0xFF}) {
		return []string{"utf-16"}
	}
	var fits []string
	for _, name := range []string{"utf-8", "gbk", "gb18030", "big5", "shift_jis", "latin-1"} {
		c, err := codecNamed(name)
		if err != nil {
			continue
		}
		if _, ok := c.decode(raw, cut); ok {
			fits = append(fits, name)
		}
	}
	return fits[:min(len(fits), 3)]
}

// binary reports whether bytes look like no text: a NUL near the beginning, as
// git has it.
func binary(raw []byte) bool { return bytes.IndexByte(raw[:min(len(raw), 8000)], 0) >= 0 }
