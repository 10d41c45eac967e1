package value

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
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
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	v, err := parseNext(dec, 0)
	if err != nil {
		return nil, fmt.Errorf("tagged value: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("tagged value: more than one JSON value")
	}
	return v, nil
}

func parseNext(dec *json.Decoder, depth int) (any, error) {
	if depth > MaxDepth {
		return nil, fmt.Errorf("nested deeper than %d", MaxDepth)
	}
	tok, err := dec.Token()
	if err != nil {
		return nil, noEOF(err)
	}
	switch t := tok.(type) {
	case json.Delim:
		if t == '[' {
			return parseList(dec, depth)
		}
		return parseObject(dec, depth)
	case json.Number:
		if len(t) > maxDigits {
			return nil, fmt.Errorf("a number of %d digits; at most %d", len(t), maxDigits)
		}
		return t, nil
	default:
		return t, nil
	}
}

func parseList(dec *json.Decoder, depth int) (any, error) {
	list := []any{}
	for dec.More() {
		v, err := parseNext(dec, depth+1)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	_, err := dec.Token()
	return list, noEOF(err)
}

func parseObject(dec *json.Decoder, depth int) (any, error) {
	object := []member{}
	for dec.More() {
		tok, err := dec.Token()
		if err != nil {
			return nil, noEOF(err)
		}
		key, ok := tok.(string)
		if !ok {
			return nil, fmt.Errorf("key %v is no string", tok)
		}
		v, err := parseNext(dec, depth+1)
		if err != nil {
			return nil, err
		}
		object = append(object, member{key, v})
	}
	_, err := dec.Token()
	return object, noEOF(err)
}

// noEOF makes an end in mid-value an error that says so.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
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
