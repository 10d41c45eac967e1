package value

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// MaxDepth is how deep values may nest; a deeper one is an error, so that no
// input exhausts a stack.
const MaxDepth = 200

// maxDigits bounds an integer: converting a longer one takes too long.
const maxDigits = 1 << 16

// member is one key of an object. Objects keep their order, because Python
// dictionaries have one.
type member struct {
	key string
	val any
}

// parse reads one JSON value: nil, bool, string, json.Number, []any, or
// []member for an object. Anything after the value is an error.
func parse(raw []byte) (any, error) {
	r, err := newReader(raw)
	if err != nil {
		return nil, err
	}
	v, err := r.value(0)
	if err != nil {
		return nil, fmt.Errorf("tagged value: %w", err)
	}
	return v, nil
}

// reader reads JSON that is known to be one valid value. A json.Decoder takes
// several times as long, and a few kilobytes for each value, on every argument
// of every tool call.
type reader struct {
	in []byte
	at int
}

func newReader(raw []byte) (reader, error) {
	if json.Valid(raw) {
		return reader{in: raw}, nil
	}
	var v json.RawMessage
	return reader{}, fmt.Errorf("tagged value: %w", json.Unmarshal(raw, &v))
}

// peek skips white space and gives the next byte, 0 at the end.
func (r *reader) peek() byte {
	for ; r.at < len(r.in); r.at++ {
		if b := r.in[r.at]; b != ' ' && b != '\n' && b != '\t' && b != '\r' {
			return b
		}
	}
	return 0
}

// more steps to the next element of a list or object, or over its end.
func (r *reader) more(end byte) bool {
	switch r.peek() {
	case end:
		r.at++
		return false
	case ',':
		r.at++
		r.peek()
	}
	return true
}

func (r *reader) value(depth int) (any, error) {
	if depth > MaxDepth {
		return nil, fmt.Errorf("nested deeper than %d", MaxDepth)
	}
	switch r.peek() {
	case '{':
		return r.object(depth)
	case '[':
		return r.list(depth)
	case '"':
		return r.text()
	case 't':
		r.at += len("true")
		return true, nil
	case 'f':
		r.at += len("false")
		return false, nil
	case 'n':
		r.at += len("null")
		return nil, nil
	}
	token := r.number()
	if len(token) > maxDigits {
		return nil, errDigits(len(token))
	}
	return json.Number(token), nil
}

func errDigits(n int) error {
	return fmt.Errorf("a number of %d digits; at most %d", n, maxDigits)
}

func (r *reader) list(depth int) (any, error) {
	list := []any{}
	for r.at++; r.more(']'); {
		v, err := r.value(depth + 1)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

func (r *reader) object(depth int) (any, error) {
	object := []member{}
	for r.at++; r.more('}'); {
		key, err := r.key()
		if err != nil {
			return nil, err
		}
		v, err := r.value(depth + 1)
		if err != nil {
			return nil, err
		}
		object = append(object, member{key, v})
	}
	return object, nil
}

// key reads an object's key and the colon.
func (r *reader) key() (string, error) {
	key, err := r.text()
	r.peek()
	r.at++
	return key, err
}

// number gives the number that begins here.
func (r *reader) number() []byte {
	start := r.at
	for r.at < len(r.in) && bytes.IndexByte([]byte("+-.0123456789Ee"), r.in[r.at]) >= 0 {
		r.at++
	}
	return r.in[start:r.at]
}

// text reads the string that begins here. One with escapes, or that is no
// UTF-8, encoding/json reads.
func (r *reader) text() (string, error) {
	end := endOfString(r.in, r.at) + 1
	token := r.in[r.at:end]
	r.at = end
	if bytes.IndexByte(token, '\\') < 0 && utf8.Valid(token) {
		return string(token[1 : len(token)-1]), nil
	}
	var s string
	err := json.Unmarshal(token, &s)
	return s, err
}

// tagOf gives an object's tag and its payload; "" when it is a dictionary.
func tagOf(object []member) (string, any) {
	if len(object) == 0 || !strings.HasPrefix(object[0].key, "$") {
		return "", nil
	}
	if len(object) == 1 || (object[0].key == "$repr" && len(object) == 2 && object[1].key == "type") {
		return object[0].key, object[0].val
	}
	return "", nil
}

// pairs gives the key-value pairs of a $dict.
func pairs(payload any) ([][2]any, error) {
	list, ok := payload.([]any)
	if !ok {
		return nil, errors.New("$dict is no list")
	}
	out := make([][2]any, 0, len(list))
	for _, item := range list {
		pair, ok := item.([]any)
		if !ok || len(pair) != 2 {
			return nil, errors.New("$dict holds something that is no pair")
		}
		out = append(out, [2]any{pair[0], pair[1]})
	}
	return out, nil
}
