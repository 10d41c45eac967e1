package config

import (
	"encoding/json"
	"slices"

	"github.com/goccy/go-yaml/ast"

	"github.com/troupe-go/troupe/messages"
)

// names makes a field of a list of texts, each of which may stand once.
func names[T any](name string, to func(*T) *[]string) field[T] {
	return field[T]{
		Key: Key{Name: name, Kind: KindNames},
		set: func(w *walker, _ *field[T], e entry, dst *T) {
			nodes, ok := w.list(e.value, e.at)
			if !ok {
				return
			}
			var list []string
			for i, n := range nodes {
				s, ok := w.element(n, e.at.index(i))
				if !ok {
					continue
				}
				if slices.Contains(list, s.text) {
					w.fault(s.at, say("each element once", "每个元素只出现一次"), s.got())
					continue
				}
				w.places[e.at.index(len(list))] = s.at
				list = append(list, s.text)
			}
			*to(dst) = list
		},
	}
}

// element reads one text of a list; false means that a fault was reported.
func (w *walker) element(n ast.Node, path string) (scalar, bool) {
	p := at(path, n)
	want := say("text that isn't empty", "非空文本")
	s, absent, ok := w.scalar(n, p, want)
	if !ok {
		return s, false
	}
	if absent || s.text == "" {
		w.fault(s.at, want, say("nothing", "空值"))
		return s, false
	}
	if s.kind != textScalar {
		w.fault(s.at, want, say("%s without quotes", "未加引号的 %s", s.got()))
		return s, false
	}
	return s, true
}

// texts makes a field of a mapping of texts; Enum, when set, holds its keys.
func texts[T any](name string, to func(*T) *map[string]string) field[T] {
	return field[T]{
		Key: Key{Name: name, Kind: KindTexts},
		set: func(w *walker, f *field[T], e entry, dst *T) {
			m := map[string]string{}
			w.pairs(&f.Key, e, func(en entry, s scalar) { m[en.name] = s.text })
			*to(dst) = m
		},
	}
}

// headers makes a field of a mapping from HTTP header names to secrets.
func headers[T any](name string, to func(*T) *map[string]messages.Secret) field[T] {
	return field[T]{
		Key: Key{Name: name, Kind: KindSecrets},
		set: func(w *walker, f *field[T], e entry, dst *T) {
			m := map[string]messages.Secret{}
			w.pairs(&f.Key, e, func(en entry, s scalar) {
				if expected, ok := headerName(en.name); !ok {
					w.fault(en.at, expected, say("another name", "其他名称"))
					return
				}
				if expected, ok := printable(s.text); !ok {
					w.fault(s.at, expected, f.shown(s))
					return
				}
				m[en.name] = messages.Secret(s.text)
			})
			*to(dst) = m
		},
	}
}

// pairs hands on the text values of a mapping.
func (w *walker) pairs(k *Key, e entry, add func(entry, scalar)) {
	entries, ok := w.mapping(e.value, e.at)
	if !ok {
		return
	}
	for _, en := range entries {
		if k.Enum != nil && !slices.Contains(k.Enum, en.name) {
			w.unknown(en, k.Enum)
			continue
		}
		s, absent, ok := w.scalar(en.value, en.at, say("text", "文本"))
		switch {
		case !ok || absent:
		case s.kind != textScalar:
			w.fault(s.at, say("text", "文本"), k.shown(s))
		default:
			add(en, s)
		}
	}
}

// appendJSON writes a node as JSON, keys in the file's order.
func (w *walker) appendJSON(b []byte, n ast.Node, p place, depth int) ([]byte, bool) {
	n, ok := w.resolve(n, p.path)
	if !ok {
		return nil, false
	}
	if depth > maxDepth {
		w.fault(at(p.path, n), say("at most %d levels", "不超过 %d 层", maxDepth), say("deeper nesting", "更深的嵌套"))
		return nil, false
	}
	switch x := n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return w.appendObject(b, x, p, depth)
	case *ast.SequenceNode:
		b = append(b, '[')
		for i, v := range x.Values {
			if i > 0 {
				b = append(b, ',')
			}
			if b, ok = w.appendJSON(b, v, at(p.index(i), v), depth+1); !ok {
				return nil, false
			}
		}
		return append(b, ']'), true
	}
	return w.appendScalar(b, n, p)
}

func (w *walker) appendObject(b []byte, n ast.Node, p place, depth int) ([]byte, bool) {
	entries, ok := w.mapping(n, p)
	if !ok {
		return nil, false
	}
	b = append(b, '{')
	for i, e := range entries {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendString(b, e.name), ':')
		if b, ok = w.appendJSON(b, e.value, e.at, depth+1); !ok {
			return nil, false
		}
	}
	return append(b, '}'), true
}

func (w *walker) appendScalar(b []byte, n ast.Node, p place) ([]byte, bool) {
	want := say("text, a number, true, false or null", "文本、数字、true、false 或 null")
	s, absent, ok := w.scalar(n, p, want)
	switch {
	case !ok:
		return nil, false
	case absent:
		return append(b, "null"...), true
	case s.kind != textScalar || s.loose && json.Valid([]byte(s.text)) && s.text[0] != '"' && s.text[0] != '{' && s.text[0] != '[':
		return append(b, s.text...), true
	}
	return appendString(b, s.text), true
}

func appendString(b []byte, s string) []byte {
	q, err := json.Marshal(s)
	if err != nil { // a string always encodes
		return append(b, `""`...)
	}
	return append(b, q...)
}
