// Package prompt writes what an agent's model reads: the system prompt, the
// task, the observation after a block of code, and the sentences for what goes
// out of the ordinary. Everything exists in zh and en; an unknown language
// reads English.
//
// # Stability
//
// Every function is pure: equal input gives equal bytes. Nothing that changes
// from run to run stands in the system prompt, so that providers can cache it:
// the time and the caller's metadata go with the task (nexent-core §2.2).
//
// # Templates
//
// The long texts are templates of text/template, embedded per language. An
// agent's definition may replace them by key ([Keys]); [Check] tries such a
// template before any run needs it.
package prompt

import (
	"slices"

	"github.com/troupe-go/troupe/messages"
)

// ParallelExecutor is the name under which agents run tasks side by side; with
// it among the tools the system prompt explains its use.
const ParallelExecutor = "parallel_executor"

// Signature is a callable as the model sees it: Text is a Python signature
// with its docstring.
type Signature struct {
	Name string
	Text string
}

// Data is what a system prompt is made of.
type Data struct {
	Agent   *messages.AgentConfig // required: name, description, instructions, output protocol, templates
	Lang    string                // empty: the agent's
	Tools   []Signature           // in the order the model sees them
	Agents  []Signature           // managed agents, called like tools
	Imports []string              // modules that code may import; order and doubles don't matter
}

// System gives the system prompt. The only error is [ErrTemplate].
func System(d Data) (string, error) {
	lang := d.Lang
	if lang == "" {
		lang = d.Agent.Lang
	}
	protocol := d.Agent.OutputProtocol
	if protocol == "" {
		protocol = messages.CodeAction
	}
	return render(lang, d.Agent, KeySystem, map[string]any{
		"name":         d.Agent.Name,
		"description":  d.Agent.Description,
		"instructions": d.Agent.Instructions,
		"lang":         language(lang),
		"protocol":     string(protocol),
		"envelope":     protocol == messages.FinalAnswerEnvelope,
		"parallel":     slices.ContainsFunc(d.Tools, func(s Signature) bool { return s.Name == ParallelExecutor }),
		"tools":        texts(d.Tools),
		"agents":       texts(d.Agents),
		"imports":      slices.Compact(slices.Sorted(slices.Values(d.Imports))),
	})
}

func texts(signatures []Signature) []string {
	list := make([]string, len(signatures))
	for i, s := range signatures {
		list[i] = s.Text
	}
	return list
}

// FinalAnswerMessages gives the two messages that ask for an answer when the
// steps are used up: pre takes the place of the system prompt, post is the last
// user message. The only error is [ErrTemplate].
func FinalAnswerMessages(lang string, agent *messages.AgentConfig, task string) (pre, post string, err error) {
	pre, err = render(lang, agent, KeyFinalPre, map[string]any{})
	if err != nil {
		return "", "", err
	}
	post, err = render(lang, agent, KeyFinalPost, map[string]any{"task": task})
	if err != nil {
		return "", "", err
	}
	return pre, post, nil
}

// ManagedTask gives the task of a sub-agent, from the text its caller wrote.
// agent is the sub-agent's definition. The only error is [ErrTemplate].
func ManagedTask(lang string, agent *messages.AgentConfig, task string) (string, error) {
	return render(lang, agent, KeyAgentTask, map[string]any{"name": agent.Name, "task": task})
}

// ManagedReport gives what the caller of a sub-agent gets back. summary is
// what its steps did, or "" when the definition asks for none. The only error
// is [ErrTemplate].
func ManagedReport(lang string, agent *messages.AgentConfig, answer, summary string) (string, error) {
	return render(lang, agent, KeyAgentReport, map[string]any{"name": agent.Name, "final_answer": answer, "summary": summary})
}
