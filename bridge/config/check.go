package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/troupe-go/troupe/messages"
)

// check looks at what keys say together: names, references, cycles, limits.
func (w *walker) check(f *File) {
	models := w.unique("models", "cite_name", len(f.Models), func(i int) string { return f.Models[i].CiteName })
	tools := w.unique("tools", "name", len(f.Tools), func(i int) string { return f.Tools[i].Name })
	agents := w.unique("agents", "name", len(f.Agents), func(i int) string { return f.Agents[i].Name })
	for i := range f.Agents {
		w.checkAgent(i, &f.Agents[i], models, tools, agents)
	}
	w.checkCycles(f.Agents)
	w.checkConcurrency(f.Models)
	w.checkLone(f)
}

// unique reports names given twice and gives the names there are.
func (w *walker) unique(list, key string, n int, name func(int) string) []string {
	var seen []string
	first := map[string]place{}
	for i := range n {
		p := w.places[fmt.Sprintf("%s[%d].%s", list, i, key)]
		before, twice := first[name(i)]
		switch {
		case name(i) == "": // reported as missing
		case twice:
			w.fault(p, say("a name of its own", "唯一的名称"), say("%s, which line %d has already", "%s，第 %d 行已使用", w.quoted(p, name(i)), before.line))
		default:
			first[name(i)] = p
			seen = append(seen, name(i))
		}
	}
	return seen
}

func (w *walker) checkAgent(i int, a *messages.AgentConfig, models, tools, agents []string) {
	base := "agents[" + strconv.Itoa(i) + "]."
	if a.ModelName != "" {
		w.reference(base+"model_name", a.ModelName, models, say("the cite_name of a model", "某个模型的 cite_name"))
	}
	for j, m := range a.FallbackModels {
		w.reference(element(base+"fallback_models", j), m, models, say("the cite_name of a model", "某个模型的 cite_name"))
	}
	for j, t := range a.Tools {
		w.reference(element(base+"tools", j), t, tools, say("the name of a tool", "某个工具的名称"))
	}
	for j, m := range a.ManagedAgents {
		p := element(base+"managed_agents", j)
		if !w.reference(p, m, agents, say("the name of an agent", "某个智能体的名称")) {
			continue
		}
		if expected, ok := identifier(m); !ok {
			w.fault(w.places[p], say("an agent that code can call: %s", "代码可调用的智能体：%s", expected), w.quoted(w.places[p], m))
		}
		if slices.Contains(a.Tools, m) {
			w.fault(w.places[p], say("an agent whose name no tool of this agent has", "与该智能体的工具不同名的智能体"), w.quoted(w.places[p], m))
		}
	}
}

// reference reports a name that nothing has.
func (w *walker) reference(path, name string, known []string, expected Text) bool {
	if slices.Contains(known, name) {
		return true
	}
	hint := nearest(name, known)
	if hint == "" && len(known) > 0 && len(known) <= 10 {
		expected = say("%s (there are: %s)", "%s（现有：%s）", expected, strings.Join(known, ", "))
	}
	w.hint(w.places[path], expected, w.quoted(w.places[path], name), hint)
	return false
}

// checkCycles refuses agents that call themselves through others: such calls
// need not end.
func (w *walker) checkCycles(agents []messages.AgentConfig) {
	index := map[string]int{}
	for i := range agents {
		if _, twice := index[agents[i].Name]; !twice {
			index[agents[i].Name] = i
		}
	}
	const (
		open = iota + 1
		done
	)
	state := make([]int, len(agents))
	var path []string
	var visit func(i int)
	visit = func(i int) {
		state[i] = open
		path = append(path, agents[i].Name)
		for j, name := range agents[i].ManagedAgents {
			next, known := index[name]
			switch {
			case !known || state[next] == done:
			case state[next] == open:
				from := slices.Index(path, name)
				ring := strings.Join(append(slices.Clone(path[from:]), name), " → ")
				p := element("agents["+strconv.Itoa(i)+"].managed_agents", j)
				w.fault(w.places[p], say("agents that don't call each other in a circle", "不循环调用的智能体"), Text{EN: ring, ZH: ring})
			default:
				visit(next)
			}
		}
		path = path[:len(path)-1]
		state[i] = done
	}
	for i := range agents {
		if state[i] == 0 {
			visit(i)
		}
	}
}

// checkConcurrency refuses two limits for one key: they share one limiter.
func (w *walker) checkConcurrency(models []messages.ModelConfig) {
	first := map[string]int{}
	for i := range models {
		m := &models[i]
		key := m.ConcurrencyKey
		if key == "" {
			key = m.ModelFactory + "/" + m.ModelName
		}
		j, shared := first[key]
		if !shared {
			first[key] = i
			continue
		}
		if models[j].ConcurrencyLimit == m.ConcurrencyLimit {
			continue
		}
		p := w.nearestPlace(fmt.Sprintf("models[%d]", i), "concurrency_limit", "concurrency_key", "model_name")
		w.fault(p, say("%d as in models[%d], which has the same concurrency_key", "%d，与具有相同 concurrency_key 的 models[%d] 一致", models[j].ConcurrencyLimit, j),
			say("%d", "%d", m.ConcurrencyLimit))
	}
}

// nearestPlace is where the first of keys stands, else where base does.
func (w *walker) nearestPlace(base string, keys ...string) place {
	for _, k := range keys {
		if p, ok := w.places[base+"."+k]; ok {
			p.path = base + "." + keys[0]
			return p
		}
	}
	return w.places[base]
}

// checkLone refuses what only a cluster can honour.
func (w *walker) checkLone(f *File) {
	for _, part := range []struct {
		key string
		set bool
	}{
		{"nats.urls", len(f.NATS.URLs) > 0},
		{"nats.routes", len(f.NATS.Routes) > 0},
		{"hosts.agents", len(f.Hosts.Agents) > 0},
		{"hosts.tools", len(f.Hosts.Tools) > 0},
		{"hosts.labels", len(f.Hosts.Labels) > 0},
	} {
		if part.set {
			w.fault(w.places[part.key], say("nothing: clustering isn't in this release, a node runs alone and hosts everything", "留空：此版本尚不支持集群，节点独立运行并承载全部内容"), say("a value", "非空的值"))
		}
	}
}

func element(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

// quoted shows the text at p; one that variables gave is shown as written.
func (w *walker) quoted(p place, s string) Text {
	written, looked := w.lookups[p.path]
	if looked {
		s = written
	}
	return scalar{kind: textScalar, written: s, lookup: looked}.got()
}
