package scripted_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/tests/scripted"
)

type bundle struct {
	t      *testing.T
	server *scripted.Server
	http   *http.Client
}

func setup(t *testing.T, script string) *bundle {
	t.Helper()
	parsed, err := scripted.Parse([]byte(script))
	require.NoError(t, err)
	server, err := scripted.Start(parsed)
	require.NoError(t, err)
	b := &bundle{t: t, server: server, http: &http.Client{Transport: &http.Transport{}, Timeout: 20 * time.Second}}
	t.Cleanup(func() {
		b.http.CloseIdleConnections()
		require.NoError(t, server.Close())
	})
	return b
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

func user(text string) message { return message{"user", text} }

func (b *bundle) post(ctx context.Context, model string, history ...message) *http.Response {
	b.t.Helper()
	body, err := json.Marshal(map[string]any{"model": model, "messages": history})
	require.NoError(b.t, err)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, b.server.URL()+"/chat/completions", strings.NewReader(string(body)))
	require.NoError(b.t, err)
	req.Header.Set("Authorization", "Bearer secret-key")
	resp, err := b.http.Do(req)
	require.NoError(b.t, err)
	b.t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// ask gives the status and the body, or the text of the stream's deltas.
func (b *bundle) ask(model string, history ...message) (int, string) {
	b.t.Helper()
	resp := b.post(b.t.Context(), model, history...)
	if resp.Header.Get("Content-Type") != "text/event-stream" {
		body, err := io.ReadAll(resp.Body)
		require.NoError(b.t, err)
		return resp.StatusCode, string(body)
	}
	var text strings.Builder
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok || data == "[DONE]" {
			continue
		}
		var chunk struct {
			Choices []struct{ Delta struct{ Content string } }
		}
		require.NoError(b.t, json.Unmarshal([]byte(data), &chunk))
		for _, c := range chunk.Choices {
			text.WriteString(c.Delta.Content)
		}
	}
	return resp.StatusCode, text.String()
}

func TestMatching(t *testing.T) {
	b := setup(t, `
turns:
  - match: {model: other}
    repeat: true
    reply: {text: from other}
  - match: {last_user_regexp: '^Q\d'}
    reply: {text: numbered}
  - match: {any: Observation, step: 2}
    reply: {text: seen}
  - name: twice
    match: {last_user: hello}
    replies: [{text: first}, {text: second}]
`)
	says := func(want, model string, history ...message) {
		t.Helper()
		status, text := b.ask(model, history...)
		require.Equal(t, 200, status)
		require.Equal(t, want, text)
	}
	says("first", "m", user("well, hello"))
	says("from other", "other", user("hello"))
	says("seen", "m", user("hello"), message{"assistant", "a"}, user("Observation: 1"))
	says("second", "m", user("hello"))
	says("numbered", "m", user("Q7"))
	says("from other", "other", user("Q7"))

	status, text := b.ask("m", user("hello"))
	require.Equal(t, 400, status)
	require.Contains(t, text, "twice (used up)")
	require.Contains(t, text, "hello")

	requests := b.server.Requests()
	require.Len(t, requests, 7)
	require.Equal(t, "twice", requests[0].Turn)
	require.Empty(t, requests[6].Turn)
	require.Equal(t, []scripted.Message{{Role: "user", Text: "well, hello"}}, requests[0].Messages)
	require.Equal(t, "***", requests[0].Header.Get("Authorization"))
}

func TestReplies(t *testing.T) {
	for name, c := range map[string]struct {
		reply string
		want  string // the body as it came
	}{
		"raw lines":      {`{lines: [": ping", "", "data: [DONE]"]}`, ": ping\n\ndata: [DONE]\n"},
		"cut lines":      {`{lines: [a, b, c], cut_after: 2}`, "a\nb\n"},
		"a body":         {`{body: "<html>", content_type: text/html}`, "<html>"},
		"an error":       {`{status: 429, headers: {Retry-After: "2"}, error: {message: slow, code: 429}}`, `{"error":{"message":"slow","code":429}}`},
		"a status alone": {`{status: 503}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := setup(t, `{turns: [{reply: `+c.reply+`}]}`)
			resp := b.post(t.Context(), "m", user("x"))
			body, err := io.ReadAll(resp.Body)
			require.Equal(t, c.want, string(body))
			require.Equal(t, name == "cut lines", err != nil)
			if name == "an error" {
				require.Equal(t, "2", resp.Header.Get("Retry-After"))
			}
		})
	}
}

func TestStreamOfAReply(t *testing.T) {
	b := setup(t, `{turns: [{reply: {text: 修复ab, chunk: 2, reasoning: hm, usage: {prompt_tokens: 1, completion_tokens: 2}, finish_reason: length}}]}`)
	resp := b.post(t.Context(), "m", user("x"))
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	stream := string(body)
	for _, part := range []string{`"reasoning_content":"hm"`, `"content":"修"`, `"content":"复"`, `"content":"ab"`, `"finish_reason":"length"`, `"prompt_tokens":1`, "data: [DONE]\n\n"} {
		_, after, found := strings.Cut(stream, part)
		require.True(t, found, "%s after what came before it in %s", part, body)
		stream = after
	}
}

func TestDisconnected(t *testing.T) {
	for _, reply := range []string{`{text: word, endless: true, delay: 1ms}`, `{hang: body}`, `{hang: headers}`} {
		t.Run(reply, func(t *testing.T) {
			b := setup(t, `{turns: [{reply: `+reply+`}]}`)
			ctx, cancel := context.WithCancel(t.Context())
			came := b.server.Changed()
			done := make(chan struct{})
			go func() {
				defer close(done)
				req, err := http.NewRequestWithContext(ctx, http.MethodPost, b.server.URL()+"/chat/completions", strings.NewReader(`{"model":"m","messages":[{"role":"user","content":"x"}]}`))
				if err != nil {
					return
				}
				if resp, err := b.http.Do(req); err == nil {
					io.Copy(io.Discard, resp.Body)
					resp.Body.Close()
				}
			}()
			<-came
			left := b.server.Changed()
			at := time.Now()
			cancel()
			<-left
			<-done
			gone := b.server.Disconnected()
			require.Len(t, gone, 1)
			require.Equal(t, 0, gone[0].Request)
			require.False(t, gone[0].Time.Before(at))
		})
	}
}

func TestScriptErrors(t *testing.T) {
	for name, c := range map[string]struct{ script, says string }{
		"unknown key":  {"turns:\n  - reply:\n      txet: a\n", "3:7"},
		"no turns":     {"chunk: 3\n", "no turns"},
		"no reply":     {"turns: [{name: lost}]\n", "lost"},
		"two forms":    {"turns: [{reply: {text: a, body: b}}]\n", "exclude"},
		"bad pattern":  {"turns: [{match: {any_regexp: '('}, reply: {text: a}}]\n", "any_regexp"},
		"bad hang":     {"turns: [{reply: {hang: never}}]\n", "hang"},
		"both counts":  {"turns: [{times: 2, repeat: true, reply: {text: a}}]\n", "exclude"},
		"empty stream": {"turns: [{reply: {endless: true}}]\n", "endless"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := scripted.Parse([]byte(c.script))
			require.ErrorContains(t, err, c.says)
		})
	}
}

// Strict servers refuse content that is neither text nor parts.
func TestStrictRequests(t *testing.T) {
	b := setup(t, `{turns: [{reply: {text: ok}}]}`)
	for body, says := range map[string]string{
		`{"model":"m","messages":[{"role":"user","content":null}]}`: "message 1",
		`{"model":"m","messages":[]}`:                               "no messages",
		`{`:                                                         "no JSON",
	} {
		resp, err := b.http.Post(b.server.URL()+"/chat/completions", "application/json", strings.NewReader(body))
		require.NoError(t, err)
		text, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, 400, resp.StatusCode)
		require.Contains(t, string(text), says)
	}
}
