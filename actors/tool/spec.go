package tool

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/troupe-go/troupe/messages"
)

// The types of inputs and results.
const (
	TypeString  = "string"
	TypeInteger = "integer"
	TypeNumber  = "number"
	TypeBoolean = "boolean"
	TypeArray   = "array"
	TypeObject  = "object"
	TypeAny     = "any"
)

var types = []string{TypeString, TypeInteger, TypeNumber, TypeBoolean, TypeArray, TypeObject, TypeAny}

// Validate checks the whole description and prepares the inputs' schemas, so
// that Bind needn't. Call it once, before the Spec is shared. The error is a
// *messages.Fault that names what is wrong.
func (s *Spec) Validate() error {
	if err := checkName(s.Name); err != nil {
		return err
	}
	if s.Description == "" {
		return specFault("tool %s has no description; models need one to choose it", "工具 %s 没有描述；模型需要描述才能选用它", s.Name)
	}
	if err := s.checkConstants(); err != nil {
		return err
	}
	if err := checkInputs(s.Name, s.Inputs); err != nil {
		return err
	}
	if err := checkInputs(s.Name, s.Constructor); err != nil {
		return err
	}
	schemas, err := resolveSchemas(s.Name, s.Inputs)
	if err != nil {
		return err
	}
	s.schemas = schemas
	return nil
}

func (s *Spec) checkConstants() error {
	for _, c := range []struct {
		what, value string
		valid       bool
	}{
		{"output type", s.OutputType, slices.Contains(types, s.OutputType)},
		{"category", string(s.Category), s.Category.valid()},
		{"sign", string(s.Sign), s.Sign.valid()},
		{"effects", string(s.Effects), s.Effects.valid()},
		{"state", string(s.State), s.State.valid()},
	} {
		if !c.valid {
			return specFault("tool %s: unknown %s %q; use a constant of package tool",
				"工具 %s：未知的 %s %q；请使用 tool 包中的常量", s.Name, c.what, c.value)
		}
	}
	return nil
}

func (c Category) valid() bool {
	switch c {
	case "", CategorySearch, CategoryFile, CategoryEmail, CategoryTerminal, CategoryMultimodal,
		CategoryDatabase, CategoryMemory, CategorySkill, CategoryPlanning:
		return true
	}
	return false
}

func (e Effects) valid() bool {
	return e == "" || e == EffectsNone || e == EffectsIdempotent || e == EffectsExternal
}

func (s State) valid() bool {
	return s == "" || s == StateNone || s == StateWorkspace || s == StateNode
}

// Begins reports whether a call changes something outside, so that its intent
// stands on the log before it starts.
func (e Effects) Begins() bool { return e != EffectsNone }

func (e Effects) external() bool { return e == "" || e == EffectsExternal }

// checkInputs checks each input and their order: as in Python, one that must
// be given doesn't follow one that may be left out.
func checkInputs(tool string, inputs []Input) error {
	optional := ""
	seen := make(map[string]bool, len(inputs))
	for i := range inputs {
		in := &inputs[i]
		if seen[in.Name] {
			return specFault("tool %s: input %s is there twice", "工具 %s：参数 %s 重复", tool, in.Name)
		}
		seen[in.Name] = true
		if err := in.check(tool); err != nil {
			return err
		}
		if !in.Required {
			optional = in.Name
		} else if optional != "" {
			return specFault("tool %s: input %s must be given but follows %s, which may be left out; put it first",
				"工具 %s：必填参数 %s 位于可选参数 %s 之后；请将其前移", tool, in.Name, optional)
		}
	}
	return nil
}

func (in *Input) check(tool string) error {
	bad := func(en, zh string, args ...any) error {
		return specFault("tool %s: input %s "+en, "工具 %s：参数 %s "+zh, append([]any{tool, in.Name}, args...)...)
	}
	if !identifier(in.Name) || slices.Contains(pythonKeywords, in.Name) {
		return bad("has a name that is no Python identifier", "的名称不是合法的 Python 标识符")
	}
	if !slices.Contains(types, in.Type) {
		return bad("has unknown type %q; use one of %v", "的类型 %q 未知；可用：%v", in.Type, types)
	}
	if in.Required && (in.Default != nil || in.Nullable) {
		return bad("is required, yet has a default or may be null", "为必填，却又有默认值或可为空")
	}
	if in.Min != nil && in.Max != nil && *in.Min > *in.Max || in.emptyRange() {
		return bad("has a range that holds nothing", "的取值范围为空")
	}
	if (in.Min != nil || in.Max != nil) && in.Type != TypeInteger && in.Type != TypeNumber {
		return bad("has a range but is no number", "有取值范围但不是数值类型")
	}
	for _, e := range in.Enum {
		if _, ok := coerce(in.Type, e); !ok || !scalar(e) {
			return bad("lists %v, which is no %s", "的枚举值 %v 不是 %s", e, in.Type)
		}
	}
	return in.checkDefault(bad)
}

// emptyRange finds a range of integers between two neighbours.
func (in *Input) emptyRange() bool {
	return in.Type == TypeInteger && in.Min != nil && in.Max != nil && math.Ceil(*in.Min) > math.Floor(*in.Max)
}

func (in *Input) checkDefault(bad func(en, zh string, args ...any) error) error {
	if in.Default == nil {
		return nil
	}
	v, ok := coerce(in.Type, in.Default)
	if !ok {
		return bad("has default %v, which is no %s", "的默认值 %v 不是 %s", in.Default, in.Type)
	}
	if !in.allows(v) {
		return bad("has default %v, which is none of its values", "的默认值 %v 不在枚举值内", in.Default)
	}
	if _, note := in.clamp(v); note != nil {
		return bad("has default %v, which is out of its range", "的默认值 %v 超出取值范围", in.Default)
	}
	return nil
}

func resolveSchemas(tool string, inputs []Input) (map[string]*jsonschema.Resolved, error) {
	var schemas map[string]*jsonschema.Resolved
	for _, in := range inputs {
		if len(in.Schema) == 0 {
			continue
		}
		r, err := resolveSchema(in.Schema)
		if err != nil {
			return nil, specFault("tool %s: the schema of input %s can't be used", "工具 %s：参数 %s 的 JSON Schema 无法使用", tool, in.Name).With(err)
		}
		if schemas == nil {
			schemas = make(map[string]*jsonschema.Resolved)
		}
		schemas[in.Name] = r
	}
	return schemas, nil
}

func resolveSchema(raw json.RawMessage) (*jsonschema.Resolved, error) {
	var schema jsonschema.Schema
	if err := json.Unmarshal(raw, &schema); err != nil {
		return nil, fmt.Errorf("not a JSON schema: %w", err)
	}
	return schema.Resolve(nil)
}

// schema gives an input's prepared schema, or prepares it when the Spec was
// not validated.
func (s *Spec) schema(in *Input) (*jsonschema.Resolved, error) {
	if r := s.schemas[in.Name]; r != nil || len(in.Schema) == 0 {
		return r, nil
	}
	return resolveSchema(in.Schema)
}

// Text gives the description in a language; English when there is none.
func (s *Spec) Text(lang string) string { return pick(lang, s.Description, s.DescriptionZH) }

// Text gives the description in a language; English when there is none.
func (in *Input) Text(lang string) string { return pick(lang, in.Description, in.DescriptionZH) }

func pick(lang, en, zh string) string {
	if lang == messages.ZH && zh != "" {
		return zh
	}
	return en
}
