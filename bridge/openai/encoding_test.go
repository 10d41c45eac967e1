package openai_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/encoding/unicode"

	"github.com/troupe-go/troupe/bridge/openai"
	"github.com/troupe-go/troupe/messages"
)

const answer = "data: {\"choices\":[{\"delta\":{\"content\":\"ok\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"

func zipped(t *testing.T, text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.String()
}

func wide(t *testing.T, order unicode.Endianness, bom unicode.BOMPolicy) string {
	text, err := unicode.UTF16(order, bom).NewEncoder().String(answer)
	require.NoError(t, err)
	return text
}

// An answer that can't be read says why, and isn't asked for again.
func TestEncodedAnswersAreRefused(t *testing.T) {
	for name, c := range map[string]struct{ header, body, names string }{
		"gzip":                     {"gzip", zipped(t, answer), `"gzip"`},
		"gzip, not said":           {"", zipped(t, answer), `"gzip"`},
		"another":                  {"br", "\x0b\x02\x80", `"br"`},
		"UTF-16, little endian":    {"", wide(t, unicode.LittleEndian, unicode.UseBOM), `"UTF-16"`},
		"UTF-16, big endian":       {"", wide(t, unicode.BigEndian, unicode.UseBOM), `"UTF-16"`},
		"UTF-16 without its mark":  {"", wide(t, unicode.LittleEndian, unicode.IgnoreBOM), `"UTF-16"`},
		"UTF-16, big, without one": {"", wide(t, unicode.BigEndian, unicode.IgnoreBOM), `"UTF-16"`},
	} {
		for _, kind := range []string{"text/event-stream", "application/json"} {
			t.Run(name+" "+kind, func(t *testing.T) {
				f := encoded(t, http.StatusOK, kind, c.header, c.body).refused()
				require.Equal(t, openai.ErrEncoding.Code, f.Code)
				require.Equal(t, "model_bad_response", f.Code)
				require.False(t, f.Retryable)
				require.Contains(t, f.EN, c.names)
				require.Contains(t, f.ZH, c.names)
			})
		}
	}
	require.Equal(t, "ok", encoded(t, http.StatusOK, "text/event-stream", "Identity", answer).answer().Text)
}

func TestAnEncodedRefusalIsOneStill(t *testing.T) {
	f := encoded(t, http.StatusUnauthorized, "application/json", "gzip", zipped(t, `{"error":{"message":"no"}}`)).refused()
	require.Equal(t, "model_authentication_error", f.Code)
	require.Contains(t, f.EN, "HTTP 401: its reason is encoded as gzip")
}

func encoded(t *testing.T, status int, kind, encoding, body string) *bundle {
	return handler(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		if encoding != "" {
			w.Header().Set("Content-Encoding", encoding)
		}
		w.WriteHeader(status)
		io.WriteString(w, body)
	})
}

// A key that is an ordinary word leaves texts as they are.
func TestOrdinaryWordsAreNotScrubbed(t *testing.T) {
	for name, c := range map[string]struct {
		key   messages.Secret
		shown string
	}{
		"the model's name": {"scripted", "model scripted of main has no none: scripted none"},
		"its cite name":    {"main", "model scripted of main has no none: main none"},
		"a short word":     {"none", "model scripted of main has no none: none none"},
		"a key":            {"k-2345", "model scripted of main has no none: *** none"},
	} {
		t.Run(name, func(t *testing.T) {
			b := handler(t, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(http.StatusNotFound)
				io.WriteString(w, "model scripted of main has no none: "+c.key.Reveal()+" none")
			}, define(func(m *messages.ModelConfig) { m.APIKey = c.key }))
			require.Contains(t, b.refused().EN, c.shown)
		})
	}
}
