package value

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
)

// Tool is a tool's function as a value: the name of the tool. It is what
// parallel_executor receives.
type Tool string

// Plain turns tagged JSON into plain Go values: nil, bool, string, int64,
// *big.Int (beyond int64), float64, []byte, []any (lists, tuples, sets),
// map[string]any and [Tool]. Dates are their ISO 8601 text, values without a
// better form their repr, keys that are no strings the text Python shows for
// them. Empty input is nil.
func Plain(raw json.RawMessage) (any, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	r, err := newReader(raw)
	if err != nil {
		return nil, err
	}
	v, err := r.plain()
	if err != nil {
		return nil, fmt.Errorf("tagged value: %w", err)
	}
	return v, nil
}

// PlainFields reads a JSON object whose values are tagged, as keyword
// arguments are: each value is what [Plain] gives. The keys are names, no tags;
// of one given twice the last counts. Empty input and null are no fields.
func PlainFields(raw json.RawMessage) (map[string]any, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	r, err := newReader(raw)
	if err != nil {
		return nil, err
	}
	switch r.peek() {
	case 'n':
		return nil, nil
	case '{':
	default:
		return nil, errors.New("tagged value: no object of named values")
	}
	fields := make(map[string]any)
	for r.at++; r.more('}'); {
		key, err := r.key()
		if err != nil {
			return nil, fmt.Errorf("tagged value: %w", err)
		}
		if fields[key], err = r.plain(); err != nil {
			return nil, fmt.Errorf("tagged value: %w", err)
		}
	}
	return fields, nil
}

// plain reads the next value. Only what may have a tag takes the way over a
// tree.
func (r *reader) plain() (any, error) {
	if c := r.peek(); c == '-' || c >= '0' && c <= '9' {
		return number(r.number())
	}
	tree, err := r.value(0)
	if err != nil {
		return nil, err
	}
	return plain(tree)
}

func plain(tree any) (any, error) {
	switch t := tree.(type) {
	case json.Number:
		return number([]byte(t))
	case []any:
		return plainList(t)
	case []member:
		if tag, payload := tagOf(t); tag != "" {
			return plainTag(tag, payload)
		}
		m := make(map[string]any, len(t))
		for _, e := range t {
			v, err := plain(e.val)
			if err != nil {
				return nil, err
			}
			m[e.key] = v
		}
		return m, nil
	default:
		return t, nil
	}
}

func plainList(list []any) (any, error) {
	out := make([]any, len(list))
	for i, e := range list {
		v, err := plain(e)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

func plainTag(tag string, payload any) (any, error) {
	switch tag {
	case "$tuple", "$set", "$frozenset":
		if list, ok := payload.([]any); ok {
			return plainList(list)
		}
	case "$dict":
		return plainDict(payload)
	case "$bytes", "$float", "$date", "$datetime", "$tool", "$repr":
		if text, ok := payload.(string); ok {
			return plainText(tag, text)
		}
	default:
		return nil, fmt.Errorf("unknown tag %.40q", tag)
	}
	return nil, fmt.Errorf("tag %s holds a wrong value", tag)
}

func plainText(tag, text string) (any, error) {
	switch tag {
	case "$bytes":
		b, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return nil, fmt.Errorf("$bytes: %w", err)
		}
		return b, nil
	case "$float":
		return nonFinite(text)
	case "$tool":
		return Tool(text), nil
	default:
		return text, nil
	}
}

func plainDict(payload any) (any, error) {
	list, err := pairs(payload)
	if err != nil {
		return nil, err
	}
	m := make(map[string]any, len(list))
	for _, pair := range list {
		v, err := plain(pair[1])
		if err != nil {
			return nil, err
		}
		m[strOf(pair[0])] = v
	}
	return m, nil
}

func nonFinite(text string) (any, error) {
	switch text {
	case "nan":
		return math.NaN(), nil
	case "inf":
		return math.Inf(1), nil
	case "-inf":
		return math.Inf(-1), nil
	}
	return nil, fmt.Errorf("$float %.20q is none of nan, inf, -inf", text)
}

func number(token []byte) (any, error) {
	if len(token) > maxDigits {
		return nil, errDigits(len(token))
	}
	if bytes.ContainsAny(token, ".eE") {
		f, err := strconv.ParseFloat(string(token), 64)
		if err != nil && !math.IsInf(f, 0) {
			return nil, fmt.Errorf("number %.40q: %w", token, err)
		}
		return f, nil
	}
	if i, err := strconv.ParseInt(string(token), 10, 64); err == nil {
		return i, nil
	}
	i, ok := new(big.Int).SetString(string(token), 10)
	if !ok {
		return nil, fmt.Errorf("number %.40q", token)
	}
	return i, nil
}
