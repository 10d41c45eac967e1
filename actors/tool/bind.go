package tool

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/troupe-go/troupe/messages"
)

// Note says that an argument was not used as it was given.
type Note struct{ EN, ZH string }

// In gives the text in a language.
func (n *Note) In(lang string) string { return pick(lang, n.EN, n.ZH) }

func newNote(en, zh string, args ...any) *Note {
	return &Note{EN: fmt.Sprintf(en, args...), ZH: fmt.Sprintf(zh, args...)}
}

// Bind gives each input its value as Python would: positional arguments in
// declared order, then keywords. A missing argument, and an explicit nil for
// one with a default, means the default. Values are checked against type, enum
// and schema and turned only where nothing is lost; a number beyond its range
// is clamped, and a Note says so. The map holds every input's name.
//
// Values are the plain Go values of package value. The error is an *Exception
// of class TypeError or ValueError that names the signature.
func (s *Spec) Bind(args []any, kwargs map[string]any) (map[string]any, []Note, error) {
	var few [8]given // most tools have no more inputs: no allocation
	given := append(few[:0], make([]given, len(s.Inputs))...)
	if err := s.assign(given, args, kwargs); err != nil {
		return nil, nil, err
	}
	if err := s.missing(given); err != nil {
		return nil, nil, err
	}
	var notes []Note
	bound := make(map[string]any, len(s.Inputs))
	for i := range s.Inputs {
		in := &s.Inputs[i]
		v, note, err := s.settle(in, given[i].value)
		if err != nil {
			return nil, nil, err
		}
		if note != nil {
			notes = append(notes, *note)
		}
		bound[in.Name] = v
	}
	return bound, notes, nil
}

// given is what a call gives for one input.
type given struct {
	value any
	there bool
}

// assign says, for each input, which argument is for it.
func (s *Spec) assign(all []given, args []any, kwargs map[string]any) error {
	if len(args) > len(s.Inputs) {
		return s.typeError("takes %s but %d were given", "接受 %s，但传入了 %d 个", s.arity(), len(args))
	}
	for i, v := range args {
		all[i] = given{v, true}
	}
	named := 0
	for i := range s.Inputs {
		v, ok := kwargs[s.Inputs[i].Name]
		if ok && all[i].there {
			return s.misnamed(len(args), kwargs)
		}
		if ok {
			all[i] = given{v, true}
			named++
		}
	}
	if named < len(kwargs) {
		return s.misnamed(len(args), kwargs)
	}
	return nil
}

// misnamed is the error of keyword arguments of which at least one is wrong.
func (s *Spec) misnamed(positional int, kwargs map[string]any) error {
	for _, name := range slices.Sorted(maps.Keys(kwargs)) {
		switch i := slices.IndexFunc(s.Inputs, func(in Input) bool { return in.Name == name }); {
		case i < 0:
			return s.typeError("got an unexpected keyword argument '%s'", "收到未知的关键字参数 '%s'", clip(name, 80))
		case i < positional:
			return s.typeError("got multiple values for argument '%s'", "参数 '%s' 收到多个值", name)
		}
	}
	return nil
}

func (s *Spec) arity() string {
	least, most := 0, len(s.Inputs)
	for _, in := range s.Inputs {
		if in.Required {
			least++
		}
	}
	noun := "positional arguments"
	if most == 1 {
		noun = "positional argument"
	}
	if least == most {
		return fmt.Sprintf("%d %s", most, noun)
	}
	return fmt.Sprintf("from %d to %d %s", least, most, noun)
}

func (s *Spec) missing(all []given) error {
	var names []string
	for i, g := range all {
		if !g.there && s.Inputs[i].Required {
			names = append(names, "'"+s.Inputs[i].Name+"'")
		}
	}
	switch len(names) {
	case 0:
		return nil
	case 1:
		return s.typeError("missing 1 required positional argument: %s", "缺少必填参数：%s", names[0])
	}
	last := len(names) - 1
	list := strings.Join(names[:last], ", ") + " and " + names[last]
	return s.typeError(fmt.Sprintf("missing %d required positional arguments: %%s", len(names)), "缺少必填参数：%s", list)
}

// settle gives one input its checked value.
func (s *Spec) settle(in *Input, v any) (any, *Note, error) {
	if v == nil {
		v = in.Default
	}
	if v == nil {
		if in.Required {
			return nil, nil, s.typeError("argument '%s' must be %s, not None", "的参数 '%s' 必须是 %s，不能是 None", in.Name, pythonTypes[in.Type])
		}
		return nil, nil, nil
	}
	c, ok := coerce(in.Type, v)
	if !ok {
		return nil, nil, s.typeError("argument '%s' must be %s, not %s (%s)", "的参数 '%s' 必须是 %s，而不是 %s（%s）",
			in.Name, pythonTypes[in.Type], pythonType(v), shortValue(v))
	}
	if !in.allows(c) {
		return nil, nil, s.valueError("argument '%s' must be one of %s, not %s", "的参数 '%s' 必须是 %s 之一，而不是 %s",
			in.Name, in.choices(), shortValue(v))
	}
	if f, isFloat := c.(float64); isFloat && math.IsNaN(f) && (in.Min != nil || in.Max != nil) {
		return nil, nil, s.valueError("argument '%s' is not a number", "的参数 '%s' 不是数值（NaN）", in.Name)
	}
	c, note := in.clamp(c)
	return c, note, s.fits(in, c)
}

// fits checks a value against the input's schema.
func (s *Spec) fits(in *Input, v any) error {
	schema, err := s.schema(in)
	if err != nil {
		return specFault("tool %s: the schema of input %s can't be used", "工具 %s：参数 %s 的 JSON Schema 无法使用", s.Name, in.Name).With(err)
	}
	if schema == nil {
		return nil
	}
	if err := schema.Validate(schemaValue(v)); err != nil {
		return s.valueError("argument '%s' does not fit its schema: %s", "的参数 '%s' 不符合其结构：%s", in.Name, clip(err.Error(), 500))
	}
	return nil
}

func (in *Input) choices() string {
	list := make([]string, len(in.Enum))
	for i, e := range in.Enum {
		list[i] = pythonLiteral(e)
	}
	return strings.Join(list, ", ")
}

func (s *Spec) typeError(en, zh string, args ...any) error {
	return s.argumentError(ClassTypeError, en, zh, args...)
}

func (s *Spec) valueError(en, zh string, args ...any) error {
	return s.argumentError(ClassValueError, en, zh, args...)
}

func (s *Spec) argumentError(class, en, zh string, args ...any) error {
	return &Exception{Class: class, Fault: &messages.Fault{
		Code:  CodeArguments,
		Class: messages.Expected,
		EN:    s.Name + "() " + fmt.Sprintf(en, args...) + "; its signature is " + s.Header(),
		ZH:    s.Name + "() " + fmt.Sprintf(zh, args...) + "；其签名为 " + s.Header(),
	}}
}
