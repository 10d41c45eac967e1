package main

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/messages"
)

func id(invocation string) messages.EventID { return messages.EventID{Invocation: invocation} }

func delta(kind messages.ProcessType, text string) messages.Event {
	return messages.Event{Type: kind, Content: text, AttemptID: "a", ID: id("root")}
}

func control(phase string, n int, attemptID string) messages.Event {
	return messages.Event{Type: messages.ModelAttemptControl, Phase: phase, Attempt: n, AttemptID: attemptID}
}

// A run with everything a person may see.
func everything() []messages.Event {
	no := false
	child := func(ev messages.Event) messages.Event {
		ev.Depth, ev.AgentName, ev.InvocationID, ev.ID = 1, "researcher", "child", id("child")
		return ev
	}
	return []messages.Event{
		{Type: messages.AgentNewRun, Content: "the task", ID: id("root")},
		{Type: messages.StepCount, Content: "\n**Step 1** \n", Step: 1},
		control(messages.PhaseBegin, 1, "a"),
		delta(messages.ModelOutputDeepThinking, "Let me see.\n"),
		delta(messages.ModelOutputDeepThinking, "\nTwo thoughts."),
		delta(messages.ModelOutputThinking, "\nThought: I read"),
		delta(messages.ModelOutputThinking, " the file.\n"),
		delta(messages.ModelOutputCode, "\ntext = read_file(\"a.txt\")\n\n"),
		delta(messages.ModelOutputCode, "for x in text:\n    print(x)\n"),
		control(messages.PhaseCommit, 1, "a"),
		{Type: messages.Parse, Content: "\n🛠️\n```python\nshown already\n```\n"},
		{Type: messages.Tool, ToolName: "read_file", ToolArguments: json.RawMessage(`{"file_path":"a.txt","encoding":null}`)},
		{Type: messages.Card, Content: `[{"icon":"file-text","text":"Reading a.txt"}]`},
		{Type: messages.Tool, ToolName: "search", ToolArguments: json.RawMessage(`{"query":"` + strings.Repeat("中文", 60) + `"}`)},
		{Type: messages.ExecutionLogs, Content: "one\ntwo\n\n", ID: id("root")},
		{Type: messages.ExecutionLogs, Content: "Last output from code snippet:\n3", ID: id("root")},
		{Type: messages.TokenCount, Content: `{"step_input_tokens":120,"step_output_tokens":45,"duration":1.25,"provider_cached_input_tokens":100}`},
		{Type: messages.Warning, Content: "the block ended with ValueError: no\nline 2"},
		{Type: messages.StepCount, Step: 2},
		control(messages.PhaseBegin, 1, "b"),
		{Type: messages.ModelOutputThinking, Content: "half an ans", AttemptID: "b", ID: id("root")},
		control(messages.PhaseRollback, 1, "b"),
		control(messages.PhaseBegin, 2, "c"),
		control(messages.PhaseRollback, 2, "c"),
		{Type: messages.Parse, Content: "\n🛠️\n```python\nonly(\"here\")\n```\n", ID: id("root")},
		{Type: messages.SubagentStart, Content: `{}`, AgentName: "researcher"},
		child(messages.Event{Type: messages.AgentNewRun, Content: "find it"}),
		child(messages.Event{Type: messages.StepCount, Step: 1}),
		child(messages.Event{Type: messages.ModelOutputThinking, Content: "Searching.\nFound."}),
		child(messages.Event{Type: messages.FinalAnswer, Content: "It is 7."}),
		child(messages.Event{Type: messages.AgentFinish, Content: "report"}),
		{Type: messages.SubagentEnd, AgentName: "researcher", Status: messages.StatusAnswered},
		{Type: messages.TokenCount, Content: `{"step_input_tokens":1,"step_output_tokens":null,"duration":0}`},
		control(messages.PhaseAdopted, 0, ""),
		{Type: messages.Verification, Content: `{"passed":true,"message":"all is well"}`},
		{Type: messages.SearchContent, Content: `[{"title":"x"}]`},
		{Type: messages.Other, Content: "a note"},
		{Type: messages.HumanInteraction, Object: json.RawMessage(`{"schema_version":1,"questions":[]}`)},
		{Type: messages.MaxStepsReached, Content: `{}`},
		{Type: messages.FileArtifact, Object: json.RawMessage(`{"artifacts":[{"name":"r.csv","path":"out/r.csv","size":2048,"sha256":"x"}]}`)},
		{Type: messages.Error, Content: "the provider refused the key", ErrorCode: "unauthorized", Retryable: &no},
		{Type: messages.FinalAnswer, Content: "The answer\nis 42.\n", Status: messages.StatusAnswered},
	}
}

func show(t *testing.T, lang string, events ...messages.Event) string {
	t.Helper()
	var b strings.Builder
	s := newStream(&b, lang, plainPalette(), defaultWidth)
	for _, ev := range events {
		require.NoError(t, s.event(ev))
	}
	return b.String()
}

func TestStreamForPeople(t *testing.T) {
	for _, lang := range []string{messages.EN, messages.ZH} {
		t.Run(lang, func(t *testing.T) {
			golden(t, "stream."+lang+".golden", show(t, lang, everything()...))
		})
	}
}

// Every type of event has a place in the stream; none is lost by accident.
func TestEveryTypeIsShownOrSilentOnPurpose(t *testing.T) {
	silent := map[messages.ProcessType]bool{
		messages.AgentNewRun: true, messages.Card: true, messages.SubagentStart: true, messages.SubagentEnd: true,
		messages.AgentFinish: true, messages.ModelAttemptControl: true,
	}
	for _, info := range messages.ProcessTypes {
		ev := messages.Event{Type: info.Type, Content: "some text", Step: 1, ID: id("root")}
		switch {
		case info.Type == messages.FileArtifact:
			ev.Object = json.RawMessage(`{"artifacts":[{"path":"some text"}]}`)
		case info.ObjectContent:
			ev.Object = json.RawMessage(`{"some text":1}`)
		case info.Type == messages.Parse:
			ev.Content = "```python\nsome text\n```\n"
		}
		if silent[info.Type] {
			require.Empty(t, show(t, messages.EN, ev), info.Type)
		} else {
			require.NotEmpty(t, show(t, messages.EN, ev), info.Type)
		}
	}
}

// Text in small pieces looks the same as in one.
func TestPiecesOfText(t *testing.T) {
	text := "\n\nfirst\n\n  second\t中\n\n\nthird\n\n"
	whole := show(t, messages.EN, delta(messages.ModelOutputCode, text))
	var pieces []messages.Event
	for _, r := range text {
		pieces = append(pieces, delta(messages.ModelOutputCode, string(r)))
	}
	require.Equal(t, whole, show(t, messages.EN, pieces...))
	require.Equal(t, "  │ first\n  │\n  │   second\t中\n  │\n  │\n  │ third", whole)
}

func TestControlCharactersAreShownNotObeyed(t *testing.T) {
	got := show(t, messages.EN,
		delta(messages.ModelOutputThinking, "a\x1b[2Jb\r\nc\rd\u202ee\u009bf\x7f"),
		messages.Event{Type: messages.Tool, ToolName: "t\x1b]0;x\x07", ToolArguments: json.RawMessage(`{}`)},
		messages.Event{Type: messages.FinalAnswer, Content: "x\x1b[31m", Status: messages.StatusAnswered},
	)
	require.NotContains(t, got, "\x1b")
	require.NotContains(t, got, "\r")
	require.Contains(t, got, "a␛[2Jb\nc␍d\ufffde\ufffdf␡")
}

func TestHowARunEnds(t *testing.T) {
	for status, tc := range map[messages.Status]struct {
		ev   messages.Event
		want string
	}{
		messages.StatusStopped:  {last(messages.FinalAnswer, messages.UserBreak, ""), "  ✗ The run was stopped.\n"},
		messages.StatusMaxSteps: {last(messages.FinalAnswer, "so far", ""), "Answer at the step limit"},
		messages.StatusBlocked:  {last(messages.FinalAnswer, "no", ""), "  ✗ The answer was blocked.\n"},
		messages.StatusBudget:   {last(messages.FinalAnswer, "so far", ""), "  ✗ The run's budget is used up.\n"},
		messages.StatusFailed:   {messages.Event{Type: messages.Error, ErrorCode: "rate_limit", Content: "slow down", Retryable: &[]bool{true}[0]}, "  ✗ failed (rate_limit): slow down (trying again may help)\n"},
	} {
		t.Run(string(status), func(t *testing.T) {
			tc.ev.Status = status
			got := show(t, messages.EN, tc.ev)
			require.Contains(t, got, tc.want)
			require.NotContains(t, got, messages.UserBreak)
		})
	}
}

func TestColourIsOnlyAround(t *testing.T) {
	var b strings.Builder
	s := newStream(&b, messages.EN, colourPalette(), defaultWidth)
	for _, ev := range everything() {
		require.NoError(t, s.event(ev))
	}
	require.Contains(t, b.String(), "\x1b[")
	require.Equal(t, show(t, messages.EN, everything()...), stripANSI(b.String()))
}

func TestAFailedWriteIsReported(t *testing.T) {
	s := newStream(brokenPipe{}, messages.EN, plainPalette(), defaultWidth)
	require.ErrorIs(t, s.event(messages.Event{Type: messages.StepCount, Step: 1}), errBroken)
}

var errBroken = errors.New("broken pipe")

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errBroken }
