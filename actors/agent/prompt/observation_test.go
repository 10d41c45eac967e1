package prompt_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/troupe-go/troupe/actors/agent/action"
	"github.com/troupe-go/troupe/actors/agent/prompt"
	"github.com/troupe-go/troupe/messages"
)

func TestObservation(t *testing.T) {
	boom := &messages.PyError{Type: "ZeroDivisionError", Message: "division by zero", Line: 3, Traceback: "  line 3, in <block>"}
	for name, c := range map[string]struct {
		o      prompt.ObservationData
		en, zh string
	}{
		"nothing":                {prompt.ObservationData{}, "Execution logs:\n", "Execution logs:\n"},
		"logs":                   {prompt.ObservationData{Logs: "a\nb\n"}, "Execution logs:\na\nb\n", "Execution logs:\na\nb\n"},
		"value":                  {prompt.ObservationData{Value: "42"}, "Execution logs:\nLast output from code snippet:\n42", "Execution logs:\nLast output from code snippet:\n42"},
		"no newline at the end":  {prompt.ObservationData{Logs: "a", Value: "42"}, "Execution logs:\na\nLast output from code snippet:\n42", "Execution logs:\na\nLast output from code snippet:\n42"},
		"error after logs":       {prompt.ObservationData{Logs: "found 3\n", Err: boom}, "Execution logs:\nfound 3\nError in line 3: ZeroDivisionError: division by zero", "Execution logs:\nfound 3\n第 3 行出错：ZeroDivisionError: division by zero"},
		"error without a line":   {prompt.ObservationData{Err: &messages.PyError{Type: "ToolError", Message: "100% [bold]no[/bold]"}}, "Execution logs:\nError: ToolError: 100% [bold]no[/bold]", "Execution logs:\n错误：ToolError: 100% [bold]no[/bold]"},
		"notes":                  {prompt.ObservationData{Logs: "x", Notes: []string{"one", "two"}}, "Execution logs:\nx\none\ntwo", "Execution logs:\nx\none\ntwo"},
		"error, value and notes": {prompt.ObservationData{Value: "1", Err: &messages.PyError{Type: "E", Message: "m"}, Notes: []string{"n"}}, "Execution logs:\nLast output from code snippet:\n1\nError: E: m\nn", "Execution logs:\nLast output from code snippet:\n1\n错误：E: m\nn"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.en, prompt.Observation(messages.EN, c.o))
			require.Equal(t, c.zh, prompt.Observation(messages.ZH, c.o))
		})
	}
}

func TestErrorShowsFramesBelowTheTop(t *testing.T) {
	const place = "  line 5\n    parse(s)\n"
	for name, c := range map[string]struct{ traceback, want string }{
		"at the top":       {place + "ValueError: bad", ""},
		"without a source": {"  line 5\nValueError: bad", ""},
		"below":            {place + "  line 2, in parse\n    raise ValueError('bad')\nValueError: bad", "\n" + place + "  line 2, in parse\n    raise ValueError('bad')"},
		"with a cause":     {place + "ValueError: bad\ncaused by KeyError: 'x' (line 4)", "\n" + place + "caused by KeyError: 'x' (line 4)"},
		"syntax":           {place + "         ^\nValueError: bad", "\n" + place + "         ^"},
	} {
		t.Run(name, func(t *testing.T) {
			err := &messages.PyError{Type: "ValueError", Message: "bad", Line: 5, Traceback: c.traceback}
			require.Equal(t, "Error in line 5: ValueError: bad"+c.want, prompt.Error(messages.EN, err))
		})
	}
}

// TestClipOutput counts what the executor has left out as well.
func TestClipOutput(t *testing.T) {
	out := strings.Repeat("a", 1000) + "\n… 8000 bytes of output left out …\n" + strings.Repeat("b", 1000)
	for _, limit := range []int{100, 200, 1000, 2000, len(out) - 1} {
		got := prompt.ClipOutput(out, 10_000, limit, messages.EN)
		require.LessOrEqual(t, len(got), limit)
		kept := int64(strings.Count(got, "a") + strings.Count(got, "b") - strings.Count("bytes", "b"))
		require.Contains(t, got, fmt.Sprintf("\n[… %d of 10000 bytes left out here …]\n", 10_000-kept))
		require.NotContains(t, got, "of output")
	}
	require.Equal(t, out, prompt.ClipOutput(out, 10_000, len(out), messages.EN))
}

// PY-09: a flood is cut to the limit; head, tail, value and error stay, and a
// note says how much is left out.
func TestObservationIsCut(t *testing.T) {
	flood := "HEAD " + strings.Repeat("0123456789", 100_000) + " TAIL\n"
	for _, lang := range languages {
		t.Run(lang, func(t *testing.T) {
			text := prompt.Observation(lang, prompt.ObservationData{
				Logs: flood, Value: "'the value'", Err: &messages.PyError{Type: "ValueError", Message: "the error", Line: 9}, Limit: 4096,
			})
			require.LessOrEqual(t, len(text), 4096)
			require.Greater(t, len(text), 4000, "the room is used")
			for _, part := range []string{"HEAD 0123", "789 TAIL", "'the value'", "ValueError: the error"} {
				require.Contains(t, text, part)
			}
			require.Contains(t, text, fmt.Sprint(len(flood)))
			require.Contains(t, text, map[string]string{messages.EN: "bytes left out", messages.ZH: "此处省略"}[lang])
		})
	}
	require.Len(t, prompt.Observation(messages.EN, prompt.ObservationData{Logs: strings.Repeat("x", prompt.DefaultLimit-18)}), prompt.DefaultLimit-2)
}

func TestObservationBounds(t *testing.T) {
	text := rapid.StringOfN(rapid.RuneFrom([]rune("ab\n你é😀")), 0, 900, -1)
	rapid.Check(t, func(t *rapid.T) {
		o := prompt.ObservationData{Logs: text.Draw(t, "logs"), Value: text.Draw(t, "value"), Limit: rapid.IntRange(1, 3000).Draw(t, "limit")}
		if rapid.Bool().Draw(t, "fails") {
			o.Err = &messages.PyError{Type: "E", Message: text.Draw(t, "message")}
		}
		lang := rapid.SampledFrom(languages).Draw(t, "lang")
		got := prompt.Observation(lang, o)
		if len(got) > max(o.Limit, prompt.MinLimit) {
			t.Fatalf("%d bytes for a limit of %d", len(got), o.Limit)
		}
		if !utf8.ValidString(got) {
			t.Fatalf("a character was cut in two: %q", got)
		}
	})
}

func TestClip(t *testing.T) {
	for name, c := range map[string]struct {
		in    string
		limit int
		want  string
	}{
		"fits":          {"abc", 3, "abc"},
		"head and tail": {strings.Repeat("a", 100) + strings.Repeat("b", 100), 100, strings.Repeat("a", 40) + "\n[… 140 of 200 bytes left out here …]\n" + strings.Repeat("b", 20)},
		"no room":       {strings.Repeat("a", 100), 10, "[… 100 "},
		"zero":          {"abc", 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := prompt.Clip(c.in, c.limit, messages.EN)
			require.LessOrEqual(t, len(got), c.limit)
			if strings.HasPrefix(c.want, "a") && name != "fits" {
				require.True(t, strings.HasPrefix(got, "aaaa") && strings.HasSuffix(got, "bbbb"), got)
				return
			}
			require.True(t, strings.HasPrefix(got, c.want), got)
		})
	}
}

func TestInterrupted(t *testing.T) {
	full := prompt.InterruptedData{
		Done: []prompt.InterruptedCall{
			{Tool: "create_file", Arguments: `{"file_path":"a.txt"}`, Result: `"ok"`},
			{Tool: "read_file", Err: &messages.ToolError{Type: "ValueError", Message: "no such file"}},
		},
		InDoubt:  []prompt.InterruptedCall{{Tool: "send_email", Arguments: strings.Repeat("x", 1000)}},
		Children: []string{"researcher"},
	}
	for _, lang := range languages {
		golden(t, "interrupted_"+lang, prompt.Interrupted(lang, full))
		golden(t, "interrupted_idle_"+lang, prompt.Interrupted(lang, prompt.InterruptedData{}))
	}
	many := prompt.Interrupted(messages.EN, prompt.InterruptedData{Done: make([]prompt.InterruptedCall, 1000)})
	require.Contains(t, many, "- and 960 more")
}

func TestFullWidth(t *testing.T) {
	hints := []action.Hint{{Line: 1, Column: 6, Character: "（", ASCII: "("}}
	require.Equal(t, []string{`Line 1, column 6: "（" is a full-width character; write "(" in code.`}, prompt.FullWidth(messages.EN, hints))
	require.Equal(t, []string{`第 1 行第 6 列："（" 是全角字符；代码中请写 "("。`}, prompt.FullWidth(messages.ZH, hints))
	require.Empty(t, prompt.FullWidth(messages.EN, nil))
}
