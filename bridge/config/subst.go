package config

import (
	"strings"
)

// maxSubstituted bounds a scalar once its variables are put in.
const maxSubstituted = 1 << 20

// substituted is a scalar after its variables were put in.
type substituted struct {
	text    string
	used    bool     // it holds a variable
	missing []string // variables that aren't set and have no default
	broken  string   // the part that isn't a well-formed ${NAME} or ${NAME:-default}
}

// substitute puts variables into s. Values are taken as they are: a variable
// named in a value is not looked up.
func substitute(s string, env Env) substituted {
	var out substituted
	var b strings.Builder
	out.expand(&b, s, env, 0)
	out.text = b.String()
	return out
}

func (out *substituted) expand(b *strings.Builder, s string, env Env, depth int) {
	for s != "" && out.broken == "" {
		i := strings.Index(s, "${")
		if i < 0 {
			b.WriteString(s)
			return
		}
		if i > 0 && s[i-1] == '$' { // $${ stands for ${
			b.WriteString(s[:i-1] + "${")
			s = s[i+2:]
			continue
		}
		b.WriteString(s[:i])
		body, rest, ok := variable(s[i:])
		if !ok || depth >= maxDepth {
			out.broken = "${"
			return
		}
		out.used = true
		out.put(b, body, env, depth)
		if b.Len() > maxSubstituted {
			out.broken = "${"
		}
		s = rest
	}
}

// put writes the value of NAME or NAME:-default.
func (out *substituted) put(b *strings.Builder, body string, env Env, depth int) {
	name, fallback, hasDefault := strings.Cut(body, ":-")
	if !variableName(name) {
		out.broken = "${"
		return
	}
	value, set := env(name)
	switch {
	case set && (value != "" || !hasDefault):
		b.WriteString(value)
	case hasDefault:
		out.expand(b, fallback, env, depth+1)
	default:
		out.missing = append(out.missing, name)
	}
}

// variable splits "${body}rest"; braces of variables inside the default pair.
func variable(s string) (body, rest string, ok bool) {
	open := 0
	for i := 0; i < len(s); i++ {
		switch {
		case strings.HasPrefix(s[i:], "${"):
			open++
			i++
		case s[i] == '}':
			if open--; open == 0 {
				return s[2:i], s[i+1:], true
			}
		}
	}
	return "", "", false
}

func variableName(s string) bool {
	for i, r := range s {
		letter := r == '_' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != ""
}

// masked shows a scalar as it was written, without the defaults of its
// variables, which may be secrets.
func masked(s string) string {
	var b strings.Builder
	for s != "" {
		i := strings.Index(s, "${")
		if i < 0 {
			break
		}
		body, rest, ok := variable(s[i:])
		if !ok {
			break
		}
		name, _, hasDefault := strings.Cut(body, ":-")
		b.WriteString(s[:i] + "${" + name)
		if hasDefault {
			b.WriteString(":-…")
		}
		b.WriteString("}")
		s = rest
	}
	return b.String() + s
}
