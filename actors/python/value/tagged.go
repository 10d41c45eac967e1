package value

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Tuple is a Python tuple, for [Tagged].
type Tuple []any

// Tagged turns a Go value into tagged JSON: what [Plain] gives, [Tuple],
// [Tool], every integer and float kind, time.Time ($datetime), and through
// their JSON form (fields in order) structs, typed slices and maps.
// json.RawMessage is plain JSON from outside: keys that begin with "$" stay
// what they are and name no tag.
func Tagged(v any) (json.RawMessage, error) {
	b, err := appendTagged(make([]byte, 0, 64), v, 0)
	if err != nil {
		return nil, fmt.Errorf("value for Python: %w", err)
	}
	return b, nil
}

func appendTagged(b []byte, v any, depth int) ([]byte, error) {
	if depth > MaxDepth {
		return nil, fmt.Errorf("nested deeper than %d", MaxDepth)
	}
	switch t := v.(type) {
	case nil:
		return append(b, "null"...), nil
	case bool:
		return strconv.AppendBool(b, t), nil
	case string:
		return appendString(b, t), nil
	case int:
		return strconv.AppendInt(b, int64(t), 10), nil
	case int64:
		return strconv.AppendInt(b, t, 10), nil
	case *big.Int:
		if t == nil {
			return append(b, "null"...), nil
		}
		return t.Append(b, 10), nil
	case float64:
		return appendFloat(b, t), nil
	case []byte:
		b = append(b, `{"$bytes":"`...)
		b = base64.StdEncoding.AppendEncode(b, t)
		return append(b, `"}`...), nil
	case Tool:
		return append(appendString(append(b, `{"$tool":`...), string(t)), '}'), nil
	case time.Time:
		text := t.Format("2006-01-02T15:04:05.999999Z07:00")
		return append(appendString(append(b, `{"$datetime":`...), text), '}'), nil
	case Tuple:
		b, err := appendList(append(b, `{"$tuple":`...), t, depth+1)
		return append(b, '}'), err
	case []any:
		return appendList(b, t, depth)
	case map[string]any:
		return appendMap(b, t, depth)
	default:
		return appendEncoded(b, v, depth)
	}
}

func appendList(b []byte, list []any, depth int) ([]byte, error) {
	var err error
	b = append(b, '[')
	for i, e := range list {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = appendTagged(b, e, depth+1); err != nil {
			return nil, err
		}
	}
	return append(b, ']'), nil
}

// appendMap writes keys in sorted order, so that equal values are equal bytes.
func appendMap(b []byte, m map[string]any, depth int) ([]byte, error) {
	object := make([]member, 0, len(m))
	for _, key := range slices.Sorted(maps.Keys(m)) {
		object = append(object, member{key, m[key]})
	}
	return appendObject(b, object, depth)
}

func appendObject(b []byte, object []member, depth int) ([]byte, error) {
	open, mid, end, done := "{", "", "", "}"
	if slices.ContainsFunc(object, func(e member) bool { return strings.HasPrefix(e.key, "$") }) {
		open, mid, end, done = `{"$dict":[`, "[", "]", "]}"
		depth++
	}
	sep := byte(':')
	if mid != "" {
		sep = ','
	}
	var err error
	b = append(b, open...)
	for i, e := range object {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendString(append(b, mid...), e.key), sep)
		if b, err = appendTree(b, e.val, depth+1); err != nil {
			return nil, err
		}
		b = append(b, end...)
	}
	return append(b, done...), nil
}

// appendTree writes a Go value or a node of parse, whose objects are ordered.
func appendTree(b []byte, v any, depth int) ([]byte, error) {
	switch t := v.(type) {
	case []member:
		if depth > MaxDepth {
			return nil, fmt.Errorf("nested deeper than %d", MaxDepth)
		}
		return appendObject(b, t, depth)
	case json.Number:
		return append(b, t...), nil
	case []any:
		return appendTreeList(b, t, depth)
	default:
		return appendTagged(b, v, depth)
	}
}

func appendTreeList(b []byte, list []any, depth int) ([]byte, error) {
	if depth > MaxDepth {
		return nil, fmt.Errorf("nested deeper than %d", MaxDepth)
	}
	var err error
	b = append(b, '[')
	for i, e := range list {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = appendTree(b, e, depth+1); err != nil {
			return nil, err
		}
	}
	return append(b, ']'), nil
}

// appendEncoded goes over the value's JSON form, which keeps the order of a
// struct's fields.
func appendEncoded(b []byte, v any, depth int) ([]byte, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	tree, err := parse(raw)
	if err != nil {
		return nil, err
	}
	return appendTree(b, tree, depth)
}

// appendFloat keeps a point or an exponent, so that a float stays one.
func appendFloat(b []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(b, `{"$float":"nan"}`...)
	case math.IsInf(f, 1):
		return append(b, `{"$float":"inf"}`...)
	case math.IsInf(f, -1):
		return append(b, `{"$float":"-inf"}`...)
	}
	from := len(b)
	b = appendPythonFloat(b, f)
	if !bytes.ContainsAny(b[from:], ".e") {
		b = append(b, ".0"...)
	}
	return b
}

func appendString(b []byte, s string) []byte {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil { // a string always encodes
		return append(b, `""`...)
	}
	return append(b, bytes.TrimRight(buf.Bytes(), "\n")...)
}
