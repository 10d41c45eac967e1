package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/big"
	"slices"
	"strings"
)

// checkParams checks a tool's configured parameters against what its class
// declares, strictly: an unknown name, a wrong type or a value out of range is
// an error (a model's value would be clamped). It gives them completed with
// defaults. Values are never shown, they may be secrets.
func checkParams(tool string, declared []Input, raw json.RawMessage) (json.RawMessage, error) {
	given, err := paramObject(tool, raw)
	if err != nil {
		return nil, err
	}
	full := make(map[string]any, len(declared))
	for i := range declared {
		in := &declared[i]
		v, err := in.param(tool, given[in.Name])
		if err != nil {
			return nil, err
		}
		full[in.Name] = v
		delete(given, in.Name)
	}
	if len(given) > 0 {
		return nil, configFault("tool %s: unknown parameters %s; it takes %s", "工具 %s：未知参数 %s；可用参数：%s",
			tool, strings.Join(slices.Sorted(maps.Keys(given)), ", "), paramNames(declared))
	}
	out, err := json.Marshal(full)
	if err != nil {
		return nil, fmt.Errorf("encode parameters of tool %s: %w", tool, err)
	}
	return out, nil
}

func paramObject(tool string, raw json.RawMessage) (map[string]any, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return map[string]any{}, nil
	}
	v, err := plainJSON(raw)
	if err != nil {
		return nil, configFault("tool %s: params is not JSON", "工具 %s：params 不是合法的 JSON", tool).With(err)
	}
	switch m := v.(type) {
	case nil:
		return map[string]any{}, nil
	case map[string]any:
		return m, nil
	}
	return nil, configFault("tool %s: params is a %s; it must be an object", "工具 %s：params 是 %s；必须为对象", tool, pythonType(v))
}

func (in *Input) param(tool string, v any) (any, error) {
	if v == nil {
		v = in.Default
	}
	if v == nil {
		if in.Required {
			return nil, configFault("tool %s needs parameter %s (%s): %s", "工具 %s 需要参数 %s（%s）：%s", tool, in.Name, in.Type, in.Description)
		}
		return nil, nil
	}
	c, ok := coerce(in.Type, v)
	if !ok {
		return nil, configFault("tool %s: parameter %s must be a %s, not %s", "工具 %s：参数 %s 必须是 %s，而不是 %s", tool, in.Name, in.Type, pythonType(v))
	}
	if !in.allows(c) {
		return nil, configFault("tool %s: parameter %s must be one of %s", "工具 %s：参数 %s 必须是 %s 之一", tool, in.Name, in.choices())
	}
	if _, note := in.clamp(c); note != nil {
		return nil, configFault("tool %s: parameter %s is out of its range%s", "工具 %s：参数 %s 超出范围%s", tool, in.Name, (&Input{Min: in.Min, Max: in.Max}).rules(""))
	}
	if err := in.paramFits(c); err != nil {
		return nil, configFault("tool %s: parameter %s does not fit its schema", "工具 %s：参数 %s 不符合其结构", tool, in.Name)
	}
	return c, nil
}

func (in *Input) paramFits(v any) error {
	if len(in.Schema) == 0 {
		return nil
	}
	schema, err := resolveSchema(in.Schema)
	if err != nil {
		return err
	}
	return schema.Validate(schemaValue(v))
}

func paramNames(declared []Input) string {
	if len(declared) == 0 {
		return "none"
	}
	names := make([]string, len(declared))
	for i, in := range declared {
		names[i] = in.Name
	}
	return strings.Join(names, ", ")
}

// plainJSON reads one JSON value into plain Go values, whole numbers as int64
// or *big.Int.
func plainJSON(raw []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("more than one JSON value")
	}
	return plainNumbers(v)
}

func plainNumbers(v any) (any, error) {
	var err error
	switch t := v.(type) {
	case json.Number:
		return plainNumber(t)
	case []any:
		for i, e := range t {
			if t[i], err = plainNumbers(e); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for k, e := range t {
			if t[k], err = plainNumbers(e); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}

func plainNumber(n json.Number) (any, error) {
	if i, err := n.Int64(); err == nil {
		return i, nil
	}
	if i, ok := new(big.Int).SetString(string(n), 10); ok {
		return i, nil
	}
	return n.Float64()
}
