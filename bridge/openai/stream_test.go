package openai_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/model"
	"github.com/troupe-go/troupe/messages"
)

// What servers make of the event stream, beyond the cases with an id.
func TestStreamForms(t *testing.T) {
	a, b := `{"choices":[{"delta":{"content":"a"}}]}`, `{"choices":[{"delta":{"content":"b"},"finish_reason":"stop"}]}`
	for name, stream := range map[string]string{
		"usual":                 "data: " + a + "\n\ndata: " + b + "\n\ndata: [DONE]\n\n",
		"last line without end": "data: " + a + "\n\ndata: " + b,
		"no blank lines":        "data: " + a + "\ndata: " + b + "\n",
		"data over two lines":   "data: {\"choices\":[{\"delta\":\ndata: {\"content\":\"a\"}}]}\n\ndata: " + b + "\n\n",
		"two lines, no end":     "data: " + a + "\ndata: {\"choices\":[{\"delta\":{\"content\":\"b\"},\ndata: \"finish_reason\":\"stop\"}]}",
		"byte order mark":       "\ufeffdata: " + a + "\n\ndata: " + b + "\n\n",
		"bare lines of JSON":    a + "\n" + b + "\n",
		"a thousand comments":   strings.Repeat(": ping\n\n", 1000) + "data: " + a + "\n\n" + strings.Repeat("\n", 1000) + "data: " + b + "\n\n",
		"empty data":            "data:\n\ndata: " + a + "\n\ndata: " + b + "\n\n",
		"other choices":         "data: " + a + "\n\ndata: {\"choices\":[{\"index\":1,\"delta\":{\"content\":\"x\"}}]}\n\ndata: " + b + "\n\n",
		"unknown events":        "data: {}\n\ndata: " + a + "\n\ndata: {\"ping\":1}\n\ndata: " + b + "\n\n",
	} {
		for _, declared := range []string{"text/event-stream; charset=utf-8", "text/plain", "application/json"} {
			if name == "byte order mark" && declared != "text/event-stream; charset=utf-8" {
				continue // nothing but the declaration says that this is a stream
			}
			t.Run(name+" as "+declared, func(t *testing.T) {
				bundle := handler(t, func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Type", declared)
					io.WriteString(w, stream)
				})
				require.Equal(t, "ab", bundle.answer().Text)
			})
		}
	}
}

func TestStreamBounds(t *testing.T) {
	t.Run("a line", func(t *testing.T) {
		b := handler(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, "data: "+strings.Repeat("x", 1<<20))
		})
		f := b.refused()
		require.Equal(t, model.ErrBadResponse.Code, f.Code)
		require.Contains(t, f.EN, "1048576 bytes")
	})
	t.Run("an event", func(t *testing.T) { // of so many lines that reading it anew at each takes hours
		b := handler(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, "data: {\"a\": \"\n"+strings.Repeat("data: x\n", 1<<19))
		})
		f := b.refused()
		require.Equal(t, model.ErrBadResponse.Code, f.Code)
		require.Contains(t, f.EN, "an event of more than 1048576 bytes")
	})
	t.Run("the whole", func(t *testing.T) {
		line := ":" + strings.Repeat("x", 1<<19) + "\n"
		b := handler(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			for range 130 {
				if _, err := io.WriteString(w, line); err != nil {
					return
				}
			}
		})
		f := b.refused()
		require.Equal(t, model.ErrBadResponse.Code, f.Code)
		require.Contains(t, f.EN, fmt.Sprint(64<<20))
	})
}

func TestUsage(t *testing.T) {
	for name, c := range map[string]struct {
		usage  string
		define func(*messages.ModelConfig)
		want   messages.Usage
	}{
		"without a cache profile": {
			`{"prompt_tokens":11,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":8}}`, nil,
			messages.Usage{InputTokens: 11, OutputTokens: 2, CacheSource: "capability_unknown"},
		},
		"cached": {
			`{"prompt_tokens":11,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":8}}`, func(m *messages.ModelConfig) { m.PromptCache = true },
			messages.Usage{InputTokens: 11, OutputTokens: 2, CachedTokens: 8, CacheSource: "prompt_tokens_details.cached_tokens"},
		},
		"openai is known": {
			`{"prompt_tokens":11,"completion_tokens":2,"cache_read_input_tokens":3}`, func(m *messages.ModelConfig) { m.ModelFactory = "openai" },
			messages.Usage{InputTokens: 11, OutputTokens: 2, CachedTokens: 3, CacheSource: "cache_read_input_tokens"},
		},
		"no report": {
			`{"prompt_tokens":11,"completion_tokens":2}`, func(m *messages.ModelConfig) { m.PromptCache = true },
			messages.Usage{InputTokens: 11, OutputTokens: 2, CacheSource: "none"},
		},
		"other names": {
			`{"input_tokens":5,"output_tokens":6,"input_token_details":{"cache_read":4}}`, func(m *messages.ModelConfig) { m.PromptCache = true },
			messages.Usage{InputTokens: 5, OutputTokens: 6, CachedTokens: 4, CacheSource: "input_token_details.cache_read"},
		},
		"total only": {
			`{"prompt_tokens":11,"total_tokens":14}`, nil,
			messages.Usage{InputTokens: 11, OutputTokens: 3, CacheSource: "capability_unknown"},
		},
		"null": {
			`null`, nil,
			messages.Usage{InputTokens: 1, OutputTokens: 1, CacheSource: "capability_unknown", Estimated: true},
		},
		"empty": {
			`{}`, nil,
			messages.Usage{InputTokens: 1, OutputTokens: 1, CacheSource: "capability_unknown", Estimated: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			opts := []option{}
			if c.define != nil {
				opts = append(opts, define(c.define))
			}
			b := setup(t, `{turns: [{reply: {lines: ['data: {"choices":[{"delta":{"content":"ok"},"finish_reason":"stop"}]}', 'data: {"choices":[],"usage":`+c.usage+`}', 'data: [DONE]']}}]}`, opts...)
			require.Equal(t, c.want, b.answer().Usage)
		})
	}
}

// The scripted model's record of a request holds no key.
func TestRecordedRequests(t *testing.T) {
	b := setup(t, `{turns: [{reply: {text: ok}}]}`)
	b.answer()
	raw, err := json.Marshal(b.server.Requests())
	require.NoError(t, err)
	require.NotContains(t, string(raw), testKey)
}
