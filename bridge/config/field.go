package config

import (
	"github.com/goccy/go-yaml/ast"
)

// Kind says what a key takes.
type Kind string

// The kinds of keys.
const (
	KindText     Kind = "text"
	KindSecret   Kind = "secret" // text that is never shown
	KindURL      Kind = "url"    // http or https
	KindInteger  Kind = "integer"
	KindNumber   Kind = "number"
	KindBool     Kind = "boolean"
	KindDuration Kind = "duration" // 30s, 5m, 24h
	KindSize     Kind = "size"     // bytes: 4096, 20KiB, 1MiB
	KindNames    Kind = "names"    // a list of texts, each once
	KindTexts    Kind = "texts"    // a mapping of texts
	KindSecrets  Kind = "secrets"  // a mapping of secrets
	KindObject   Kind = "object"   // any mapping
	KindSection  Kind = "section"  // a mapping with keys of its own
	KindList     Kind = "list"     // a list of sections
)

// Key describes one key of cluster.yaml.
type Key struct {
	Name     string
	Kind     Kind
	Required bool
	Min, Max *float64 // of numbers; durations in seconds, sizes in bytes; nil: no bound
	Enum     []string // the values or, of a mapping, the keys it may have; nil: any
	Default  string   // what holds when the key is absent, as one would write it; empty: nothing
	Doc      Text
	Keys     []Key // of a section, or of a list's elements
}

// field is a Key and how its value gets into a T.
type field[T any] struct {
	Key
	check func(value string) (expected Text, ok bool) // of texts; nil: any
	set   func(w *walker, f *field[T], e entry, dst *T)
}

// fields are the keys of a section that becomes a T.
type fields[T any] []field[T]

func (f field[T]) required() field[T]         { f.Required = true; return f }
func (f field[T]) def(s string) field[T]      { f.Default = s; return f }
func (f field[T]) min(v float64) field[T]     { f.Min = &v; return f }
func (f field[T]) max(v float64) field[T]     { f.Max = &v; return f }
func (f field[T]) in(keys ...string) field[T] { f.Enum = keys; return f }
func (f field[T]) doc(en, zh string) field[T] { f.Doc = Text{en, zh}; return f }
func (f field[T]) must(check func(string) (Text, bool)) field[T] {
	f.check = check
	return f
}

// decode fills dst from the mapping at n. It reports unknown keys, keys given
// twice and required ones that are missing.
func (fs fields[T]) decode(w *walker, n ast.Node, p place, dst *T) {
	n, ok := w.resolve(n, p.path)
	if !ok {
		return
	}
	entries, ok := w.mapping(n, p)
	if !ok {
		return
	}
	given := make(map[string]bool, len(entries))
	for _, e := range entries {
		given[e.name] = true
		i := fs.find(e.name)
		if i < 0 {
			w.unknown(e, fs.names())
			continue
		}
		fs[i].read(w, e, dst)
	}
	for i := range fs {
		if fs[i].Required && !given[fs[i].Name] {
			w.missing(p, &fs[i].Key)
		}
	}
}

func (fs fields[T]) find(name string) int {
	for i := range fs {
		if fs[i].Name == name {
			return i
		}
	}
	return -1
}

func (fs fields[T]) names() []string {
	names := make([]string, len(fs))
	for i := range fs {
		names[i] = fs[i].Name
	}
	return names
}

func (fs fields[T]) keys() []Key {
	keys := make([]Key, len(fs))
	for i := range fs {
		keys[i] = fs[i].Key
	}
	return keys
}

// read sets one key. Null means the default.
func (f *field[T]) read(w *walker, e entry, dst *T) {
	n, ok := w.resolve(e.value, e.at.path)
	if !ok {
		return
	}
	if _, null := n.(*ast.NullNode); null {
		if f.Required {
			w.fault(e.at, f.expected(), say("nothing", "空值"))
		}
		return
	}
	e.value = n
	f.set(w, f, e, dst)
}

func (w *walker) unknown(e entry, known []string) {
	w.hint(e.at, say("a known key", "已知的键"), say("an unknown one", "未知的键"), nearest(e.name, known))
}

func (w *walker) missing(p place, k *Key) {
	p.path = p.key(k.Name)
	w.fault(p, say("this required key: %s", "必需的键：%s", k.Doc), say("none", "缺少该键"))
}
