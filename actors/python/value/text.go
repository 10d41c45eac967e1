package value

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
)

// Text shows a value as Python's str would: a string is itself, None is
// "None", a dictionary {'a': 1}. It is for people and models, and close to
// Python, not a contract. What is no tagged JSON is shown as it came.
func Text(raw json.RawMessage) string {
	if len(raw) == 0 {
		return "None"
	}
	tree, err := parse(raw)
	if err != nil {
		return string(raw)
	}
	return strOf(tree)
}

func strOf(tree any) string {
	if s, ok := tree.(string); ok {
		return s
	}
	if object, ok := tree.([]member); ok {
		switch tag, payload := tagOf(object); tag {
		case "$date", "$repr":
			return fmt.Sprint(payload)
		case "$datetime":
			return strings.Replace(fmt.Sprint(payload), "T", " ", 1)
		}
	}
	var b strings.Builder
	writeRepr(&b, tree)
	return b.String()
}

func writeRepr(b *strings.Builder, tree any) {
	switch t := tree.(type) {
	case nil:
		b.WriteString("None")
	case bool:
		if t {
			b.WriteString("True")
			return
		}
		b.WriteString("False")
	case string:
		writeQuoted(b, t)
	case json.Number:
		b.WriteString(numberText(t))
	case []any:
		writeItems(b, "[", t, "]")
	case []member:
		writeObject(b, t)
	}
}

func numberText(n json.Number) string {
	if f, err := n.Float64(); err == nil && strings.ContainsAny(string(n), ".eE") {
		return string(appendFloat(nil, f))
	}
	return string(n)
}

// appendPythonFloat writes a finite float as repr does: shortest digits, an
// exponent from 1e16 on and below 1e-4.
func appendPythonFloat(b []byte, f float64) []byte {
	format := byte('f')
	if a := math.Abs(f); a != 0 && (a < 1e-4 || a >= 1e16) {
		format = 'e'
	}
	return strconv.AppendFloat(b, f, format, -1, 64)
}

func writeItems(b *strings.Builder, open string, items []any, end string) {
	b.WriteString(open)
	for i, e := range items {
		if i > 0 {
			b.WriteString(", ")
		}
		writeRepr(b, e)
	}
	b.WriteString(end)
}

func writeObject(b *strings.Builder, object []member) {
	if tag, payload := tagOf(object); tag != "" {
		writeTag(b, tag, payload)
		return
	}
	b.WriteByte('{')
	for i, e := range object {
		if i > 0 {
			b.WriteString(", ")
		}
		writeQuoted(b, e.key)
		b.WriteString(": ")
		writeRepr(b, e.val)
	}
	b.WriteByte('}')
}

func writeTag(b *strings.Builder, tag string, payload any) {
	if list, ok := payload.([]any); ok {
		writeListTag(b, tag, list)
		return
	}
	text := fmt.Sprint(payload)
	switch tag {
	case "$bytes":
		raw, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			raw = []byte(text)
		}
		writeBytes(b, raw)
	case "$date":
		b.WriteString("datetime.date(" + text + ")")
	case "$datetime":
		b.WriteString("datetime.datetime(" + text + ")")
	case "$tool":
		b.WriteString("<tool " + text + ">")
	default:
		b.WriteString(text)
	}
}

func writeListTag(b *strings.Builder, tag string, list []any) {
	switch {
	case tag == "$dict":
		writeDict(b, list)
	case tag == "$tuple" && len(list) == 1:
		writeItems(b, "(", list, ",)")
	case tag == "$tuple":
		writeItems(b, "(", list, ")")
	case tag == "$set" && len(list) > 0:
		writeItems(b, "{", list, "}")
	case tag == "$frozenset" && len(list) > 0:
		writeItems(b, "frozenset({", list, "})")
	case tag == "$set" || tag == "$frozenset":
		b.WriteString(tag[1:] + "()")
	default:
		writeItems(b, "[", list, "]")
	}
}

func writeDict(b *strings.Builder, list []any) {
	entries, err := pairs(list)
	if err != nil {
		writeItems(b, "[", list, "]")
		return
	}
	b.WriteByte('{')
	for i, e := range entries {
		if i > 0 {
			b.WriteString(", ")
		}
		writeRepr(b, e[0])
		b.WriteString(": ")
		writeRepr(b, e[1])
	}
	b.WriteByte('}')
}

// writeQuoted writes a string literal: single quotes, unless only single ones
// stand in the text.
func writeQuoted(b *strings.Builder, s string) {
	quote := '\''
	if strings.ContainsRune(s, '\'') && !strings.ContainsRune(s, '"') {
		quote = '"'
	}
	b.WriteRune(quote)
	for _, r := range s {
		writeQuotedRune(b, r, quote)
	}
	b.WriteRune(quote)
}

func writeQuotedRune(b *strings.Builder, r, quote rune) {
	switch {
	case r == quote || r == '\\':
		b.WriteByte('\\')
		b.WriteRune(r)
	case r == '\n':
		b.WriteString(`\n`)
	case r == '\r':
		b.WriteString(`\r`)
	case r == '\t':
		b.WriteString(`\t`)
	case r == ' ' || (r > ' ' && unicode.IsPrint(r)):
		b.WriteRune(r)
	case r < 0x100:
		fmt.Fprintf(b, `\x%02x`, r)
	case r < 0x10000:
		fmt.Fprintf(b, `\u%04x`, r)
	default:
		fmt.Fprintf(b, `\U%08x`, r)
	}
}

func writeBytes(b *strings.Builder, raw []byte) {
	b.WriteString("b'")
	for _, c := range raw {
		if c >= 0x80 {
			fmt.Fprintf(b, `\x%02x`, c)
			continue
		}
		writeQuotedRune(b, rune(c), '\'')
	}
	b.WriteByte('\'')
}
