package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/troupe-go/troupe/messages"
)

// shows says how each type of event is shown; a type that is missing is shown
// by stream.other. It is not to be changed.
var shows = map[messages.ProcessType]func(*stream, *messages.Event){
	messages.AgentNewRun:             (*stream).newRun,
	messages.StepCount:               (*stream).step,
	messages.ModelOutputThinking:     (*stream).thought,
	messages.ModelOutputDeepThinking: (*stream).deep,
	messages.ModelOutputCode:         (*stream).code,
	messages.ModelAttemptControl:     (*stream).attempt,
	messages.Parse:                   (*stream).parsed,
	messages.Tool:                    (*stream).tool,
	messages.ExecutionLogs:           (*stream).logs,
	messages.TokenCount:              (*stream).tokens,
	messages.Warning:                 (*stream).warning,
	messages.Error:                   (*stream).failure,
	messages.Verification:            (*stream).verification,
	messages.MaxStepsReached:         (*stream).limit,
	messages.FileArtifact:            (*stream).artifacts,
	messages.FinalAnswer:             (*stream).answer,
	messages.Card:                    (*stream).silent, // the TOOL event said the same
	messages.SubagentStart:           (*stream).silent, // AGENT_NEW_RUN of the sub-agent follows
	messages.SubagentEnd:             (*stream).silent, // its FINAL_ANSWER came before
	messages.AgentFinish:             (*stream).silent, // the same once more, as the calling agent sees it
}

func (s *stream) silent(*messages.Event) {}

func (s *stream) newRun(ev *messages.Event) {
	if ev.Depth > 0 {
		s.line(noteMark, tx.task.in(s.lang, ev.AgentName, ev.Content), s.look.rule)
	}
}

func (s *stream) step(ev *messages.Event) {
	s.coded = false
	s.rule("─", tx.step.in(s.lang, ev.Step))
}

func (s *stream) thought(ev *messages.Event) {
	s.replaced(ev)
	s.text(ev, "", s.look.thought)
}

func (s *stream) deep(ev *messages.Event) {
	s.replaced(ev)
	s.text(ev, deepMark, s.look.deep)
}

func (s *stream) code(ev *messages.Event) {
	s.replaced(ev)
	s.coded = true
	s.text(ev, codeMark, s.look.code)
}

// replaced begins a block of its own for a text that was published again.
func (s *stream) replaced(ev *messages.Event) {
	if ev.Phase == messages.PhaseReplace {
		s.close()
	}
	if ev.AttemptID != "" {
		s.attempts[ev.AttemptID] = true
	}
}

func (s *stream) attempt(ev *messages.Event) {
	switch ev.Phase {
	case messages.PhaseBegin:
		if ev.Attempt > 1 {
			s.line(noteMark, tx.attempt.in(s.lang, ev.Attempt), s.look.note)
		}
	case messages.PhaseRollback:
		if s.attempts[ev.AttemptID] {
			s.line(badMark, tx.withdrawn.in(s.lang, ev.Attempt), s.look.warn)
		}
		delete(s.attempts, ev.AttemptID)
		s.coded = false
	case messages.PhaseAdopted:
		s.line(warnMark, tx.adopted.in(s.lang), s.look.warn)
	default:
		delete(s.attempts, ev.AttemptID)
	}
}

// parsed shows the code that is about to run, where it wasn't shown as it came.
func (s *stream) parsed(ev *messages.Event) {
	if s.coded {
		return
	}
	_, code, found := strings.Cut(ev.Content, "```python\n")
	if !found {
		return
	}
	shown := *ev
	shown.Content = strings.TrimSuffix(code, "\n```\n")
	s.text(&shown, codeMark, s.look.code)
}

func (s *stream) tool(ev *messages.Event) {
	s.line(toolMark, ev.ToolName+"("+arguments(ev.ToolArguments)+")", s.look.tool)
	if ev.Content != "" {
		s.text(ev, logMark, s.look.log)
	}
}

// arguments shows an object as keyword arguments, in its order.
func arguments(object json.RawMessage) string {
	dec := json.NewDecoder(strings.NewReader(string(object)))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return ""
	}
	var list []string
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			break
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			break
		}
		list = append(list, fmt.Sprintf("%s=%s", key, value))
	}
	return strings.Join(list, ", ")
}

// logs are whole: another one begins on a line of its own.
func (s *stream) logs(ev *messages.Event) {
	s.text(ev, logMark, s.look.log)
	s.close()
}

func (s *stream) tokens(ev *messages.Event) {
	var count struct {
		In       int     `json:"step_input_tokens"`
		Out      *int    `json:"step_output_tokens"`
		Cached   int     `json:"provider_cached_input_tokens"`
		Duration float64 `json:"duration"`
	}
	if json.Unmarshal([]byte(ev.Content), &count) != nil {
		s.other(ev)
		return
	}
	out := 0
	if count.Out != nil {
		out = *count.Out
	}
	parts := []string{tx.tokens.in(s.lang, count.In, out)}
	if count.Cached > 0 {
		parts = append(parts, tx.cached.in(s.lang, count.Cached))
	}
	parts = append(parts, tx.seconds.in(s.lang, count.Duration))
	s.line(noteMark, strings.Join(parts, " · "), s.look.note)
}

func (s *stream) warning(ev *messages.Event) {
	s.paragraph(warnMark, tx.warning.in(s.lang, ev.Content), s.look.warn)
}

func (s *stream) failure(ev *messages.Event) {
	text := tx.failed.in(s.lang, ev.ErrorCode, ev.Content)
	if ev.Retryable != nil && *ev.Retryable {
		text += " (" + tx.retryable.in(s.lang) + ")"
	}
	s.paragraph(badMark, text, s.look.bad)
}

// paragraph writes a text that is to be read to its end.
func (s *stream) paragraph(mark, text string, look func(string) string) {
	s.close()
	for i, line := range strings.Split(strings.TrimSpace(clean(text)), "\n") {
		if i > 0 {
			mark = "    "
		}
		s.write(look(s.indent+mark+line) + "\n")
	}
}

func (s *stream) verification(ev *messages.Event) {
	var v struct {
		Note    string `json:"user_visible_note"`
		Message string `json:"message"`
		Passed  bool   `json:"passed"`
	}
	if json.Unmarshal([]byte(ev.Content), &v) != nil {
		s.other(ev)
		return
	}
	text, mark, look := v.Note, warnMark, s.look.warn
	if text == "" {
		text = v.Message
	}
	if v.Passed {
		mark, look = noteMark, s.look.note
	}
	if text != "" {
		s.paragraph(mark, tx.checkNote.in(s.lang, text), look)
	}
}

func (s *stream) limit(*messages.Event) {
	s.line(warnMark, tx.maxSteps.in(s.lang), s.look.warn)
}

func (s *stream) artifacts(ev *messages.Event) {
	var object struct {
		Artifacts []messages.Artifact `json:"artifacts"`
	}
	if json.Unmarshal(ev.Object, &object) != nil {
		s.other(ev)
		return
	}
	for _, f := range object.Artifacts {
		path := f.Path
		if s.workspace != "" {
			path = filepath.Join(s.workspace, filepath.FromSlash(path))
		}
		s.whole(s.indent+noteMark+oneLine(tx.files.in(s.lang, path, bytesText(f.Size))), s.look.note)
	}
}

func bytesText(n int64) string {
	if n < 1<<10 {
		return fmt.Sprintf("%d B", n)
	}
	v, units := float64(n)/(1<<10), []string{"KiB", "MiB", "GiB"}
	for len(units) > 1 && v >= 1<<10 {
		v, units = v/(1<<10), units[1:]
	}
	return fmt.Sprintf("%.1f %s", v, units[0])
}

func (s *stream) answer(ev *messages.Event) {
	if ev.Depth > 0 {
		s.paragraph(noteMark, tx.subagentDone.in(s.lang, ev.AgentName, ev.Content), s.look.rule)
		return
	}
	switch {
	case ev.Status == messages.StatusStopped && ev.Content == messages.UserBreak:
		return
	case ev.Status == messages.StatusMaxSteps:
		s.rule("━", tx.answerAtLimit.in(s.lang))
	default:
		s.rule("━", tx.answer.in(s.lang))
	}
	for _, line := range strings.Split(strings.TrimSpace(clean(ev.Content)), "\n") {
		s.write(s.look.answer(line) + "\n")
	}
}

// ended says how a run ended that has no answer of its own.
func (s *stream) ended(ev *messages.Event) {
	said := map[messages.Status]phrase{
		messages.StatusStopped: tx.stopped, messages.StatusBlocked: tx.blocked, messages.StatusBudget: tx.budget,
	}
	if p, ok := said[ev.Status]; ok {
		s.line(badMark, p.in(s.lang), s.look.bad)
	}
}

// other shows what has no look of its own on one line.
func (s *stream) other(ev *messages.Event) {
	content := ev.Content
	if ev.Object != nil {
		content = string(ev.Object)
	}
	if ev.Type != messages.Other {
		content = "[" + string(ev.Type) + "] " + content
	}
	s.line(noteMark, content, s.look.note)
}
