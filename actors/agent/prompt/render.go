package prompt

import (
	"embed"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/template"

	"github.com/troupe-go/troupe/messages"
)

//go:embed templates
var files embed.FS

// Keys of AgentConfig.PromptTemplates (nexent-core §10). What each may use
// stands in variables.
const (
	KeySystem      = "system"
	KeyFinalPre    = "final_answer.pre_messages"
	KeyFinalPost   = "final_answer.post_messages"
	KeyAgentTask   = "managed_agent.task"
	KeyAgentReport = "managed_agent.report"
)

// maxTextBytes bounds one rendered template; a prompt beyond it is a mistake.
const maxTextBytes = 1 << 20

// ErrTemplate is a prompt template that can't be used: its key is unknown, it
// doesn't parse, or it names a variable that isn't there.
var ErrTemplate = &messages.Fault{
	Code: "prompt_template", Class: messages.Permanent,
	EN: "prompt_templates[%q] can't be used: %s",
	ZH: "提示词模板 prompt_templates[%q] 不可用：%s",
}

// variables gives, for each key, the variables a template may use, each with a
// value to try the template with.
func variables(key string) map[string]any {
	switch key {
	case KeySystem:
		return map[string]any{
			"name": "agent", "description": "d", "instructions": "i", "lang": messages.EN, "protocol": string(messages.CodeAction),
			"envelope": false, "parallel": false,
			"tools": []string{"def t():"}, "agents": []string{"def a(task):"}, "imports": []string{"math"},
		}
	case KeyFinalPre:
		return map[string]any{}
	case KeyFinalPost:
		return map[string]any{"task": "t"}
	case KeyAgentTask:
		return map[string]any{"name": "agent", "task": "t"}
	case KeyAgentReport:
		return map[string]any{"name": "agent", "final_answer": "f", "summary": "s"}
	}
	return nil
}

// Keys lists the keys that AgentConfig.PromptTemplates may hold.
func Keys() []string {
	return []string{KeySystem, KeyFinalPre, KeyFinalPost, KeyAgentTask, KeyAgentReport}
}

// Check tries an agent's own templates, so that configuration can refuse a bad
// one before any run needs it. The error is an [ErrTemplate] that names the
// key; several are joined.
func Check(overrides map[string]string) error {
	var faults []error
	for _, key := range slices.Sorted(maps.Keys(overrides)) {
		vars := variables(key)
		if vars == nil {
			faults = append(faults, ErrTemplate.Withf(key, "there is no such key; there are "+strings.Join(Keys(), ", ")))
			continue
		}
		if _, err := execute(key, overrides[key], vars); err != nil {
			faults = append(faults, err)
		}
	}
	return errors.Join(faults...)
}

// render fills the template of key: the agent's own when it has one, else the
// one of the language.
func render(lang string, cfg *messages.AgentConfig, key string, vars map[string]any) (string, error) {
	if cfg != nil {
		if text, ok := cfg.PromptTemplates[key]; ok {
			return execute(key, text, vars)
		}
	}
	text, err := files.ReadFile("templates/" + language(lang) + "/" + key + ".tmpl")
	if err != nil {
		return "", fmt.Errorf("prompt: no built-in template %q: %w", key, err)
	}
	return execute(key, string(text), vars)
}

// execute fills one template. A variable may be written {{.name}} or, as the
// seeds write it, {{name}}.
func execute(key, text string, vars map[string]any) (string, error) {
	funcs := template.FuncMap{"join": strings.Join}
	for name, value := range vars {
		funcs[name] = func() any { return value }
	}
	t, err := template.New(key).Option("missingkey=error").Funcs(funcs).Parse(text)
	if err != nil {
		return "", ErrTemplate.Withf(key, err.Error())
	}
	var out bounded
	if err := t.Execute(&out, vars); err != nil {
		return "", ErrTemplate.Withf(key, err.Error())
	}
	return strings.TrimRight(out.String(), "\n"), nil
}

// bounded is a strings.Builder that refuses to grow beyond maxTextBytes.
type bounded struct{ strings.Builder }

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > maxTextBytes {
		return 0, fmt.Errorf("its text is longer than %d bytes", maxTextBytes)
	}
	return b.Builder.Write(p)
}

// language gives the language of our texts: unknown ones read English
// (nexent-core §14.3).
func language(lang string) string {
	if lang == messages.ZH {
		return messages.ZH
	}
	return messages.EN
}
