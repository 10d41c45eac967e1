package tool

import (
	"cmp"
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

// field is where an input's value goes.
type field struct {
	key    string // by which JSON finds it
	index  int    // in the struct
	direct bool   // a value of its kind can be put there as it is
}

// fieldInputs fills the spec's inputs from the fields of a struct and gives
// the field of each.
func fieldInputs(s *Spec, t reflect.Type) (map[string]field, error) {
	fields := make(map[string]field, t.NumField())
	for i := range t.NumField() {
		f := t.Field(i)
		jsonName, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || jsonName == "-" {
			continue
		}
		if f.Anonymous {
			return nil, specFault("tool %s: field %s is embedded; give it a name of its own", "工具 %s：字段 %s 是嵌入字段；请为其命名", s.Name, f.Name)
		}
		in, err := fieldInput(s.Name, f, jsonName)
		if err != nil {
			return nil, err
		}
		fields[in.Name] = field{key: cmp.Or(jsonName, f.Name), index: i, direct: options == "" && isDirect(f.Type)}
		s.Inputs = append(s.Inputs, *in)
	}
	return fields, nil
}

func fieldInput(tool string, f reflect.StructField, name string) (*Input, error) {
	schema, err := schemaOf(f.Type)
	if err != nil || isBytes(f.Type) {
		return nil, specFault("tool %s: field %s has type %v, which arguments can't fill; use strings, numbers, booleans, slices, maps or structs",
			"工具 %s：字段 %s 的类型 %v 无法由参数填充；请使用字符串、数值、布尔、切片、映射或结构体", tool, f.Name, f.Type)
	}
	if name == "" {
		name = snake(f.Name)
	}
	in := &Input{
		Name:          name,
		Type:          schemaType(schema),
		Description:   f.Tag.Get("desc"),
		DescriptionZH: f.Tag.Get("desc_zh"),
		Nullable:      f.Type.Kind() == reflect.Pointer,
	}
	if in.Schema, err = moreThanType(schema); err != nil {
		return nil, err
	}
	if err := in.readTags(tool, f); err != nil {
		return nil, err
	}
	in.Required = in.Default == nil && !in.Nullable
	return in, nil
}

// isDirect reports whether JSON means a type's plain values and nothing else.
func isDirect(t reflect.Type) bool {
	if t.PkgPath() != "" { // it may read JSON in a way of its own
		return false
	}
	switch t.Kind() {
	case reflect.String, reflect.Bool, reflect.Float64, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return true
	}
	return false
}

// put sets a direct field to a plain value; false says that it doesn't fit.
func put(to reflect.Value, v any) bool {
	switch v := v.(type) {
	case string:
		if to.Kind() != reflect.String || !utf8.ValidString(v) {
			return false
		}
		to.SetString(v)
	case bool:
		if to.Kind() != reflect.Bool {
			return false
		}
		to.SetBool(v)
	case int64:
		if !to.CanInt() || to.OverflowInt(v) {
			return false
		}
		to.SetInt(v)
	case float64:
		if to.Kind() != reflect.Float64 || math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
		to.SetFloat(v)
	default:
		return false
	}
	return true
}

func isBytes(t reflect.Type) bool {
	return t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8 && t != reflect.TypeFor[json.RawMessage]()
}

// readTags takes default, enum, min and max.
func (in *Input) readTags(tool string, f reflect.StructField) error {
	bad := func(tag, text string) error {
		return specFault("tool %s: field %s has %s:%q, which is no %s", "工具 %s：字段 %s 的 %s:%q 不是 %s", tool, f.Name, tag, text, in.Type)
	}
	if text, ok := f.Tag.Lookup("default"); ok {
		v, ok := in.parse(text)
		if !ok {
			return bad("default", text)
		}
		in.Default = v
	}
	if text, ok := f.Tag.Lookup("enum"); ok {
		for word := range strings.SplitSeq(text, ",") {
			v, ok := in.parse(strings.TrimSpace(word))
			if !ok {
				return bad("enum", text)
			}
			in.Enum = append(in.Enum, v)
		}
	}
	for tag, to := range map[string]**float64{"min": &in.Min, "max": &in.Max} {
		text, ok := f.Tag.Lookup(tag)
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return bad(tag, text)
		}
		*to = &n
	}
	return nil
}

// parse reads a tag's text as a value of the input: text for a string, JSON
// for all else.
func (in *Input) parse(text string) (any, bool) {
	if in.Type == TypeString {
		return text, true
	}
	v, err := plainJSON([]byte(text))
	if err != nil || v == nil {
		return nil, false
	}
	return coerce(in.Type, v)
}
