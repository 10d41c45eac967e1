package config

import (
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

type scalarKind int

const (
	textScalar scalarKind = iota
	integerScalar
	numberScalar
	boolScalar
)

// scalar is a value that isn't a mapping or a list, its variables put in.
type scalar struct {
	at      place
	kind    scalarKind
	text    string
	written string // as it may be shown
	loose   bool   // unquoted and holding a variable: takes the type its key wants
	lookup  bool   // holds a variable: its value isn't shown
}

// scalar reads a node. absent: it is null, or variables that came to nothing
// where no text is wanted. ok is false when a fault was reported.
func (w *walker) scalar(n ast.Node, p place, expected Text) (s scalar, absent, ok bool) {
	n, ok = w.resolve(n, p.path)
	if !ok {
		return scalar{}, false, false
	}
	s = scalar{at: at(p.path, n)}
	switch x := n.(type) {
	case *ast.NullNode:
		return s, true, true
	case *ast.StringNode:
		quoted := x.Token.Type == token.SingleQuoteType || x.Token.Type == token.DoubleQuoteType
		return w.text(s, x.Value, quoted)
	case *ast.LiteralNode:
		return w.text(s, x.Value.Value, true)
	case *ast.IntegerNode:
		s.kind, s.text = integerScalar, integerText(x)
	case *ast.FloatNode:
		s.kind, s.text = numberScalar, strconv.FormatFloat(x.Value, 'g', -1, 64)
	case *ast.BoolNode:
		s.kind, s.text = boolScalar, strconv.FormatBool(x.Value)
	default:
		w.fault(s.at, expected, kindOf(n))
		return s, false, false
	}
	s.written = s.text
	return s, false, true
}

func integerText(n *ast.IntegerNode) string {
	switch v := n.Value.(type) {
	case int64:
		return strconv.FormatInt(v, 10)
	case uint64:
		return strconv.FormatUint(v, 10)
	}
	return n.Token.Value
}

func (w *walker) text(s scalar, raw string, quoted bool) (scalar, bool, bool) {
	out := substitute(raw, w.env)
	if out.broken != "" {
		w.fault(s.at, say("${NAME} or ${NAME:-default} ($${ for a plain ${)", "${NAME} 或 ${NAME:-默认值}（用 $${ 表示普通的 ${）"), say("a `${` that is neither", "不合格式的 `${`"))
		return s, false, false
	}
	if len(out.missing) > 0 {
		w.fault(s.at, say("the environment variable to be set, or a default: ${%s:-…}", "已设置的环境变量，或给出默认值：${%s:-…}", out.missing[0]),
			say("%s, which isn't set", "未设置的 %s", strings.Join(out.missing, ", ")))
		return s, false, false
	}
	s.text, s.written, s.lookup = out.text, masked(raw), out.used
	s.loose = out.used && !quoted
	if out.used {
		w.lookups[s.at.path] = s.written
	}
	return s, s.loose && s.text == "", true
}

// got shows the value for a fault.
func (s scalar) got() Text {
	if s.kind != textScalar {
		return Text{EN: s.written, ZH: s.written}
	}
	q := strconv.Quote(cut(s.written, 60))
	if !s.lookup {
		return Text{EN: q, ZH: q}
	}
	return say("the value of %s", "%s 的值", q)
}

// number reads the scalar as a number.
func (s scalar) number() (float64, bool) {
	if s.kind == textScalar && !s.loose || s.kind == boolScalar {
		return 0, false
	}
	f, err := strconv.ParseFloat(s.text, 64)
	return f, err == nil && f == f && f-f == 0 // neither NaN nor infinite
}

// integer reads the scalar as a whole number.
func (s scalar) integer() (int64, bool) {
	if s.kind == textScalar && !s.loose || s.kind == boolScalar || s.kind == numberScalar {
		return 0, false
	}
	i, err := strconv.ParseInt(s.text, 10, 64)
	return i, err == nil
}

// boolean reads the scalar as true or false.
func (s scalar) boolean() (value, ok bool) {
	if s.kind != boolScalar && !s.loose {
		return false, false
	}
	switch s.text {
	case "true":
		return true, true
	case "false":
		return false, true
	}
	return false, false
}

// cut shortens text to n characters.
func cut(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n]) + "…"
}
