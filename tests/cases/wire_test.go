package cases

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe"
	"github.com/troupe-go/troupe/actors/tool"
	"github.com/troupe-go/troupe/messages"
	"github.com/troupe-go/troupe/tests/scripted"
)

// wireCases are the faults of providers' streams.
func wireCases() cases {
	return cases{
		"WIRE-01": holesInChunks,
		"WIRE-02": usageAfterFinish,
		"WIRE-04": noDone,
		"WIRE-06": eventStreamForms,
		"WIRE-09": errorInStream,
		"WIRE-11": noStream,
		"WIRE-12": retryAfter,
		"WIRE-14": contentFilter,
		"WIRE-15": cutAction,
		"WIRE-17": bytewise,
		"WIRE-18": toolCallsWithoutIndex,
		"WIRE-20": contentShapes,
	}
}

// reply runs one query on a model that gives one reply.
func reply(t *testing.T, r scripted.Reply) (*stage, trace) {
	t.Helper()
	s := play(t, answers(r))
	return s, s.run(troupe.RunRequest{Query: "Go."})
}

func holesInChunks(t *testing.T) {
	s, tr := reply(t, sse(
		`{"choices":[],"prompt_filter_results":[]}`,
		content("a"),
		`{"choices":[{"index":0,"finish_reason":null,"content_filter_results":{}}]}`,
		`{"choices":[{"index":0,"delta":null}]}`,
		finishStop, done,
	))
	tr.answered(t, "a")
	require.Equal(t, []spoken{{messages.ModelOutputThinking, "a"}}, tr.speech())
	require.Len(t, tr.of(shown...), 1, "no empty token event")
	require.Empty(t, tr.of(messages.Warning, messages.Error))
	s.calls(1)
}

func usageAfterFinish(t *testing.T) {
	_, tr := reply(t, sse(content("It is four."), finishStop,
		`{"choices":[],"usage":{"prompt_tokens":11,"completion_tokens":2,"total_tokens":13}}`, done))
	tr.answered(t, "It is four.")
	counts := tr.of(messages.TokenCount)
	require.Len(t, counts, 1)
	var tokens struct {
		In  int `json:"step_input_tokens"`
		Out int `json:"step_output_tokens"`
	}
	require.NoError(t, json.Unmarshal([]byte(counts[0].Content), &tokens))
	require.Equal(t, 11, tokens.In)
	require.Equal(t, 2, tokens.Out)
}

func noDone(t *testing.T) {
	begun := time.Now()
	s, tr := reply(t, sse(content("ok"), finishStop))
	tr.answered(t, "ok")
	require.Less(t, time.Since(begun), 10*time.Second, "no time-out (the shortest is 60s) was waited for")
	s.calls(1)
}

func eventStreamForms(t *testing.T) {
	for name, end := range map[string]string{"LF": "", "CRLF": "\r"} {
		t.Run(name, func(t *testing.T) {
			s, tr := reply(t, scripted.Reply{Lines: []string{
				": ping" + end, "event: message" + end, "id: 7" + end, "retry: 3000" + end,
				"data:" + content("a") + end, end,
				"data: " + finishStop + end, end,
				"data: [DONE]" + end, end,
			}})
			tr.answered(t, "a")
			require.Equal(t, []spoken{{messages.ModelOutputThinking, "a"}}, tr.speech())
			s.calls(1)
		})
	}
}

func errorInStream(t *testing.T) {
	quota := sse(`{"error":{"message":"quota exceeded","code":429}}`, done)
	t.Run("goes on", func(t *testing.T) {
		t.Parallel()
		s := play(t, answers(quota, quota, quota))
		tr := s.run(troupe.RunRequest{Query: "Go."})
		last := tr.last()
		require.Equal(t, messages.Error, last.Type)
		require.Equal(t, messages.StatusFailed, last.Status)
		require.Contains(t, last.Content, "quota exceeded")
		require.Equal(t, "model_rate_limit_exhausted", last.ErrorCode)
		require.Len(t, tr.of(messages.Warning), 2, "one before each new try")
		require.Empty(t, tr.of(messages.FinalAnswer))
		s.calls(3)
	})
	t.Run("passes", func(t *testing.T) {
		t.Parallel()
		s := play(t, answers(quota, scripted.Reply{Text: "ok"}))
		tr := s.run(troupe.RunRequest{Query: "Go."})
		tr.answered(t, "ok")
		warnings := tr.of(messages.Warning)
		require.Len(t, warnings, 1)
		require.Equal(t, "model_rate_limit", warnings[0].ErrorCode, "as for HTTP 429")
		require.Contains(t, warnings[0].Content, "quota exceeded")
		s.calls(2)
	})
	t.Run("in mid-answer", func(t *testing.T) {
		t.Parallel()
		s := play(t, answers(sse(content("half an ans"), `{"error":{"message":"quota exceeded","code":429}}`, done), scripted.Reply{Text: "ok"}))
		tr := s.run(troupe.RunRequest{Query: "Go."})
		tr.answered(t, "ok")
		var phases []string
		for _, ev := range tr.of(messages.ModelAttemptControl) {
			phases = append(phases, ev.Phase)
		}
		require.Equal(t, []string{"begin", "rollback", "begin", "commit"}, phases, "what was shown of it is withdrawn")
	})
}

func noStream(t *testing.T) {
	t.Run("HTML", func(t *testing.T) {
		s, tr := reply(t, scripted.Reply{Body: "<html>login</html>", ContentType: "text/html"})
		last := tr.last()
		require.Equal(t, messages.Error, last.Type)
		require.Equal(t, messages.StatusFailed, last.Status)
		require.Contains(t, last.Content, "text/html")
		require.Contains(t, last.Content, "<html>login")
		s.calls(1)
	})
	t.Run("JSON", func(t *testing.T) {
		s, tr := reply(t, scripted.Reply{ContentType: "application/json", Body: `{"id":"c1","object":"chat.completion","created":1,"model":"m",` +
			`"choices":[{"index":0,"message":{"role":"assistant","content":"hello"},"finish_reason":"stop"}],` +
			`"usage":{"prompt_tokens":3,"completion_tokens":1,"total_tokens":4}}`})
		tr.answered(t, "hello")
		require.Equal(t, []spoken{{messages.ModelOutputThinking, "hello"}}, tr.speech())
		s.calls(1)
	})
}

func retryAfter(t *testing.T) {
	t.Parallel()
	s := play(t, answers(
		scripted.Reply{Status: 429, Headers: map[string]string{"Retry-After": "2"}, Error: &scripted.Error{Message: "slow down"}},
		scripted.Reply{Text: "ok"},
	))
	tr := s.run(troupe.RunRequest{Query: "Go."})
	tr.answered(t, "ok")
	s.calls(2)
	requests := s.model.Requests()
	waited := requests[1].Time.Sub(requests[0].Time)
	require.GreaterOrEqual(t, waited, 2*time.Second)
	require.Less(t, waited, 3500*time.Millisecond)
	require.Len(t, tr.of(messages.Warning), 1)
}

func contentFilter(t *testing.T) {
	for name, r := range map[string]scripted.Reply{
		"empty":         sse(`{"choices":[{"index":0,"delta":{},"finish_reason":"content_filter"}]}`, done),
		"in mid-answer": {Text: "<code>\nprint('half", FinishReason: "content_filter"},
	} {
		t.Run(name, func(t *testing.T) {
			s, tr := reply(t, r)
			require.Equal(t, messages.StatusBlocked, tr.last().Status)
			require.Equal(t, messages.FinalAnswer, tr.last().Type)
			require.NotEmpty(t, tr.last().Content)
			require.Len(t, tr.of(messages.Verification), 1)
			require.Empty(t, tr.of(messages.Parse, messages.Warning, messages.Error))
			s.calls(1)
		})
	}
}

func cutAction(t *testing.T) {
	type args struct {
		Name string `json:"name"`
	}
	var called int
	remove, err := tool.Func("remove_item", "Removes an item.", func(context.Context, args) (string, error) {
		called++
		return "removed", nil
	})
	require.NoError(t, err)
	for name, text := range map[string]string{
		"not closed": "<code>\nfor n in ['a','b']:\n    remove_item(n)\n",
		"closed":     "<code>\nremove_item('a')\n</code>\nand then",
	} {
		t.Run(name, func(t *testing.T) {
			called = 0
			s := play(t, answers(scripted.Reply{Text: text, FinishReason: "length"}, scripted.Reply{Text: finish}), func(cfg *troupe.Config) {
				cfg.GoTools = []tool.Tool{remove}
				cfg.Agents[0].Tools = []string{"remove_item"}
			})
			tr := s.run(troupe.RunRequest{Query: "Go."})
			tr.answered(t, "done")
			tr.ran(t, "final_answer('done')")
			require.Zero(t, called)
			require.Empty(t, tr.of(messages.Tool))
			require.Contains(t, s.sent(2), "cut off")
			s.calls(2)
		})
	}
}

func bytewise(t *testing.T) {
	const text = "修复😀"
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, log.Close()) }) // after the node's end
	s := play(t, answers(
		scripted.Reply{Bytewise: true, Text: code("print('"+text+"')", "create_file(file_path='a.txt', content='"+text+"')")},
		scripted.Reply{Bytewise: true, Text: text},
	), fileTools, func(cfg *troupe.Config) {
		cfg.Logger = slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	folder := t.TempDir()
	tr := s.run(troupe.RunRequest{Query: text, Overrides: messages.Overrides{Workspace: folder}})
	tr.answered(t, text)
	require.Contains(t, tr.firstCode(), "print('"+text+"')")
	require.Equal(t, text, tr.speech()[len(tr.speech())-1].Text)
	require.Contains(t, tr.text(messages.ExecutionLogs), text)
	require.Contains(t, s.sent(2), text)
	stored, err := os.ReadFile(filepath.Join(folder, "a.txt"))
	require.NoError(t, err)
	require.Equal(t, text, string(stored))
	for _, ev := range tr {
		require.NotContains(t, string(ev.AppendJSON(nil)), "\ufffd")
	}
	for _, r := range s.model.Requests() {
		require.NotContains(t, string(r.Body), "\ufffd")
	}
	logged, err := os.ReadFile(log.Name())
	require.NoError(t, err)
	require.NotEmpty(t, logged)
	require.NotContains(t, string(logged), "\ufffd")
}

func toolCallsWithoutIndex(t *testing.T) {
	delta := func(call string) string { return `{"choices":[{"index":0,"delta":{"tool_calls":[` + call + `]}}]}` }
	for name, deltas := range map[string][]string{
		"no index": {
			delta(`{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}`),
			delta(`{"id":"c2","type":"function","function":{"name":"g","arguments":"{}"}}`),
		},
		"names only": {
			delta(`{"function":{"name":"f","arguments":"{}"}}`),
			delta(`{"function":{"name":"g","arguments":"{}"}}`),
		},
		"id in the first delta only": {
			delta(`{"id":"c1","type":"function","function":{"name":"f","arguments":"{"}}`),
			delta(`{"function":{"arguments":"}"}}`),
			delta(`{"id":"c2","type":"function","function":{"name":"g","arguments":"{"}}`),
			delta(`{"function":{"arguments":"}"}}`),
		},
	} {
		t.Run(name, func(t *testing.T) {
			end := []string{`{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`, done}
			s := play(t, answers(sse(append(deltas, end...)...), scripted.Reply{Text: "ok"}))
			tr := s.run(troupe.RunRequest{Query: "Go."})
			tr.answered(t, "ok")
			require.Contains(t, s.sent(2), "native tool calls (f, g)")
			require.Empty(t, tr.of(messages.Parse, messages.Tool))
			require.Len(t, tr.of(messages.Warning), 1)
			s.calls(2)
		})
	}
}

func contentShapes(t *testing.T) {
	const image = "data:image/png;base64,iVBORw0KGgo="
	history := []messages.Turn{
		{Role: "user", Content: "text-a"},
		{Role: "user", Parts: []messages.ContentPart{{Type: "text", Text: "text-b"}, {Type: "image_url", ImageURL: &messages.ImageURL{URL: image}}}},
		{Role: "assistant"},
	}
	type message struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	}
	for name, flatten := range map[string]bool{"parts": false, "flattened": true} {
		t.Run(name, func(t *testing.T) {
			s := play(t, says("ok"), func(cfg *troupe.Config) {
				cfg.Models[0].Images, cfg.Models[0].FlattenContent = true, flatten
			})
			tr := s.run(troupe.RunRequest{Query: "text-c", History: history})
			tr.answered(t, "ok") // the scripted model is strict: it refuses null and mixed content
			s.calls(1)
			body := s.model.Requests()[0].Body
			var request struct{ Messages []message }
			require.NoError(t, json.Unmarshal(body, &request))
			var roles []string
			for _, m := range request.Messages {
				roles = append(roles, m.Role)
			}
			require.Equal(t, []string{"system", "user", "user", "user"}, roles, "a turn with nothing in it is no message")
			require.JSONEq(t, `"text-a"`, string(request.Messages[1].Content))
			require.Contains(t, string(request.Messages[3].Content), "text-c")
			second := string(request.Messages[2].Content)
			if flatten {
				require.Equal(t, byte('"'), second[0])
				require.Contains(t, second, "text-b")
				require.Contains(t, second, "1 image", "the model is told of what it can't see")
				return
			}
			require.JSONEq(t, `[{"type":"text","text":"text-b"},{"type":"image_url","image_url":{"url":"`+image+`"}}]`, second)
		})
	}
}
