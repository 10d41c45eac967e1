package fact

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/troupe-go/troupe/messages"
)

// CallHash names a call: the SHA-256, in hex, of the tool and its arguments in
// canonical JSON. Equal calls have equal hashes wherever and by whatever
// encoder their arguments were written: keys are sorted, of a key given twice
// the last counts, white space and escapes don't count. Numbers keep their
// digits, however many, and 1 is not 1.0, but 1e5, 1E+05 are one, and so are
// 1.5 and 1.50. Null keyword arguments are the same as none.
//
// Positional and named arguments are different calls. Arguments that are not
// JSON are taken as text.
func CallHash(tool string, args []json.RawMessage, kwargs json.RawMessage) string {
	b := append(make([]byte, 0, 256), `{"tool":`...)
	b = messages.AppendJSONString(b, tool)
	b = append(b, `,"args":[`...)
	for i, arg := range args {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendCanonical(b, arg)
	}
	b = append(b, `],"kwargs":`...)
	if k := bytes.TrimSpace(kwargs); len(k) == 0 || string(k) == "null" {
		b = append(b, "{}"...)
	} else {
		b = appendCanonical(b, kwargs)
	}
	return HashOf(append(b, '}'))
}

// appendCanonical appends raw in canonical form.
func appendCanonical(b []byte, raw json.RawMessage) []byte {
	if !json.Valid(raw) {
		return messages.AppendJSONString(b, string(raw))
	}
	c := canonicalizer{in: raw}
	return c.value(b)
}

// canonicalizer reads JSON that is known to be valid. It copies tokens; an
// encoder and decoder of values took four times as long, on every tool call.
type canonicalizer struct {
	in []byte
	at int
}

type member struct{ key, value []byte }

// value appends the next value.
func (c *canonicalizer) value(b []byte) []byte {
	switch c.peek() {
	case '{':
		return c.object(b)
	case '[':
		return c.array(b)
	case '"':
		return c.text(b)
	}
	return appendScalar(b, c.skipScalar())
}

func (c *canonicalizer) array(b []byte) []byte {
	b = append(b, '[')
	c.at++
	for first := true; c.peek() != ']'; first = false {
		if !first {
			c.at++ // the comma
			b = append(b, ',')
		}
		b = c.value(b)
	}
	c.at++
	return append(b, ']')
}

func (c *canonicalizer) object(b []byte) []byte {
	members := make([]member, 0, 8)
	c.at++
	for c.peek() != '}' {
		if len(members) > 0 {
			c.at++ // the comma
			c.peek()
		}
		key := c.token()
		c.peek()
		c.at++ // the colon
		c.peek()
		members = append(members, member{key, c.token()})
	}
	c.at++
	slices.SortStableFunc(members, func(x, y member) int { return bytes.Compare(x.key, y.key) })
	b = append(b, '{')
	for i, m := range members {
		if i+1 < len(members) && bytes.Equal(m.key, members[i+1].key) {
			continue // given twice: the last counts
		}
		b = append(b, m.key...)
		b = append(b, ':')
		b = append(b, m.value...)
		if i+1 < len(members) {
			b = append(b, ',')
		}
	}
	return append(b, '}')
}

// token gives the value that begins here: a part of the input where that is
// canonical as it is.
func (c *canonicalizer) token() []byte {
	start := c.at
	switch c.in[c.at] {
	case '{', '[':
		return c.value(nil)
	case 't', 'f', 'n':
		return c.skipScalar()
	case '"':
		if token, plain := c.skipText(); plain {
			return token
		}
		c.at = start
		return c.text(nil)
	}
	token := c.skipScalar()
	if bytes.ContainsAny(token, ".eE") {
		return appendScalar(nil, token)
	}
	return token
}

// text appends the string that begins here.
func (c *canonicalizer) text(b []byte) []byte {
	token, plain := c.skipText()
	if plain {
		return append(b, token...)
	}
	var s string
	if err := json.Unmarshal(token, &s); err != nil {
		return append(b, token...) // can't be: the whole is valid
	}
	return messages.AppendJSONString(b, s)
}

// skipText steps over the string that begins here; plain says that it is
// canonical as it is.
func (c *canonicalizer) skipText() (token []byte, plain bool) {
	start := c.at
	escaped := false
	for c.at++; c.in[c.at] != '"'; c.at++ {
		if c.in[c.at] == '\\' {
			escaped = true
			c.at++
		}
	}
	c.at++
	token = c.in[start:c.at]
	return token, !escaped && utf8.Valid(token)
}

// skipScalar steps over the null, boolean or number that begins here.
func (c *canonicalizer) skipScalar() []byte {
	start := c.at
	for c.at < len(c.in) && bytes.IndexByte([]byte(",]} \t\r\n"), c.in[c.at]) < 0 {
		c.at++
	}
	return c.in[start:c.at]
}

// peek skips white space and gives the next byte, 0 at the end.
func (c *canonicalizer) peek() byte {
	for ; c.at < len(c.in); c.at++ {
		if b := c.in[c.at]; b != ' ' && b != '\n' && b != '\t' && b != '\r' {
			return b
		}
	}
	return 0
}

// appendScalar appends null, a boolean or a number.
func appendScalar(b, token []byte) []byte {
	if bytes.ContainsAny(token, ".eE") && token[0] != 't' && token[0] != 'f' {
		return append(b, canonicalNumber(string(token))...)
	}
	return append(b, token...)
}

// canonicalNumber gives a JSON number one spelling without ever reading it
// into a float: a small e, no plus, no leading zeros in the exponent, no
// trailing zeros in the fraction but the first.
func canonicalNumber(s string) string {
	mantissa, exponent, hasExponent := strings.Cut(strings.ToLower(s), "e")
	if whole, fraction, ok := strings.Cut(mantissa, "."); ok {
		fraction = strings.TrimRight(fraction, "0")
		if fraction == "" {
			fraction = "0"
		}
		mantissa = whole + "." + fraction
	}
	if !hasExponent {
		return mantissa
	}
	sign := ""
	if strings.HasPrefix(exponent, "-") {
		sign = "-"
	}
	exponent = strings.TrimLeft(exponent, "+-0")
	if exponent == "" {
		return mantissa + "e0"
	}
	return mantissa + "e" + sign + exponent
}
