package openai_test

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/model"
	"github.com/troupe-go/troupe/messages"
)

var quiet = log.New(io.Discard, "", 0)

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		want   *messages.Fault
	}{
		{400, `{"error":{"message":"bad"}}`, model.ErrInvalidRequest},
		{400, `{"error":{"message":"This model's maximum context length is 8192 tokens"}}`, model.ErrContextOverflow},
		{400, `{"error":{"message":"too long","code":"context_length_exceeded"}}`, model.ErrContextOverflow},
		{400, `{"error":{"message":"Unsupported value: 'temperature' does not support 0.1 with this model."}}`, model.ErrSampling},
		{400, `{"error":{"message":"unsupported","param":"top_p"}}`, model.ErrSampling},
		{401, `{"error":{"message":"no key"}}`, model.ErrAuthentication},
		{403, `{"detail":"forbidden"}`, model.ErrAuthentication},
		{404, `404 page not found`, model.ErrNotFound},
		{408, ``, model.ErrUnavailable},
		{413, `{}`, model.ErrContextOverflow},
		{422, `{"detail":[{"msg":"bad"}]}`, model.ErrInvalidRequest},
		{429, `{"error":"slow down"}`, model.ErrRateLimit},
		{500, `<html>oops</html>`, model.ErrUnavailable},
		{529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, model.ErrUnavailable},
	} {
		t.Run(fmt.Sprintf("%d %s", c.status, c.body), func(t *testing.T) {
			b := handler(t, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(c.status)
				io.WriteString(w, c.body)
			})
			f := b.refused()
			require.Equal(t, c.want.Code, f.Code)
			require.Equal(t, c.want.Class, f.Class)
			require.Equal(t, c.want.Retryable, f.Retryable)
			require.Contains(t, f.EN, fmt.Sprint(c.status))
			require.Contains(t, f.EN, `"main"`)
		})
	}
}

func TestErrorsInTheStream(t *testing.T) {
	for name, c := range map[string]struct {
		lines []string
		want  *messages.Fault
		says  string
	}{
		"named type":     {[]string{`data: {"error":{"message":"slow","type":"rate_limit_error"}}`}, model.ErrRateLimit, "slow"},
		"text code":      {[]string{`data: {"error":{"message":"gone","code":"503"}}`}, model.ErrUnavailable, "gone"},
		"unknown":        {[]string{`data: {"error":"something broke"}`}, model.ErrUnavailable, "something broke"},
		"error last":     {[]string{`data: {"id":"x","error":{"message":"late","code":500}}`}, model.ErrUnavailable, "late"},
		"event error":    {[]string{`event: error`, `data: {"message":"bad key","type":"authentication_error"}`}, model.ErrAuthentication, "bad key"},
		"object error":   {[]string{`data: {"object":"error","message":"prompt is too long","type":"BadRequestError","code":400}`}, model.ErrContextOverflow, "too long"},
		"without data":   {[]string{`{"error":{"message":"quota","code":429}}`}, model.ErrRateLimit, "quota"},
		"after a delta":  {[]string{`data: {"choices":[{"delta":{"content":"a"}}]}`, ``, `data: {"error":{"message":"gone","code":502}}`}, model.ErrUnavailable, "gone"},
		"broken chunk":   {[]string{`data: {"choices":[{"del`, ``}, model.ErrBadResponse, "can't be read"},
		"content number": {[]string{`data: {"choices":[{"delta":{"content":7}}]}`, ``}, model.ErrBadResponse, "can't be read"},
	} {
		t.Run(name, func(t *testing.T) {
			b := handler(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				io.WriteString(w, strings.Join(append(c.lines, "", "data: [DONE]", ""), "\n"))
			})
			f := b.refused()
			require.Equal(t, c.want.Code, f.Code)
			require.Equal(t, c.want.Retryable, f.Retryable)
			require.Contains(t, f.EN, c.says)
		})
	}
}

func TestProviderTextIsScrubbed(t *testing.T) {
	long := strings.Repeat("字", 1000)
	b := handler(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		io.WriteString(w, `{"error":{"message":"key `+testKey+` or sk-abc***xyz or Bearer other-token,\n\u001b[31mheader hush-hush `+long+`"}}`)
	}, define(func(m *messages.ModelConfig) { m.ExtraHeaders = map[string]messages.Secret{"X-Key": "hush-hush"} }))
	f := b.refused()
	for _, text := range []string{f.EN, f.ZH, f.Error()} {
		require.NotContains(t, text, testKey)
		require.NotContains(t, text, "sk-abc")
		require.NotContains(t, text, "other-token")
		require.NotContains(t, text, "hush-hush")
		require.NotContains(t, text, "\n")
		require.NotContains(t, text, "\x1b")
		require.Less(t, len(text), 800)
	}
	require.Contains(t, f.EN, "…")
}

// A key may stand in the definition's URL, too.
func TestSecretsOfTheURLAreScrubbed(t *testing.T) {
	b := handler(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprintf(w, `{"error":{"message":"not %s, nor %s, with hush-hush"}}`, r.URL.RawQuery, r.URL.Query().Get("key"))
	}, define(func(m *messages.ModelConfig) {
		m.URL = strings.Replace(m.URL, "://", "://user:hush-hush@", 1) + "?api-version=2024-06-01&key=a%2Fsecret"
	}))
	f := b.refused()
	require.Contains(t, f.Error(), "not api-version=2024-06-01&key=***, nor ***, with ***")

	gone := handler(t, func(http.ResponseWriter, *http.Request) {}, define(func(m *messages.ModelConfig) {
		m.URL = "http://user:hush-hush@127.0.0.1:1/v1?key=a%2Fsecret"
	}))
	f = gone.refused()
	for _, text := range []string{f.EN, f.ZH, f.Error()} {
		require.NotContains(t, text, "secret")
		require.NotContains(t, text, "hush-hush")
	}
}

func TestRetryAfterForms(t *testing.T) {
	for value, want := range map[string]time.Duration{
		"2": 2 * time.Second, "0.5": 500 * time.Millisecond, "-1": 0, "soon": 0, "": 0, "NaN": 0,
	} {
		t.Run(value, func(t *testing.T) {
			b := handler(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Retry-After", value)
				w.WriteHeader(http.StatusServiceUnavailable)
			})
			require.Equal(t, want, model.RetryAfter(b.refused()))
		})
	}
	t.Run("date", func(t *testing.T) {
		b := handler(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", time.Now().Add(time.Minute).UTC().Format(http.TimeFormat))
			w.WriteHeader(http.StatusServiceUnavailable)
		})
		require.InDelta(t, time.Minute, model.RetryAfter(b.refused()), float64(3*time.Second))
	})
	t.Run("milliseconds", func(t *testing.T) {
		b := handler(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After-Ms", "1500")
			w.WriteHeader(http.StatusServiceUnavailable)
		})
		require.Equal(t, 1500*time.Millisecond, model.RetryAfter(b.refused()))
	})
}

// TestContentFilterByStatus: some providers say by HTTP 400 what others say by
// finish_reason; words of a message don't count.
func TestContentFilterByStatus(t *testing.T) {
	b := setup(t, `turns: [{reply: {status: 400, error: {message: "The response was filtered.", code: content_filter}}}]`)
	require.Equal(t, "content_filter", b.answer().FinishReason)
	b = setup(t, `turns: [{reply: {status: 400, error: {message: "no content_filter here", code: bad}}}]`)
	require.Equal(t, "model_invalid_request", b.refused().Code)
}
