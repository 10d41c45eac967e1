package config

import (
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
)

// expected says what the key takes, in people's words.
func (k *Key) expected() Text {
	switch k.Kind {
	case KindURL:
		return say("a URL that starts with http:// or https://", "以 http:// 或 https:// 开头的 URL")
	case KindInteger:
		return say("a whole number%s", "整数%s", k.span(plain))
	case KindNumber:
		return say("a number%s", "数字%s", k.span(plain))
	case KindBool:
		return say("true or false", "true 或 false")
	case KindDuration:
		return say("a duration such as 30s, 5m or 24h%s", "时长，如 30s、5m 或 24h%s", k.span(asDuration))
	case KindSize:
		return say("a size in bytes such as 4096, 20KiB or 512MiB%s", "字节大小，如 4096、20KiB 或 512MiB%s", k.span(asSize))
	case KindNames, KindList:
		return say("a list", "列表")
	case KindTexts, KindSecrets, KindObject, KindSection:
		return say("keys with values", "键值映射")
	}
	if len(k.Enum) > 0 {
		return say("one of %s", "以下之一：%s", strings.Join(k.Enum, ", "))
	}
	if k.Required {
		return say("text that isn't empty", "非空文本")
	}
	return say("text", "文本")
}

// span says the range, with a space in front; nothing when there is none.
func (k *Key) span(show func(float64) string) Text {
	switch {
	case k.Min != nil && k.Max != nil:
		return say(" from %s to %s", "，范围 %s 至 %s", show(*k.Min), show(*k.Max))
	case k.Min != nil:
		return say(" of at least %s", "，至少 %s", show(*k.Min))
	case k.Max != nil:
		return say(" of at most %s", "，至多 %s", show(*k.Max))
	}
	return Text{}
}

func (k *Key) within(v float64) bool {
	return (k.Min == nil || v >= *k.Min) && (k.Max == nil || v <= *k.Max)
}

func plain(v float64) string      { return strconv.FormatFloat(v, 'f', -1, 64) }
func asDuration(v float64) string { return durationText(time.Duration(v * float64(time.Second))) }
func asSize(v float64) string     { return sizeText(int64(v)) }

// value makes a field of a scalar kind: parse gives the value, false refuses it.
func value[T, V any](name string, kind Kind, to func(*T) *V, parse func(f *field[T], s scalar) (V, bool)) field[T] {
	return field[T]{
		Key: Key{Name: name, Kind: kind},
		set: func(w *walker, f *field[T], e entry, dst *T) {
			s, absent, ok := w.scalar(e.value, e.at, f.expected())
			if !ok {
				return
			}
			if absent || f.empty(s) {
				if f.Required {
					w.fault(s.at, f.expected(), say("nothing", "空值"))
				}
				return
			}
			v, ok := parse(f, s)
			if !ok {
				w.refuse(&f.Key, s)
				return
			}
			if s.kind == textScalar && f.check != nil {
				if expected, ok := f.check(s.text); !ok {
					w.fault(s.at, expected, f.shown(s))
					return
				}
			}
			*to(dst) = v
		},
	}
}

// empty: an empty text, or one made of unset variables, is no value.
func (k *Key) empty(s scalar) bool { return s.kind == textScalar && s.text == "" }

func (w *walker) refuse(k *Key, s scalar) {
	hint := ""
	if len(k.Enum) > 0 {
		hint = nearest(s.text, k.Enum)
	}
	w.hint(s.at, k.expected(), k.shown(s), hint)
}

// shown is the value for a fault, with nothing secret.
func (k *Key) shown(s scalar) Text {
	switch {
	case k.Kind == KindSecret || k.Kind == KindSecrets:
		return say("a value that isn't shown", "（值不予显示）")
	case k.Kind == KindURL && s.kind == textScalar && !s.lookup:
		return quoteURL(s.text)
	case s.kind == textScalar && k.Kind != KindText && !s.lookup:
		return say("the text %s", "文本 %s", s.got())
	case s.kind != textScalar && k.Kind == KindText:
		return say("%s without quotes", "未加引号的 %s", s.got())
	}
	return s.got()
}

func text[T any, S ~string](name string, to func(*T) *S) field[T] {
	return value(name, KindText, to, textOf[T, S])
}

func secret[T any, S ~string](name string, to func(*T) *S) field[T] {
	return value(name, KindSecret, to, textOf[T, S]).must(printable)
}

func link[T any](name string, to func(*T) *string) field[T] {
	return value(name, KindURL, to, textOf[T, string]).must(httpURL)
}

func textOf[T any, S ~string](f *field[T], s scalar) (S, bool) {
	if s.kind != textScalar {
		return "", false
	}
	if len(f.Enum) == 0 {
		return S(s.text), true
	}
	for _, v := range f.Enum {
		if s.text == v {
			return S(v), true
		}
	}
	return "", false
}

func integer[T any](name string, to func(*T) *int) field[T] {
	return value(name, KindInteger, to, integerOf[T])
}

// optionalInteger tells an absent key from a zero.
func optionalInteger[T any](name string, to func(*T) **int) field[T] {
	return value(name, KindInteger, to, func(f *field[T], s scalar) (*int, bool) {
		v, ok := integerOf(f, s)
		return &v, ok
	})
}

func integerOf[T any](f *field[T], s scalar) (int, bool) {
	i, ok := s.integer()
	return int(i), ok && f.within(float64(i)) && int64(int(i)) == i
}

func number[T any](name string, to func(*T) *float64) field[T] {
	return value(name, KindNumber, to, numberOf[T])
}

// optionalNumber tells an absent key from a zero.
func optionalNumber[T any](name string, to func(*T) **float64) field[T] {
	return value(name, KindNumber, to, func(f *field[T], s scalar) (*float64, bool) {
		v, ok := numberOf(f, s)
		return &v, ok
	})
}

func numberOf[T any](f *field[T], s scalar) (float64, bool) {
	v, ok := s.number()
	return v, ok && f.within(v)
}

func boolean[T any](name string, to func(*T) *bool) field[T] {
	return value(name, KindBool, to, func(_ *field[T], s scalar) (bool, bool) { return s.boolean() })
}

// optionalBool tells an absent key from a false.
func optionalBool[T any](name string, to func(*T) **bool) field[T] {
	return value(name, KindBool, to, func(_ *field[T], s scalar) (*bool, bool) {
		v, ok := s.boolean()
		return &v, ok
	})
}

func duration[T any](name string, to func(*T) *time.Duration) field[T] {
	return value(name, KindDuration, to, func(f *field[T], s scalar) (time.Duration, bool) {
		if s.kind != textScalar {
			return 0, false
		}
		d, ok := parseDuration(s.text)
		return d, ok && f.within(d.Seconds())
	})
}

func size[T any](name string, to func(*T) *int) field[T] {
	return value(name, KindSize, to, func(f *field[T], s scalar) (int, bool) {
		if s.kind == boolScalar {
			return 0, false
		}
		n, ok := parseSize(s.text)
		return int(n), ok && f.within(float64(n)) && int64(int(n)) == n
	})
}

// section makes a field of a mapping with keys of its own.
func section[T, V any](name string, of fields[V], to func(*T) *V) field[T] {
	return field[T]{
		Key: Key{Name: name, Kind: KindSection, Keys: of.keys()},
		set: func(w *walker, _ *field[T], e entry, dst *T) { of.decode(w, e.value, e.at, to(dst)) },
	}
}

// sections makes a field of a list of mappings.
func sections[T, V any](name string, of fields[V], to func(*T) *[]V) field[T] {
	return field[T]{
		Key: Key{Name: name, Kind: KindList, Keys: of.keys()},
		set: func(w *walker, f *field[T], e entry, dst *T) {
			nodes, ok := w.list(e.value, e.at)
			if !ok {
				return
			}
			if len(nodes) == 0 && f.Required {
				w.fault(e.at, say("at least one element", "至少一个元素"), say("an empty list", "空列表"))
			}
			list := make([]V, len(nodes))
			for i, n := range nodes {
				p := at(e.at.index(i), n)
				w.places[p.path] = p
				of.decode(w, n, p, &list[i])
			}
			*to(dst) = list
		},
	}
}

// object makes a field that takes any mapping, as JSON.
func object[T any, J ~[]byte](name string, to func(*T) *J) field[T] {
	return field[T]{
		Key: Key{Name: name, Kind: KindObject},
		set: func(w *walker, _ *field[T], e entry, dst *T) {
			switch e.value.(type) {
			case *ast.MappingNode, *ast.MappingValueNode:
				if b, ok := w.appendJSON(nil, e.value, e.at, 0); ok {
					*to(dst) = b
				}
			default:
				w.fault(e.at, say("keys with values", "键值映射"), kindOf(e.value))
			}
		},
	}
}
