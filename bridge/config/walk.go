package config

import (
	"strconv"

	"github.com/goccy/go-yaml/ast"
)

// maxNodes bounds what a file comes to once its aliases are expanded.
const maxNodes = 100_000

// place is where something stands.
type place struct {
	path      string
	line, col int
}

func (p place) key(name string) string {
	if p.path == "" {
		return name
	}
	return p.path + "." + name
}

func (p place) index(i int) string { return p.path + "[" + strconv.Itoa(i) + "]" }

// walker goes through the tree once, collects faults and notes where each key
// stands, for the checks that come after.
type walker struct {
	file    string
	env     Env
	faults  Faults
	anchors map[string][]ast.Node // anchor nodes by name, in the file's order
	places  map[string]place      // by key path
	lookups map[string]string     // scalars that hold variables, as they may be shown, by key path
	budget  int                   // nodes that may still be visited
	merging int                   // merge keys being expanded within each other
}

func newWalker(file string, env Env, root ast.Node) *walker {
	if env == nil {
		env = func(string) (string, bool) { return "", false }
	}
	w := &walker{file: file, env: env, anchors: map[string][]ast.Node{}, places: map[string]place{}, lookups: map[string]string{}, budget: maxNodes}
	if root != nil {
		ast.Walk(anchorFinder{w.anchors}, root)
	}
	return w
}

type anchorFinder struct{ found map[string][]ast.Node }

// Visit notes anchors.
func (f anchorFinder) Visit(n ast.Node) ast.Visitor {
	if a, ok := n.(*ast.AnchorNode); ok {
		name := a.Name.GetToken().Value
		f.found[name] = append(f.found[name], a)
	}
	return f
}

// fault reports that at p something else was expected.
func (w *walker) fault(p place, expected, got Text) { w.hint(p, expected, got, "") }

func (w *walker) hint(p place, expected, got Text, hint string) {
	w.faults = append(w.faults, Fault{File: w.file, Line: p.line, Column: p.col, Key: p.path, Expected: expected, Got: got, Hint: hint})
}

// at is the place of a node that stands for path.
func at(path string, n ast.Node) place {
	pos := n.GetToken().Position
	if m, ok := n.(*ast.MappingNode); ok && !m.IsFlowStyle && len(m.Values) > 0 {
		pos = m.Values[0].Key.GetToken().Position // else its first colon
	}
	return place{path: path, line: pos.Line, col: pos.Column}
}

// resolve gives the node that n stands for: without anchors, through aliases.
// False means that a fault was reported.
func (w *walker) resolve(n ast.Node, path string) (ast.Node, bool) {
	for {
		if w.budget--; w.budget < 0 {
			w.overBudget(at(path, n))
			return nil, false
		}
		switch x := n.(type) {
		case *ast.AnchorNode:
			n = x.Value
		case *ast.AliasNode:
			target, ok := w.alias(x)
			if !ok {
				w.fault(at(path, n), say("an alias of an anchor above it", "引用上文锚点的别名"), say("*%s, which no anchor above names", "*%s，上文没有这个锚点", x.Value.GetToken().Value))
				return nil, false
			}
			n = target
		case *ast.TagNode:
			w.fault(at(path, n), say("a value without a tag", "不带标签的值"), say("the tag %s", "标签 %s", x.Start.Value))
			return nil, false
		case nil:
			return nil, false
		default:
			return n, true
		}
	}
}

// overBudget reports once; the budget stays negative.
func (w *walker) overBudget(p place) {
	if w.budget == -1 {
		w.fault(p, say("at most %d nodes once aliases are expanded", "展开别名后不超过 %d 个节点", maxNodes), say("more", "更多"))
	}
}

// alias finds the last anchor of that name that ends before the alias. One
// that holds the alias is still open there: YAML has it refer to itself.
func (w *walker) alias(a *ast.AliasNode) (ast.Node, bool) {
	here := a.GetToken().Position.Offset
	var found ast.Node
	for _, n := range w.anchors[a.Value.GetToken().Value] {
		if n.GetToken().Position.Offset < here {
			found = n
		}
	}
	return found, found != nil
}

// entry is one key of a mapping with its value.
type entry struct {
	name  string
	at    place // of the key
	value ast.Node
}

// mapping gives the entries of a mapping, merge keys (<<) expanded: what is
// written wins over what is merged. False means that a fault was reported.
func (w *walker) mapping(n ast.Node, p place) ([]entry, bool) {
	var values []*ast.MappingValueNode
	switch m := n.(type) {
	case *ast.MappingNode:
		values = m.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{m}
	default:
		w.fault(p, say("keys with values", "键值映射"), kindOf(n))
		return nil, false
	}
	seen := map[string]place{}
	var entries, merged []entry
	for _, v := range values {
		if _, ok := v.Key.(*ast.MergeKeyNode); ok {
			merged = append(merged, w.merge(v.Value, p)...)
			continue
		}
		e, ok := w.entry(v, p)
		if !ok {
			continue
		}
		if first, twice := seen[e.name]; twice {
			w.fault(e.at, say("each key once", "每个键只出现一次"), say("the key again (first in line %d)", "重复的键（首次出现在第 %d 行）", first.line))
			continue
		}
		seen[e.name] = e.at
		entries = append(entries, e)
	}
	for _, e := range merged {
		if _, written := seen[e.name]; !written {
			seen[e.name] = e.at
			entries = append(entries, e)
		}
	}
	return entries, true
}

func (w *walker) entry(v *ast.MappingValueNode, p place) (entry, bool) {
	var key ast.Node = v.Key
	if q, ok := key.(*ast.MappingKeyNode); ok {
		key = q.Value
	}
	switch key.(type) {
	case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NullNode:
	default:
		w.fault(at(p.path, v), say("a plain key", "普通的键"), kindOf(key))
		return entry{}, false
	}
	name := key.GetToken().Value
	kp := at(p.key(name), key)
	w.places[kp.path] = kp
	return entry{name: name, at: kp, value: v.Value}, true
}

// merge gives the entries that `<<:` brings in: those of a mapping, or of a
// list of mappings, the first winning.
func (w *walker) merge(n ast.Node, p place) []entry {
	w.merging++
	defer func() { w.merging-- }()
	if w.merging > maxDepth {
		w.fault(at(p.path, n), say("a mapping that doesn't merge itself", "不合并自身的映射"), say("an endless merge", "无限的合并"))
		return nil
	}
	n, ok := w.resolve(n, p.path)
	if !ok {
		return nil
	}
	if seq, isList := n.(*ast.SequenceNode); isList {
		var all []entry
		for _, v := range seq.Values {
			if v, ok = w.resolve(v, p.path); !ok {
				continue
			}
			if es, ok := w.mapping(v, p); ok {
				all = append(all, es...)
			}
		}
		return all
	}
	es, _ := w.mapping(n, p)
	return es
}

// list gives the elements of a list. False means that a fault was reported.
func (w *walker) list(n ast.Node, p place) ([]ast.Node, bool) {
	s, ok := n.(*ast.SequenceNode)
	if !ok {
		w.fault(p, say("a list", "列表"), kindOf(n))
		return nil, false
	}
	return s.Values, true
}

// kindOf says what a node is without showing its content, which may be a
// secret at the wrong place.
func kindOf(n ast.Node) Text {
	switch n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return say("keys with values", "键值映射")
	case *ast.SequenceNode:
		return say("a list", "列表")
	case *ast.NullNode, nil:
		return say("nothing", "空值")
	case *ast.InfinityNode, *ast.NanNode:
		return say("no finite number", "非有限的数字")
	case *ast.IntegerNode, *ast.FloatNode:
		return say("a number", "数字")
	case *ast.BoolNode:
		return say("true or false", "true 或 false")
	}
	return say("text", "文本")
}
