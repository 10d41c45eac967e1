package openai_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/model"
	"github.com/troupe-go/troupe/messages"
)

// The cases of the wire that public projects failed on; each keeps its id.
func TestWire(t *testing.T) {
	t.Run("WIRE-01", func(t *testing.T) {
		b := setup(t, `
turns:
  - reply:
      lines:
        - 'data: {"choices":[],"prompt_filter_results":[]}'
        - ''
        - 'data: {"choices":[{"index":0,"delta":{"content":"a"}}]}'
        - ''
        - 'data: {"choices":[{"index":0,"finish_reason":null,"content_filter_results":{}}]}'
        - ''
        - 'data: {"choices":[{"index":0,"delta":null}]}'
        - ''
        - 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}'
        - ''
        - 'data: [DONE]'
        - ''
`)
		require.Equal(t, "a", b.answer().Text)
		require.Equal(t, []model.Delta{{Content: "a"}}, b.deltas)
	})

	t.Run("WIRE-02", func(t *testing.T) {
		b := setup(t, `{turns: [{reply: {text: ok, usage: {prompt_tokens: 11, completion_tokens: 2}}}]}`)
		u := b.answer().Usage
		require.Equal(t, 11, u.InputTokens)
		require.Equal(t, 2, u.OutputTokens)
		require.False(t, u.Estimated)
	})

	t.Run("WIRE-04", func(t *testing.T) {
		b := setup(t, `{turns: [{reply: {text: ok, no_done: true}}]}`)
		began := time.Now()
		require.Equal(t, "ok", b.answer().Text)
		require.Less(t, time.Since(began), time.Second)
	})

	t.Run("WIRE-06", func(t *testing.T) {
		b := setup(t, `
turns:
  - reply:
      lines:
        - ": ping\r"
        - "event: message\r"
        - "id: 7\r"
        - "retry: 10\r"
        - "data:{\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\r"
        - "\r"
        - "data: [DONE]\r"
        - "\r"
`)
		require.Equal(t, "a", b.answer().Text)
	})

	t.Run("WIRE-09", func(t *testing.T) {
		b := setup(t, `
turns:
  - reply:
      lines: ['data: {"error":{"message":"quota exceeded","code":429}}', '', 'data: [DONE]', '']
`)
		f := b.refused()
		require.Equal(t, model.ErrRateLimit.Code, f.Code)
		require.True(t, f.Retryable)
		require.Contains(t, f.In(messages.EN), "quota exceeded")
		require.Contains(t, f.In(messages.ZH), "quota exceeded")
	})

	t.Run("WIRE-11", func(t *testing.T) {
		t.Run("html", func(t *testing.T) {
			b := setup(t, `{turns: [{reply: {body: "<html>login</html>", content_type: text/html}}]}`)
			f := b.refused()
			require.Equal(t, "model_bad_response", f.Code)
			require.False(t, f.Retryable, "a login page stays one")
			require.Contains(t, f.EN, "text/html")
			require.Contains(t, f.EN, "<html>login</html>")
		})
		t.Run("json", func(t *testing.T) {
			b := setup(t, `
turns:
  - reply:
      body: |
        {
          "object": "chat.completion",
          "choices": [{"index": 0, "message": {"role": "assistant", "content": "hello"}, "finish_reason": "stop"}],
          "usage": {"prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 4}
        }
`)
			reply := b.answer()
			require.Equal(t, "hello", reply.Text)
			require.Equal(t, "stop", reply.FinishReason)
			require.Equal(t, 3, reply.Usage.InputTokens)
			require.Equal(t, []string{"hello"}, b.contents())
		})
		t.Run("other json", func(t *testing.T) {
			b := setup(t, `{turns: [{reply: {body: '{"status":"ok"}'}}]}`)
			f := b.refused()
			require.Equal(t, "model_bad_response", f.Code)
			require.Contains(t, f.EN, "application/json")
			require.Contains(t, f.EN, "status")
		})
	})

	t.Run("WIRE-12", func(t *testing.T) {
		b := setup(t, `{turns: [{reply: {status: 429, headers: {Retry-After: "2"}, error: {message: slow down}}}]}`)
		f := b.refused()
		require.Equal(t, model.ErrRateLimit.Code, f.Code)
		require.Equal(t, 2*time.Second, model.RetryAfter(f))
	})

	t.Run("WIRE-14", func(t *testing.T) {
		b := setup(t, `{turns: [{reply: {finish_reason: content_filter}}]}`)
		reply := b.answer()
		require.Equal(t, "content_filter", reply.FinishReason)
		require.Empty(t, reply.Text)
	})

	t.Run("WIRE-15", func(t *testing.T) {
		b := setup(t, `{turns: [{reply: {text: "<code>\nfor n in ['a','b']:\n    remove_item(n)\n", finish_reason: length}}]}`)
		require.Equal(t, "length", b.answer().FinishReason)
	})

	t.Run("WIRE-17", func(t *testing.T) {
		b := setup(t, `{turns: [{reply: {deltas: [修复😀], bytewise: true}}]}`)
		require.Equal(t, "修复😀", b.answer().Text)
		require.Equal(t, []string{"修复😀"}, b.contents())
	})

	t.Run("WIRE-18", wire18)
	t.Run("WIRE-20", wire20)

	t.Run("THINK-07", func(t *testing.T) {
		line := `        - 'data: {"choices":[{"delta":{"reasoning_content":"","content":"a"}}]}'` + "\n        - ''\n"
		b := setup(t, "turns:\n  - reply:\n      lines:\n"+strings.Repeat(line, 3)+"        - 'data: [DONE]'\n")
		require.Equal(t, "aaa", b.answer().Text)
		require.Equal(t, []model.Delta{{Content: "a"}, {Content: "a"}, {Content: "a"}}, b.deltas)
	})
}

// Tool calls come with or without index and id, whole or in pieces.
func wire18(t *testing.T) {
	two := []messages.ToolCallDelta{{ID: "c1", Name: "f", Arguments: "{}"}, {ID: "c2", Name: "g", Arguments: "{}"}}
	for name, c := range map[string]struct {
		deltas []string
		want   []messages.ToolCallDelta
	}{
		"no index":                {[]string{`{"id":"c1","function":{"name":"f","arguments":"{}"}}`, `{"id":"c2","function":{"name":"g","arguments":"{}"}}`}, two},
		"no index, id first only": {[]string{`{"id":"c1","function":{"name":"f","arguments":"{"}}`, `{"function":{"arguments":"}"}}`, `{"id":"c2","function":{"name":"g","arguments":"{"}}`, `{"function":{"arguments":"}"}}`}, two},
		"one index for both":      {[]string{`{"index":0,"id":"c1","function":{"name":"f","arguments":"{}"}}`, `{"index":0,"id":"c2","function":{"name":"g","arguments":"{}"}}`}, two},
		"index, id first only":    {[]string{`{"index":0,"id":"c1","function":{"name":"f","arguments":""}}`, `{"index":1,"id":"c2","function":{"name":"g","arguments":""}}`, `{"index":0,"function":{"arguments":"{}"}}`, `{"index":1,"function":{"arguments":"{}"}}`}, two},
		"id repeated":             {[]string{`{"id":"c1","function":{"name":"f","arguments":"{"}}`, `{"id":"c1","function":{"arguments":"}"}}`, `{"id":"c2","function":{"name":"g","arguments":"{}"}}`}, two},
		"neither":                 {[]string{`{"function":{"name":"f","arguments":"{}"}}`, `{"function":{"name":"g","arguments":{"a":1}}}`}, []messages.ToolCallDelta{{Name: "f", Arguments: "{}"}, {Name: "g", Arguments: `{"a":1}`}}},
	} {
		t.Run(name, func(t *testing.T) {
			script := "turns:\n  - reply:\n      lines:\n"
			for _, d := range c.deltas {
				script += `        - 'data: {"choices":[{"index":0,"delta":{"tool_calls":[` + d + `]}}]}'` + "\n        - ''\n"
			}
			script += `        - 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}'` + "\n        - ''\n        - 'data: [DONE]'\n"
			b := setup(t, script)
			reply := b.answer()
			require.Equal(t, c.want, reply.ToolCalls)
			require.Equal(t, "tool_calls", reply.FinishReason)
		})
	}
}

// wire20: the scripted model refuses a content that is neither a string nor a
// list of parts, as strict servers do.
func wire20(t *testing.T) {
	picture := []messages.ContentPart{{Type: "text", Text: "b"}, {Type: "image_url", ImageURL: &messages.ImageURL{URL: "data:image/png;base64,AA=="}}}
	history := []messages.ChatMessage{
		messages.NewChatMessage("user", "a", nil),
		messages.NewChatMessage("user", "b", picture),
		messages.NewChatMessage("assistant", "", nil), // null content of a history becomes the empty text
	}
	for name, c := range map[string]struct {
		images, flatten bool
		second          string
	}{
		"parts":     {true, false, `[{"type":"text","text":"b"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}}]`},
		"flat":      {true, true, `"b"`},
		"no images": {false, false, `"b"`},
	} {
		t.Run(name, func(t *testing.T) {
			b := setup(t, `{turns: [{reply: {text: ok}}]}`, define(func(m *messages.ModelConfig) { m.Images, m.FlattenContent = c.images, c.flatten }))
			_, err := b.ask(&model.Request{Messages: history})
			require.NoError(t, err)
			var sent struct {
				Messages []struct {
					Role    string
					Content json.RawMessage
				}
			}
			require.NoError(t, json.Unmarshal(b.server.Requests()[0].Body, &sent))
			require.Len(t, sent.Messages, 3)
			require.JSONEq(t, `"a"`, string(sent.Messages[0].Content))
			require.JSONEq(t, c.second, string(sent.Messages[1].Content))
			require.JSONEq(t, `""`, string(sent.Messages[2].Content))
		})
	}
}
