package tool

import (
	"fmt"
	"math"
	"math/big"
	"unicode/utf8"

	"github.com/troupe-go/troupe/actors/python/value"
)

// coerce turns v into the type, without losing anything: an integer serves as
// a number, a whole float as an integer; a text is never a number.
func coerce(typ string, v any) (any, bool) {
	switch typ {
	case TypeString:
		_, ok := v.(string)
		return v, ok
	case TypeInteger:
		return toInteger(v)
	case TypeNumber:
		return toNumber(v)
	case TypeBoolean:
		_, ok := v.(bool)
		return v, ok
	case TypeArray:
		_, ok := v.([]any)
		return v, ok
	case TypeObject:
		_, ok := v.(map[string]any)
		return v, ok
	default:
		return v, true
	}
}

func toInteger(v any) (any, bool) {
	switch n := v.(type) {
	case int64, *big.Int:
		return v, true
	case int:
		return int64(n), true
	case float64:
		if math.IsInf(n, 0) || n != math.Trunc(n) {
			return nil, false
		}
		if math.Abs(n) < 1<<63 {
			return int64(n), true
		}
		i, _ := big.NewFloat(n).Int(nil)
		return i, true
	}
	return nil, false
}

func toNumber(v any) (any, bool) {
	switch n := v.(type) {
	case float64:
		return v, true
	case int64:
		return float64(n), true
	case int:
		return float64(n), true
	case *big.Int:
		f, _ := new(big.Float).SetInt(n).Float64()
		return f, !math.IsInf(f, 0)
	}
	return nil, false
}

func scalar(v any) bool {
	switch v.(type) {
	case string, bool, int, int64, float64:
		return true
	}
	return false
}

// allows reports whether a coerced value is one of the enum's, when there is
// one.
func (in *Input) allows(v any) bool {
	if len(in.Enum) == 0 {
		return true
	}
	if !scalar(v) {
		return false
	}
	for _, e := range in.Enum {
		if c, ok := coerce(in.Type, e); ok && c == v {
			return true
		}
	}
	return false
}

// clamp moves a number into the input's range and says so.
func (in *Input) clamp(v any) (any, *Note) {
	if in.Min == nil && in.Max == nil {
		return v, nil
	}
	f, ok := toNumber(v)
	if !ok { // an integer beyond every float
		n, big := v.(*big.Int)
		if !big {
			return v, nil
		}
		f = math.Inf(n.Sign())
	}
	switch {
	case in.Max != nil && f.(float64) > *in.Max:
		used := in.bound(math.Floor(*in.Max), *in.Max)
		return used, newNote("%s=%s is above the greatest value allowed; %v was used", "%s=%s 超过允许的最大值，已改用 %v", in.Name, shortValue(v), used)
	case in.Min != nil && f.(float64) < *in.Min:
		used := in.bound(math.Ceil(*in.Min), *in.Min)
		return used, newNote("%s=%s is below the least value allowed; %v was used", "%s=%s 低于允许的最小值，已改用 %v", in.Name, shortValue(v), used)
	}
	return v, nil
}

func (in *Input) bound(whole, exact float64) any {
	if in.Type == TypeInteger {
		return int64(whole)
	}
	return exact
}

// schemaValue gives v in the types a JSON schema validator knows.
func schemaValue(v any) any {
	switch t := v.(type) {
	case *big.Int:
		f, _ := new(big.Float).SetInt(t).Float64()
		return f
	case []byte, value.Tool:
		return fmt.Sprintf("%s", t)
	case []any:
		out := make([]any, len(t))
		for i, e := range t {
			out[i] = schemaValue(e)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(t))
		for k, e := range t {
			out[k] = schemaValue(e)
		}
		return out
	}
	return v
}

// pythonType names the Python class of a plain value.
func pythonType(v any) string {
	switch v.(type) {
	case nil:
		return "None"
	case string:
		return "str"
	case bool:
		return "bool"
	case int64, *big.Int:
		return "int"
	case float64:
		return "float"
	case []byte:
		return "bytes"
	case []any:
		return "list"
	case map[string]any:
		return "dict"
	case value.Tool:
		return "function"
	}
	return fmt.Sprintf("%T", v)
}

// shortValue shows a value for an error, bounded.
func shortValue(v any) string {
	switch t := v.(type) {
	case string:
		return fmt.Sprintf("%q", clip(t, 80))
	case *big.Int:
		if t.BitLen() > 256 {
			return fmt.Sprintf("<integer of %d bits>", t.BitLen())
		}
		return t.String()
	case []any, map[string]any, []byte:
		return "a " + pythonType(v)
	case value.Tool:
		return string(t)
	}
	return fmt.Sprint(v)
}

// clip cuts s to at most limit bytes, at a character, and marks the cut.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	cut := limit
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return fmt.Sprintf("%s… (+%d bytes)", s[:cut], len(s)-cut)
}
