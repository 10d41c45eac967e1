package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/troupe-go/troupe/messages"
)

var pythonTypes = map[string]string{
	TypeString: "str", TypeInteger: "int", TypeNumber: "float", TypeBoolean: "bool",
	TypeArray: "list", TypeObject: "dict", TypeAny: "Any", "": "Any",
}

// Header is the tool as the head of a Python function, without def and colon:
//
//	read_file(file_path: str, encoding: str = "utf-8") -> str
func (s *Spec) Header() string {
	var b strings.Builder
	b.WriteString(s.Name + "(")
	for i := range s.Inputs {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(s.Inputs[i].parameter())
	}
	b.WriteString(") -> " + pythonTypes[s.OutputType])
	return b.String()
}

func (in *Input) parameter() string {
	annotated := in.Name + ": " + in.annotation()
	switch {
	case in.Required:
		return annotated
	case in.Default == nil && in.Type != TypeAny:
		return annotated + " | None = None"
	default:
		return annotated + " = " + pythonLiteral(in.Default)
	}
}

// annotation names the items of a list where the schema tells their type.
func (in *Input) annotation() string {
	if in.Type != TypeArray || len(in.Schema) == 0 {
		return pythonTypes[in.Type]
	}
	var schema struct {
		Items struct {
			Type any `json:"type"`
		} `json:"items"`
	}
	if err := json.Unmarshal(in.Schema, &schema); err != nil { // tuple schemas have a list of items
		return pythonTypes[in.Type]
	}
	if item, ok := schema.Items.Type.(string); ok && pythonTypes[item] != "" {
		return "list[" + pythonTypes[item] + "]"
	}
	return pythonTypes[in.Type]
}

// Signature is the tool for a prompt: a Python function with a docstring in
// the language (description, Args, Returns).
func (s *Spec) Signature(lang string) string {
	var b strings.Builder
	b.WriteString("def " + s.Header() + ":\n")
	b.WriteString(`    """` + docText(s.Text(lang), "    ") + "\n")
	if len(s.Inputs) > 0 {
		b.WriteString("\n    Args:\n")
	}
	for i := range s.Inputs {
		in := &s.Inputs[i]
		doc := in.Name + ": " + docText(in.Text(lang)+in.rules(lang), "            ")
		b.WriteString("        " + strings.TrimSpace(doc) + "\n")
	}
	b.WriteString("\n    Returns:\n        " + pythonTypes[s.OutputType])
	if len(s.OutputSchema) > 0 {
		b.WriteString(pick(lang, ", as this JSON schema says: ", "，结构如此 JSON Schema：") + docText(compact(s.OutputSchema), "        "))
	}
	b.WriteString("\n    \"\"\"")
	return b.String()
}

// rules says in words what an input allows beside its type.
func (in *Input) rules(lang string) string {
	var rules []string
	if len(in.Enum) > 0 {
		rules = append(rules, pick(lang, "one of ", "可选值：")+in.choices())
	}
	if in.Min != nil {
		rules = append(rules, pick(lang, "at least ", "最小 ")+pythonLiteral(*in.Min))
	}
	if in.Max != nil {
		rules = append(rules, pick(lang, "at most ", "最大 ")+pythonLiteral(*in.Max))
	}
	if len(in.Schema) > 0 {
		rules = append(rules, pick(lang, "JSON schema: ", "JSON Schema：")+compact(in.Schema))
	}
	if len(rules) == 0 {
		return ""
	}
	if lang == messages.ZH {
		return "（" + strings.Join(rules, "；") + "）"
	}
	return " (" + strings.Join(rules, "; ") + ")"
}

// docText keeps a text inside its docstring and indents its later lines.
func docText(s, indent string) string {
	s = strings.ReplaceAll(strings.TrimSpace(s), `\`, `\\`)
	s = strings.ReplaceAll(s, `"""`, `'''`)
	return strings.ReplaceAll(s, "\n", "\n"+indent)
}

func compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		return string(raw)
	}
	return b.String()
}

// pythonLiteral writes a plain value as Python source.
func pythonLiteral(v any) string {
	switch t := v.(type) {
	case nil:
		return "None"
	case bool:
		if t {
			return "True"
		}
		return "False"
	case string:
		return quote(t)
	case float64:
		if t == math.Trunc(t) && math.Abs(t) < 1e15 {
			return strconv.FormatFloat(t, 'f', -1, 64)
		}
		return strconv.FormatFloat(t, 'g', -1, 64)
	case []any:
		items := make([]string, len(t))
		for i, e := range t {
			items[i] = pythonLiteral(e)
		}
		return "[" + strings.Join(items, ", ") + "]"
	case map[string]any:
		items := make([]string, 0, len(t))
		for _, k := range slices.Sorted(maps.Keys(t)) {
			items = append(items, quote(k)+": "+pythonLiteral(t[k]))
		}
		return "{" + strings.Join(items, ", ") + "}"
	}
	return fmt.Sprint(v)
}

// quote writes a string that JSON and Python both read, non-ASCII unescaped.
func quote(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil { // a string always encodes
		return `""`
	}
	return strings.TrimSuffix(b.String(), "\n")
}
