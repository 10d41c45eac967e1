package openai_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/model"
	"github.com/troupe-go/troupe/actors/system/worldtest"
	"github.com/troupe-go/troupe/bridge/openai"
	"github.com/troupe-go/troupe/messages"
)

func ptr[T any](v T) *T { return &v }

func TestRequestBody(t *testing.T) {
	for name, c := range map[string]struct {
		define func(*messages.ModelConfig)
		req    model.Request
		want   string // without messages
	}{
		"defaults": {
			func(*messages.ModelConfig) {}, model.Request{},
			`{"stream":true,"model":"scripted","stream_options":{"include_usage":true},"temperature":0.1,"top_p":0.95}`,
		},
		"configured": {
			func(m *messages.ModelConfig) { m.Temperature, m.TopP, m.MaxOutputTokens = ptr(0.0), ptr(1.0), 100 }, model.Request{},
			`{"stream":true,"model":"scripted","stream_options":{"include_usage":true},"temperature":0,"top_p":1,"max_tokens":100}`,
		},
		"the request's limit": {
			func(m *messages.ModelConfig) { m.MaxOutputTokens = 100 }, model.Request{MaxTokens: 7, NoSampling: true},
			`{"stream":true,"model":"scripted","stream_options":{"include_usage":true},"max_tokens":7}`,
		},
		"a reasoning model that go-openai refuses": {
			func(m *messages.ModelConfig) { m.ModelName, m.MaxOutputTokens = "o3-mini", 100 }, model.Request{},
			`{"stream":true,"model":"o3-mini","stream_options":{"include_usage":true},"temperature":0.1,"top_p":0.95,"max_completion_tokens":100}`,
		},
		"extra body": {
			func(m *messages.ModelConfig) {
				m.MaxOutputTokens = 100
				m.ExtraBody = json.RawMessage(`{"temperature":1,"max_completion_tokens":9,"chat_template_kwargs":{"enable_thinking":false}}`)
			}, model.Request{},
			`{"stream":true,"model":"scripted","stream_options":{"include_usage":true},"top_p":0.95,"temperature":1,"max_completion_tokens":9,"chat_template_kwargs":{"enable_thinking":false}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := setup(t, `{turns: [{reply: {text: ok}}]}`, define(c.define))
			c.req.Messages = []messages.ChatMessage{messages.NewChatMessage("system", "s", nil), messages.NewChatMessage("user", "ü\"\n", nil)}
			_, err := b.ask(&c.req)
			require.NoError(t, err)
			var sent map[string]json.RawMessage
			require.NoError(t, json.Unmarshal(b.server.Requests()[0].Body, &sent))
			require.JSONEq(t, `[{"role":"system","content":"s"},{"role":"user","content":"ü\"\n"}]`, string(sent["messages"]))
			delete(sent, "messages")
			rest, err := json.Marshal(sent)
			require.NoError(t, err)
			require.JSONEq(t, c.want, string(rest))
		})
	}
}

func TestConfigRefused(t *testing.T) {
	for name, m := range map[string]messages.ModelConfig{
		"no model name":   {URL: "http://x"},
		"no url":          {ModelName: "m"},
		"no http":         {ModelName: "m", URL: "ftp://x"},
		"hot":             {ModelName: "m", URL: "http://x", Temperature: ptr(3.0)},
		"top_p":           {ModelName: "m", URL: "http://x", TopP: ptr(-0.1)},
		"extra no object": {ModelName: "m", URL: "http://x", ExtraBody: json.RawMessage(`[]`)},
		"key, line break": {ModelName: "m", URL: "http://x", APIKey: "hush-hush\n"},
		"header name":     {ModelName: "m", URL: "http://x", ExtraHeaders: map[string]messages.Secret{"X Key": "hush-hush"}},
		"no header name":  {ModelName: "m", URL: "http://x", ExtraHeaders: map[string]messages.Secret{"": "hush-hush"}},
		"header value":    {ModelName: "m", URL: "http://x", ExtraHeaders: map[string]messages.Secret{"X-Key": "hush-hush\r\nX: y"}},
		"extra messages":  {ModelName: "m", URL: "http://x", ExtraBody: json.RawMessage(`{"messages":[]}`)},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := openai.New(openai.Config{Model: m})
			require.ErrorIs(t, err, openai.ErrConfig)
			require.NotContains(t, faultOf(t, err).EN+faultOf(t, err).ZH, "hush")
		})
	}
}

// handler is a raw server for what a script can't say.
func handler(t *testing.T, h http.HandlerFunc, opts ...option) *bundle {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return &bundle{t: t, ctx: ctx, client: newClient(t, server.URL+"/base", opts...)}
}

func TestEndpointAndHeaders(t *testing.T) {
	var url string
	var header http.Header
	b := handler(t, func(w http.ResponseWriter, r *http.Request) {
		url, header = r.URL.String(), r.Header
		w.Write([]byte("data: {\"choices\":[{\"delta\":{\"content\":\"ok\"},\"finish_reason\":\"stop\"}]}")) // no type, no line end
	}, define(func(m *messages.ModelConfig) {
		m.URL += "/chat/completions?api-version=1"
		m.ExtraHeaders = map[string]messages.Secret{"api-key": "azure-secret"}
	}))
	require.Equal(t, "ok", b.answer().Text)
	require.Equal(t, "/base/chat/completions?api-version=1", url)
	require.Equal(t, "azure-secret", header.Get("Api-Key"))
	require.Equal(t, "identity", header.Get("Accept-Encoding"))
	require.Equal(t, "Bearer "+testKey, header.Get("Authorization"))
}

func TestRedirectIsNotFollowed(t *testing.T) {
	b := handler(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "https://elsewhere.example/login?token=x", http.StatusTemporaryRedirect)
	})
	f := b.refused()
	require.Equal(t, "model_bad_response", f.Code)
	require.False(t, f.Retryable)
	require.Contains(t, f.EN, "https://elsewhere.example/login")
	require.NotContains(t, f.EN, "token")
}

func TestCertificates(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Write([]byte(`{"choices":[{"message":{"content":"ok"}}]}`))
	}))
	server.Config.ErrorLog = quiet
	server.StartTLS()
	defer server.Close()
	ctx := t.Context()

	_, err := newClient(t, server.URL).Stream(ctx, question(), func(model.Delta) {})
	f := faultOf(t, err)
	require.Equal(t, "model_connection_error", f.Code)
	require.False(t, f.Retryable, "a wrong certificate stays one")
	require.Contains(t, f.EN, "ssl_verify")

	reply, err := newClient(t, server.URL, define(func(m *messages.ModelConfig) { m.SSLVerify = ptr(false) })).Stream(ctx, question(), func(model.Delta) {})
	require.NoError(t, err)
	require.Equal(t, "ok", reply.Text)
}

func TestNoServer(t *testing.T) {
	client := newClient(t, "http://127.0.0.1:1/v1?key="+testKey)
	_, err := client.Stream(t.Context(), question(), func(model.Delta) {})
	f := faultOf(t, err)
	require.Equal(t, model.ErrConnection.Code, f.Code)
	require.True(t, f.Retryable)
	require.NotContains(t, err.Error(), testKey)
}

func TestCancelClosesTheConnection(t *testing.T) {
	b := setup(t, `{turns: [{reply: {text: "word ", endless: true, delay: 1ms}}]}`)
	ctx, cancel := context.WithCancel(b.ctx)
	defer cancel()
	changed := b.server.Changed()
	_, err := b.client.Stream(ctx, question(), func(model.Delta) { cancel() })
	require.ErrorIs(t, err, context.Canceled)
	for len(b.server.Disconnected()) == 0 {
		<-changed
		changed = b.server.Changed()
	}
}

func TestCutStream(t *testing.T) {
	for name, script := range map[string]string{
		"connection broken": `{turns: [{reply: {deltas: [a, b, c], cut_after: 2}}]}`,
		"clean end":         `{turns: [{reply: {deltas: [a, b], finish_reason: none, no_done: true}}]}`,
		"no headers":        `{turns: [{reply: {deltas: [a], cut_after: 0}}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			f := setup(t, script).refused()
			require.Equal(t, model.ErrConnection.Code, f.Code)
			require.True(t, f.Retryable)
			if name == "clean end" {
				require.Contains(t, f.EN, "cut after 2 bytes")
			}
		})
	}
}

func TestTimeouts(t *testing.T) {
	for name, c := range map[string]struct {
		reply   string
		advance time.Duration
		says    string
	}{
		"first byte, no headers": {`{hang: headers}`, 10 * time.Second, "first_byte_timeout"},
		"first byte, headers":    {`{hang: body}`, 10 * time.Second, "first_byte_timeout"},
		"whole":                  {`{hang: headers}`, 5 * time.Second, "timeout_seconds"},
	} {
		t.Run(name, func(t *testing.T) {
			world := worldtest.New(1)
			b := setup(t, `{turns: [{reply: `+c.reply+`}]}`, inWorld(world), define(func(m *messages.ModelConfig) {
				m.FirstByteTimeout = 10 * time.Second
				if c.says == "timeout_seconds" {
					m.TimeoutSeconds = 5
				}
			}))
			failed := make(chan error, 1)
			changed := b.server.Changed()
			go func() {
				_, err := b.client.Stream(b.ctx, question(), func(model.Delta) {})
				failed <- err
			}()
			<-changed
			world.Advance(c.advance)
			f := faultOf(t, <-failed)
			require.Equal(t, model.ErrTimeout.Code, f.Code)
			require.True(t, f.Retryable)
			require.Contains(t, f.EN, c.says)
			require.Contains(t, f.ZH, c.says)
		})
	}
}

// A stream that stands still in mid-answer ends by token_timeout; one that has
// its finish_reason but neither [DONE] nor an end is complete soon after.
func TestSilenceInTheStream(t *testing.T) {
	const piece = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n"
	const last = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
	const tokenTimeout = 7 * time.Second
	hold := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			w.Write([]byte(text))
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}
	}
	// run gives the client the text, waits until the bound of the given length
	// is armed (beside the whole call's), and lets it pass.
	run := func(t *testing.T, text string, silence time.Duration) (reply *model.Reply, err error) {
		world := worldtest.New(1)
		b := handler(t, hold(text), inWorld(world), define(func(m *messages.ModelConfig) { m.TokenTimeout = tokenTimeout }))
		done := make(chan struct{})
		go func() {
			defer close(done)
			reply, err = b.client.Stream(b.ctx, question(), func(model.Delta) {})
		}()
		require.Eventually(t, func() bool {
			p := world.Pending()
			return len(p) == 2 && p[0] == silence
		}, 10*time.Second, time.Millisecond)
		world.Advance(silence)
		<-done
		return reply, err
	}

	t.Run("stands still", func(t *testing.T) {
		_, err := run(t, piece, tokenTimeout)
		f := faultOf(t, err)
		require.Equal(t, model.ErrTimeout.Code, f.Code)
		require.Contains(t, f.EN, "token_timeout")
	})
	t.Run("complete but open", func(t *testing.T) {
		reply, err := run(t, piece+last, 2*time.Second)
		require.NoError(t, err)
		require.Equal(t, "a", reply.Text)
	})
}

func TestReasoning(t *testing.T) {
	for _, field := range []string{"reasoning", "reasoning_content"} {
		t.Run(field, func(t *testing.T) {
			b := setup(t, `{turns: [{reply: {reasoning: hm, text: ok, reasoning_field: `+field+`}}]}`)
			reply := b.answer()
			require.Equal(t, "hm", reply.Reasoning)
			require.Equal(t, "ok", reply.Text)
			require.Equal(t, []string{"hm"}, b.reasonings())
		})
	}
	t.Run("parts", func(t *testing.T) {
		b := setup(t, `{turns: [{reply: {lines: ['data: {"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"ok"}]}}]}', 'data: [DONE]']}}]}`)
		reply := b.answer()
		require.Equal(t, "hm", reply.Reasoning)
		require.Equal(t, "ok", reply.Text)
	})
	t.Run("both fields", func(t *testing.T) {
		b := setup(t, `{turns: [{reply: {lines: ['data: {"choices":[{"delta":{"reasoning":"hm","reasoning_content":"hm"}}]}', 'data: [DONE]']}}]}`)
		require.Equal(t, "hm", b.answer().Reasoning)
	})
}

func TestRefusalIsTheAnswer(t *testing.T) {
	b := setup(t, `{turns: [{reply: {lines: ['data: {"choices":[{"delta":{"content":null,"refusal":"I can''t"},"finish_reason":"stop"}]}', 'data: [DONE]']}}]}`)
	require.Equal(t, "I can't", b.answer().Text)
}

func TestCallerGone(t *testing.T) {
	b := setup(t, `{turns: [{reply: {text: ok}}]}`)
	gone := errors.New("gone")
	ctx, cancel := context.WithCancelCause(b.ctx)
	cancel(gone)
	_, err := b.client.Stream(ctx, question(), func(model.Delta) {})
	require.ErrorIs(t, err, gone)
}
