package cases

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe"
	"github.com/troupe-go/troupe/actors/tool"
	"github.com/troupe-go/troupe/messages"
	"github.com/troupe-go/troupe/tests/scripted"
)

var update = flag.Bool("update", false, "write testdata/runs from what runs give")

// TestRuns holds the exact event stream of one run for each way to end.
// go test ./tests/cases -run TestRuns -update writes the files again.
func TestRuns(t *testing.T) {
	for name, run := range map[string]func(*testing.T) trace{
		"answered_by_final_answer": runFinalAnswer,
		"answered_by_prose":        runProse,
		"max_steps_zh":             runMaxSteps,
		"failed_by_401":            runUnauthorized,
		"stopped_now":              runStopped,
		"blocked_by_filter":        runFiltered,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			golden(t, name, run(t))
		})
	}
}

// usage makes token counts the provider's, not estimates.
func usage(in, out int) *scripted.Usage {
	return &scripted.Usage{PromptTokens: in, CompletionTokens: out}
}

func runFinalAnswer(t *testing.T) trace {
	s := play(t, answers(
		scripted.Reply{Usage: usage(100, 20), Reasoning: "A file first.", Text: "Thought: write, then count.\n" +
			code(`import json`, `create_file(file_path="notes/a.txt", content="one\ntwo\n")`, `print(json.loads(read_file("notes/a.txt"))["content"])`, `6 * 7`)},
		scripted.Reply{Usage: usage(140, 12), Text: code(`oops`)},
		scripted.Reply{Usage: usage(170, 9), Text: code(`final_answer("two lines, and 42")`)},
	), fileTools)
	return s.run(troupe.RunRequest{Query: "Write two lines."})
}

func runProse(t *testing.T) trace {
	s := play(t, answers(
		// Longer than any first back-off: the warning tells the same wait each time.
		scripted.Reply{Status: 500, Error: &scripted.Error{Message: "hiccup"}, Headers: map[string]string{"Retry-After-Ms": "1600"}},
		scripted.Reply{Usage: usage(50, 8), Text: "<code>\nprint(1", FinishReason: "length"},
		scripted.Reply{Usage: usage(60, 10), Text: "<think>Easy.</think>It is four."},
	))
	return s.run(troupe.RunRequest{Query: "What is 2 + 2?"})
}

func runMaxSteps(t *testing.T) trace {
	s := play(t, answers(
		scripted.Reply{Usage: usage(100, 20), Text: "思考：先看看\n" + code(`print("第一步")`)},
		scripted.Reply{Usage: usage(120, 20), Text: "思考：再看看\n" + code(`print("第二步")`)},
		scripted.Reply{Usage: usage(150, 15), Text: "目前只完成了两步。"},
	), func(cfg *troupe.Config) { cfg.Agents[0].MaxSteps = 2 })
	return s.run(troupe.RunRequest{Query: "数到三。", Lang: messages.ZH})
}

func runUnauthorized(t *testing.T) trace {
	_, tr := reply(t, scripted.Reply{Status: 401, Error: &scripted.Error{Message: "Incorrect API key provided", Code: "invalid_api_key"}})
	return tr
}

func runFiltered(t *testing.T) trace {
	_, tr := reply(t, scripted.Reply{Text: "I would ", FinishReason: "content_filter", Usage: usage(40, 3)})
	return tr
}

// runStopped is stopped, at once, while a tool works.
func runStopped(t *testing.T) trace {
	begun := make(chan struct{})
	wait, err := tool.Func("wait_for_it", "Waits until it is cancelled.", func(ctx context.Context, _ struct{}) (string, error) {
		close(begun)
		<-ctx.Done()
		return "", ctx.Err()
	})
	require.NoError(t, err)
	s := play(t, answers(scripted.Reply{Usage: usage(100, 20), Text: "Thought: wait.\n" + code("print('before')", "wait_for_it()", "print('after')")}),
		func(cfg *troupe.Config) {
			cfg.GoTools = []tool.Tool{wait}
			cfg.Agents[0].Tools = []string{"wait_for_it"}
		})
	ctx := t.Context()
	accepted, err := s.troupe.Start(ctx, troupe.RunRequest{Query: "Wait."})
	require.NoError(t, err)
	<-begun
	stopped, err := s.troupe.Stop(ctx, messages.Stop{Run: accepted.Run, After: messages.StopNow})
	require.NoError(t, err)
	require.Equal(t, messages.StatusStopped, stopped.Status)
	var tr trace
	for ev, err := range s.troupe.Watch(ctx, accepted.Run, 0) {
		require.NoError(t, err)
		tr = append(tr, ev)
	}
	s.wellFormed(tr)
	return tr
}

// golden compares a run with its file, in a form that is the same each time.
func golden(t *testing.T, name string, tr trace) {
	t.Helper()
	path := filepath.Join("testdata", "runs", name+".jsonl")
	got := normal(t, tr)
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "write it with -update")
	require.Equal(t, string(want), got)
}

// normal is a run as lines of JSON without what differs from run to run: ids
// become numbers in order of appearance, times and durations go, and text that
// came in pieces is joined.
func normal(t *testing.T, tr trace) string {
	t.Helper()
	attempts, calls := names{}, names{}
	var events []messages.Event
	for _, ev := range tr {
		ev.RunID, ev.ID, ev.Seq, ev.Time = "", messages.EventID{}, 0, time.Time{}
		ev.AttemptID = attempts.of("attempt", ev.AttemptID)
		ev.ToolCallID = calls.of("call", ev.ToolCallID)
		if ev.Type == messages.TokenCount {
			ev.Content = steady(t, ev.Content)
		}
		if n := len(events); n > 0 && slices.Contains(shown, ev.Type) && events[n-1].Type == ev.Type && events[n-1].AttemptID == ev.AttemptID {
			events[n-1].Content += ev.Content
			continue
		}
		events = append(events, ev)
	}
	var b strings.Builder
	for i := range events {
		b.Write(events[i].AppendJSON(nil))
		b.WriteByte('\n')
	}
	return b.String()
}

// names numbers ids.
type names map[string]string

func (n names) of(kind, id string) string {
	if id == "" {
		return ""
	}
	if _, ok := n[id]; !ok {
		n[id] = fmt.Sprintf("%s-%d", kind, len(n)+1)
	}
	return n[id]
}

// varying are the figures of TOKEN_COUNT that differ from run to run, or with
// every word of the system prompt.
var varying = regexp.MustCompile(`"(duration|estimated_context_tokens|uncompressed_est_tokens)":[0-9.]+`)

// steady is the payload of TOKEN_COUNT without the figures that vary.
func steady(t *testing.T, content string) string {
	t.Helper()
	require.Len(t, varying.FindAllString(content, -1), 3)
	return varying.ReplaceAllString(content, `"$1":0`)
}
