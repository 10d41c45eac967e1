package messages

import (
	"strconv"
	"time"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// AppendJSONString appends s as a JSON string. Non-ASCII stays as it is, the
// line separators U+2028 and U+2029 and the characters <, > and & included:
// the result is JSON, not JavaScript or HTML. Invalid UTF-8 becomes U+FFFD, as
// with encoding/json. It allocates only when b is too short.
func AppendJSONString(b []byte, s string) []byte {
	b = append(b, '"')
	clean := 0 // s[clean:i] needs no change
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 {
				b = append(b, s[clean:i]...)
				b = append(b, "\uFFFD"...)
				clean = i + 1
			}
			i += size
			continue
		}
		if c >= ' ' && c != '"' && c != '\\' {
			i++
			continue
		}
		b = append(b, s[clean:i]...)
		b = appendEscaped(b, c)
		i++
		clean = i
	}
	b = append(b, s[clean:]...)
	return append(b, '"')
}

func appendEscaped(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\n':
		return append(b, '\\', 'n')
	case '\r':
		return append(b, '\\', 'r')
	case '\t':
		return append(b, '\\', 't')
	}
	return append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xf])
}

// appendTime appends t in UTC as RFC 3339 with milliseconds, cut off, in
// quotes. It is several times as fast as time.AppendFormat.
func appendTime(b []byte, t time.Time) []byte {
	t = t.UTC()
	year, month, day := t.Date()
	hour, minute, second := t.Clock()
	b = append(b, '"')
	b = appendPadded(b, year, 4)
	b = append(b, '-')
	b = appendPadded(b, int(month), 2)
	b = append(b, '-')
	b = appendPadded(b, day, 2)
	b = append(b, 'T')
	b = appendPadded(b, hour, 2)
	b = append(b, ':')
	b = appendPadded(b, minute, 2)
	b = append(b, ':')
	b = appendPadded(b, second, 2)
	b = append(b, '.')
	b = appendPadded(b, t.Nanosecond()/1e6, 3)
	return append(b, 'Z', '"')
}

func appendPadded(b []byte, n, width int) []byte {
	for limit := 10; width > 1; width-- {
		if n < limit {
			b = append(b, '0')
		}
		limit *= 10
	}
	return strconv.AppendInt(b, int64(n), 10)
}
