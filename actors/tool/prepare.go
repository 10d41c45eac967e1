package tool

import (
	"encoding/json"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"

	"github.com/troupe-go/troupe/actors/python/value"
	"github.com/troupe-go/troupe/messages"
	"github.com/troupe-go/troupe/messages/fact"
)

// Prepared is a call that was checked: what the tool will see, and what people
// and the log see.
type Prepared struct {
	Args      map[string]any  // every input's value, see [Spec.Bind]
	Arguments json.RawMessage // of the TOOL event: a JSON object of the arguments given, in declared order
	Hash      string          // fact.CallHash of the call
	Notes     []Note          // what was not used as it was given; whoever announces the call tells
}

// maxArgumentText bounds the bytes of one text in a TOOL event.
const maxArgumentText = 64 << 10

// MaxArguments bounds the bytes of one call's encoded arguments: they are
// checked, logged and shown as a whole.
const MaxArguments = 1 << 20

// Prepare checks a call against the tool's inputs and [MaxArguments]. The error
// is what the model's code sees as exception, in the language.
func Prepare(s *Spec, c *messages.CallTool, lang string) (*Prepared, *messages.ToolError) {
	if size := argumentBytes(c); size > MaxArguments {
		return nil, toolError(s.valueError(
			"got arguments of %d bytes, more than the %d allowed; pass less at once, or write the data to a workspace file, in parts, and pass its path",
			"的参数共 %d 字节，超过上限 %d；请减少单次传入的数据，或分批写入工作区文件后传入其路径", size, MaxArguments), lang)
	}
	args, kwargs, err := plainArguments(c)
	if err != nil {
		return nil, toolError(s.valueError("got arguments that can't be read: %v", "的参数无法读取：%v", err), lang)
	}
	bound, notes, err := s.Bind(args, kwargs)
	if err != nil {
		return nil, toolError(err, lang)
	}
	return &Prepared{
		Args:      bound,
		Arguments: s.arguments(len(args), kwargs, bound),
		Hash:      fact.CallHash(c.Tool, c.Args, c.Kwargs),
		Notes:     notes,
	}, nil
}

func argumentBytes(c *messages.CallTool) int {
	size := len(c.Kwargs)
	for _, raw := range c.Args {
		size += len(raw)
	}
	return size
}

func plainArguments(c *messages.CallTool) ([]any, map[string]any, error) {
	args := make([]any, len(c.Args))
	for i, raw := range c.Args {
		v, err := value.Plain(raw)
		if err != nil {
			return nil, nil, err
		}
		args[i] = v
	}
	kwargs, err := value.PlainFields(c.Kwargs)
	return args, kwargs, err
}

// arguments shows the arguments that were given: texts, numbers and the like
// as they are, tools by their name, what JSON can't hold as text.
func (s *Spec) arguments(positional int, kwargs, bound map[string]any) json.RawMessage {
	b := append(make([]byte, 0, 128), '{')
	for i := range s.Inputs {
		name := s.Inputs[i].Name
		if _, named := kwargs[name]; i >= positional && !named {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(messages.AppendJSONString(b, name), ':')
		b = appendArgument(b, bound[name])
	}
	return append(b, '}')
}

func appendArgument(b []byte, v any) []byte {
	switch t := v.(type) {
	case nil:
		return append(b, "null"...)
	case bool:
		return strconv.AppendBool(b, t)
	case string:
		return messages.AppendJSONString(b, clip(t, maxArgumentText))
	case int64:
		return strconv.AppendInt(b, t, 10)
	case *big.Int:
		return t.Append(b, 10)
	case float64:
		if !math.IsNaN(t) && !math.IsInf(t, 0) {
			return strconv.AppendFloat(b, t, 'g', -1, 64)
		}
	case value.Tool:
		return messages.AppendJSONString(b, string(t))
	case []any:
		return appendArgumentList(b, t)
	case map[string]any:
		return appendArgumentMap(b, t)
	}
	raw, err := value.Tagged(v)
	if err != nil { // Bind lets only values of package value through
		return append(b, "null"...)
	}
	return messages.AppendJSONString(b, clip(value.Text(raw), maxArgumentText))
}

func appendArgumentList(b []byte, list []any) []byte {
	b = append(b, '[')
	for i, e := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendArgument(b, e)
	}
	return append(b, ']')
}

func appendArgumentMap(b []byte, m map[string]any) []byte {
	b = append(b, '{')
	for i, k := range slices.Sorted(maps.Keys(m)) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(messages.AppendJSONString(b, k), ':')
		b = appendArgument(b, m[k])
	}
	return append(b, '}')
}
