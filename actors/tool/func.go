package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/troupe-go/troupe/messages"
)

// Option refines a tool made by [Func].
type Option func(*Spec)

// WithChinese gives the description in Chinese. Without it both languages see
// the English one.
func WithChinese(description string) Option { return func(s *Spec) { s.DescriptionZH = description } }

// WithEffects says what a call changes outside; default [EffectsExternal].
func WithEffects(e Effects) Option { return func(s *Spec) { s.Effects = e } }

// WithState says where what the tool keeps lives; default [StateNone].
func WithState(st State) Option { return func(s *Spec) { s.State = st } }

// WithCategory files the tool; default none.
func WithCategory(c Category) Option { return func(s *Spec) { s.Category = c } }

// WithSign gives the letter of its citations; default none.
func WithSign(sign Sign) Option { return func(s *Spec) { s.Sign = sign } }

// WithResultLimit raises the bytes a result may have.
func WithResultLimit(bytes int) Option { return func(s *Spec) { s.ResultLimit = bytes } }

// Func makes a typed Go function a tool. In is a struct; each exported field
// is an input, in order:
//
//	type WeatherArgs struct {
//		City string   `json:"city" desc:"Name of the city" desc_zh:"城市名"`
//		Days int      `json:"days" desc:"Days ahead" default:"1" min:"1" max:"14"`
//		Unit string   `json:"unit" default:"celsius" enum:"celsius,fahrenheit"`
//		At   *Place   `json:"at"` // a pointer may be left out; nil is None
//	}
//
// Without a json name the input is called as the field in snake case; json:"-"
// leaves a field out. A field must be given unless it is a pointer or has a
// default. A default is text for strings, JSON for all else. Structs, slices
// and maps become a JSON schema, with descriptions from jsonschema tags.
//
// Out is what the call returns: any type that encodes as JSON. fn runs on a
// goroutine of its own, honours ctx, and may be called in parallel; [CallFrom]
// gives it the call, for events and the idempotency key. Reflection happens
// here and when arguments are decoded.
//
// The error is a *messages.Fault of code tool_spec that says which name, field
// or tag is wrong. Without [WithEffects] a tool counts as changing the outside.
func Func[In, Out any](name, description string, fn func(ctx context.Context, in In) (Out, error), opts ...Option) (Tool, error) {
	in := reflect.TypeFor[In]()
	if in.Kind() != reflect.Struct {
		return nil, specFault("tool %s: its argument is %v; make it a struct with a field for each input",
			"工具 %s：参数类型为 %v；请改用结构体，每个字段对应一个参数", name, in)
	}
	if fn == nil {
		return nil, specFault("tool %s has no function", "工具 %s 没有函数", name)
	}
	spec := &Spec{Name: name, Description: description}
	fields, err := fieldInputs(spec, in)
	if err != nil {
		return nil, err
	}
	if err := output(spec, reflect.TypeFor[Out]()); err != nil {
		return nil, err
	}
	for _, o := range opts {
		o(spec)
	}
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	return &funcTool[In, Out]{spec: spec, fields: fields, fn: fn}, nil
}

// funcTool is a function as a Tool.
type funcTool[In, Out any] struct {
	spec   *Spec
	fields map[string]field // by input
	fn     func(context.Context, In) (Out, error)
}

func (t *funcTool[In, Out]) Spec() *Spec { return t.spec }

func (t *funcTool[In, Out]) Call(ctx context.Context, c *Call) (any, error) {
	var in In
	if err := t.fill(&in, c.Args); err != nil {
		return nil, t.spec.valueError("can't take its arguments: %v", "无法接收参数：%v", err)
	}
	if CallFrom(ctx) != c {
		ctx = context.WithValue(ctx, callKey{}, c)
	}
	return t.fn(ctx, in)
}

// fill sets the fields of in, by way of JSON where a value is no text, number
// or boolean. A nil leaves its field at the zero value.
func (t *funcTool[In, Out]) fill(in *In, args map[string]any) error {
	if t.put(reflect.ValueOf(in).Elem(), args) {
		return nil
	}
	raw, err := t.object(args)
	if err != nil {
		return err
	}
	var none In
	*in = none
	return json.Unmarshal(raw, in)
}

// put sets the fields to the values as they are, or says that it can't.
func (t *funcTool[In, Out]) put(in reflect.Value, args map[string]any) bool {
	for i := range t.spec.Inputs {
		name := t.spec.Inputs[i].Name
		v := args[name]
		if v == nil {
			continue
		}
		if f := t.fields[name]; !f.direct || !put(in.Field(f.index), v) {
			return false
		}
	}
	return true
}

// object writes the arguments as the JSON object that In is read from.
func (t *funcTool[In, Out]) object(args map[string]any) ([]byte, error) {
	b := append(make([]byte, 0, 128), '{')
	for i := range t.spec.Inputs {
		name := t.spec.Inputs[i].Name
		v := args[name]
		if v == nil {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(messages.AppendJSONString(b, t.fields[name].key), ':')
		switch v := v.(type) {
		case string:
			b = messages.AppendJSONString(b, v)
		case int64:
			b = strconv.AppendInt(b, v, 10)
		default:
			raw, err := json.Marshal(v)
			if err != nil {
				return nil, err
			}
			b = append(b, raw...)
		}
	}
	return append(b, '}'), nil
}

type callKey struct{}

// CallFrom gives a function of [Func] the call it serves; nil elsewhere.
func CallFrom(ctx context.Context) *Call {
	c, _ := ctx.Value(callKey{}).(*Call)
	return c
}

// output tells the result's type, and its schema when there is more to say.
func output(s *Spec, t reflect.Type) error {
	schema, err := schemaOf(t)
	if err != nil {
		return specFault("tool %s: its result %v can't be told as JSON schema", "工具 %s：返回类型 %v 无法表示为 JSON Schema", s.Name, t).With(err)
	}
	s.OutputType = schemaType(schema)
	s.OutputSchema, err = moreThanType(schema)
	return err
}

// schemaOf infers a type's schema. json.RawMessage is any JSON.
func schemaOf(t reflect.Type) (*jsonschema.Schema, error) {
	return jsonschema.ForType(t, &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[json.RawMessage](): {},
	}})
}

// schemaType gives a schema's one type beside null; any when it has none.
func schemaType(s *jsonschema.Schema) string {
	if s.Type != "" {
		return s.Type
	}
	found := TypeAny
	for _, t := range s.Types {
		switch {
		case t == "null":
		case found != TypeAny:
			return TypeAny
		default:
			found = t
		}
	}
	return found
}

// moreThanType gives the schema without null, or nothing when it says no more
// than its type.
func moreThanType(s *jsonschema.Schema) (json.RawMessage, error) {
	typ := schemaType(s)
	if typ == TypeAny {
		return nil, nil
	}
	s.Type, s.Types = typ, nil
	raw, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("encode schema: %w", err)
	}
	if string(raw) == `{"type":"`+typ+`"}` {
		return nil, nil
	}
	return raw, nil
}

// snake turns FilePath into file_path and URL into url.
func snake(name string) string {
	var b strings.Builder
	upper := func(i int) bool { return i < len(name) && 'A' <= name[i] && name[i] <= 'Z' }
	for i := range len(name) {
		if upper(i) && i > 0 && (!upper(i-1) || i+1 < len(name) && !upper(i+1)) && name[i-1] != '_' {
			b.WriteByte('_')
		}
		b.WriteByte(name[i])
	}
	return strings.ToLower(b.String())
}
