package value

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
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
	tree, err := parse(raw)
	if err != nil {
		return nil, err
	}
	v, err := plain(tree)
	if err != nil {
		return nil, fmt.Errorf("tagged value: %w", err)
	}
	return v, nil
}

func plain(tree any) (any, error) {
	switch t := tree.(type) {
	case json.Number:
		return number(t)
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

func number(n json.Number) (any, error) {
	s := string(n)
	if strings.ContainsAny(s, ".eE") {
		f, err := strconv.ParseFloat(s, 64)
		if err != nil && !math.IsInf(f, 0) {
			return nil, fmt.Errorf("number %.40q: %w", s, err)
		}
		return f, nil
	}
	if i, err := strconv.ParseInt(s, 10, 64); err == nil {
		return i, nil
	}
	i, ok := new(big.Int).SetString(s, 10)
	if !ok {
		return nil, fmt.Errorf("number %.40q", s)
	}
	return i, nil
}
