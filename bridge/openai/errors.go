package openai

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/troupe-go/troupe/actors/model"
	"github.com/troupe-go/troupe/messages"
)

// ErrConfig says which key of a model's definition doesn't fit.
var ErrConfig = &messages.Fault{
	Code: "model_invalid_config", Class: messages.Permanent,
	EN: "model %q can't be used: %s",
	ZH: "模型 %q 无法使用：%s",
}

// ErrEncoding says that an answer is compressed or no UTF-8, which wasn't asked
// for and which no other try changes.
var ErrEncoding = &messages.Fault{
	Code: model.ErrBadResponse.Code, Class: messages.Permanent,
	EN: "model %q answers in the encoding %s, which wasn't asked for; have its server, or the proxy before it, send plain UTF-8",
	ZH: "模型 %q 的应答使用了未请求的编码 %s；请让其服务器或前置代理发送未压缩的 UTF-8",
}

// misconfigured is ErrConfig with what doesn't fit.
func misconfigured(m messages.ModelConfig, en, zh string) error {
	return bilingual(ErrConfig, m.CiteName, en, zh)
}

// fault fills a fault of this model in; the detail stands in both languages.
func (c *Client) fault(f *messages.Fault, en, zh string) *messages.Fault {
	return bilingual(f, c.cfg.CiteName, en, zh)
}

func bilingual(f *messages.Fault, name, en, zh string) *messages.Fault {
	g := *f
	g.EN = fmt.Sprintf(f.EN, name, en)
	g.ZH = fmt.Sprintf(f.ZH, name, zh)
	return &g
}

// explain says why a call failed: the caller went away, a time-out, a fault
// that is known already, or a connection that broke.
func (c *Client) explain(ctx, run context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var late *timeout
	if errors.As(context.Cause(run), &late) {
		return c.fault(model.ErrTimeout, late.en, late.zh)
	}
	var known *messages.Fault
	if errors.As(err, &known) {
		return known
	}
	if errors.Is(err, errTooLong) {
		return c.fault(model.ErrBadResponse, err.Error(), err.Error())
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return c.fault(model.ErrConnection, "it broke in mid-answer", "应答中途断开")
	}
	var request *url.Error // its text repeats the URL, which may hold a key
	if errors.As(err, &request) {
		err = request.Err
	}
	text := c.secrets.clean(err.Error())
	var untrusted *tls.CertificateVerificationError
	if errors.As(err, &untrusted) {
		return c.fault(model.ErrCertificate, text, text)
	}
	return c.fault(model.ErrConnection, text, text)
}

// refusal reads an answer whose status is no success.
func (x *exchange) refusal(resp *http.Response) error {
	c := x.client
	if resp.StatusCode < 400 {
		to := "elsewhere"
		if at, err := resp.Location(); err == nil {
			to = c.secrets.clean(at.Scheme + "://" + at.Host + at.Path)
		}
		return c.fault(model.ErrWrongEndpoint,
			fmt.Sprintf("HTTP %d redirects to %s", resp.StatusCode, to),
			fmt.Sprintf("HTTP %d 重定向到 %s", resp.StatusCode, to))
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxRefusal))
	if err != nil && len(body) == 0 {
		body = []byte(resp.Status)
	}
	if encoding := contentEncoding(resp); encoding != "" {
		body = []byte("its reason is encoded as " + encoding)
	}
	p := readProviderError(body)
	if resp.StatusCode == http.StatusBadRequest && p.filtered() {
		return errFiltered
	}
	wait := c.retryAfter(resp.Header)
	return model.WithRetryAfter(c.refused(resp.StatusCode, p, x.plain), wait)
}

// streamFault is an error object inside a stream, treated as the status that
// it would have come with.
func (c *Client) streamFault(p *providerError) error { return c.refused(p.status(), p, true) }

// refused classifies a refusal by status and by what the provider says.
func (c *Client) refused(status int, p *providerError, plain bool) *messages.Fault {
	text := fmt.Sprintf("HTTP %d: %s", status, c.secrets.clean(p.text()))
	return c.fault(classify(status, p, plain), text, text)
}

func classify(status int, p *providerError, plain bool) *messages.Fault {
	rejected := status == http.StatusBadRequest || status == http.StatusRequestEntityTooLarge || status == http.StatusUnprocessableEntity
	switch {
	case rejected && p.tooLong(), status == http.StatusRequestEntityTooLarge:
		return model.ErrContextOverflow
	case status == http.StatusBadRequest && !plain && p.names("temperature", "top_p"):
		return model.ErrSampling
	case status == http.StatusTooManyRequests:
		return model.ErrRateLimit
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return model.ErrAuthentication
	case status == http.StatusNotFound:
		return model.ErrNotFound
	case status == http.StatusRequestTimeout, status >= 500:
		return model.ErrUnavailable
	default:
		return model.ErrInvalidRequest
	}
}

// retryAfter reads how long the provider asks to wait: seconds, milliseconds
// in a header of its own, or a date.
func (c *Client) retryAfter(h http.Header) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return bounded(ms * float64(time.Millisecond))
	}
	value := strings.TrimSpace(h.Get("Retry-After"))
	if s, err := strconv.ParseFloat(value, 64); err == nil {
		return bounded(s * float64(time.Second))
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(at.Sub(c.world.Now()), 0)
	}
	return 0
}

// bounded keeps nonsense out of a duration.
func bounded(d float64) time.Duration {
	if !(d > 0) {
		return 0
	}
	return time.Duration(min(d, float64(365*24*time.Hour)))
}

// providerError is what a provider says went wrong.
type providerError struct{ Message, Type, Code, Param string }

// readProviderError reads the many forms of an error: an object, one inside
// "error", a string, or no JSON at all.
func readProviderError(raw []byte) *providerError {
	var form struct {
		Error   json.RawMessage `json:"error"`
		Message json.RawMessage `json:"message"`
		Detail  json.RawMessage `json:"detail"`
		Type    json.RawMessage `json:"type"`
		Code    json.RawMessage `json:"code"`
		Param   json.RawMessage `json:"param"`
	}
	if json.Unmarshal(raw, &form) != nil {
		return &providerError{Message: looseText(raw)}
	}
	if isSet(form.Error) {
		var nested map[string]json.RawMessage
		if json.Unmarshal(form.Error, &nested) == nil && nested["error"] == nil {
			return readProviderError(form.Error)
		}
		return &providerError{Message: looseText(form.Error)}
	}
	p := &providerError{Message: looseText(form.Message), Type: looseText(form.Type), Code: looseText(form.Code), Param: looseText(form.Param)}
	if p.Message == "" {
		p.Message = looseText(form.Detail)
	}
	return p
}

// text is the message, or what else there is.
func (p *providerError) text() string {
	for _, s := range []string{p.Message, p.Code, p.Type} {
		if s != "" {
			return s
		}
	}
	return "no message"
}

// statusNames tell which HTTP status a name in type or code stands for.
var statusNames = []struct {
	part   string
	status int
}{
	{"rate_limit", http.StatusTooManyRequests},
	{"quota", http.StatusTooManyRequests},
	{"too_many_requests", http.StatusTooManyRequests},
	{"authentication", http.StatusUnauthorized},
	{"api_key", http.StatusUnauthorized},
	{"permission", http.StatusForbidden},
	{"not_found", http.StatusNotFound},
	{"context_length", http.StatusBadRequest},
	{"invalid_request", http.StatusBadRequest},
	{"badrequest", http.StatusBadRequest},
	{"overloaded", http.StatusServiceUnavailable},
}

// status is the HTTP status an error inside a stream stands for. The server
// had begun to answer, so what it doesn't name is a failure of the service.
func (p *providerError) status() int {
	if n, err := strconv.Atoi(p.Code); err == nil && n >= 400 && n < 600 {
		return n
	}
	names := strings.ToLower(p.Type + " " + p.Code)
	for _, s := range statusNames {
		if strings.Contains(names, s.part) {
			return s.status
		}
	}
	return http.StatusInternalServerError
}

// tooLongSigns are what providers say of a request that exceeds the window.
var tooLongSigns = []string{
	"context_length", "context length", "context window", "maximum context", "token limit",
	"too many tokens", "prompt is too long", "input is too long", "reduce the length", "max_model_len",
}

func (p *providerError) tooLong() bool { return p.names(tooLongSigns...) }

// finishFiltered is the finish_reason of an answer that a content filter cut.
const finishFiltered = "content_filter"

// errFiltered says that the provider's content filter refused the request.
var errFiltered = errors.New("refused by the provider's content filter")

// filtered reports whether the error is a content filter's, by its code alone:
// the words of a message may be the user's own.
func (p *providerError) filtered() bool {
	return p.Code == finishFiltered || p.Code == "content_policy_violation" || p.Type == finishFiltered
}

// names reports whether the error speaks of one of the words.
func (p *providerError) names(words ...string) bool {
	all := strings.ToLower(p.Code + " " + p.Type + " " + p.Param + " " + p.Message)
	for _, w := range words {
		if strings.Contains(all, w) {
			return true
		}
	}
	return false
}
