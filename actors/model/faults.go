package model

import (
	"errors"
	"time"

	"github.com/troupe-go/troupe/messages"
)

// The faults of a model call (nexent-core §11.3). Clients fill them in with
// [messages.Fault.Withf]: the model's cite_name, then what came, bounded and
// free of secrets. Transient ones are tried again.
var (
	// ErrRateLimit: HTTP 429 or its like inside a stream.
	ErrRateLimit = fault("model_rate_limit", messages.Transient,
		"model %q is rate limited: %s; a larger quota or a fallback model helps",
		"模型 %q 被限流：%s；提高配额或配置备用模型可缓解")
	// ErrUnavailable: HTTP 5xx or its like inside a stream.
	ErrUnavailable = fault("model_service_unavailable", messages.Transient,
		"the service of model %q failed: %s; if it lasts, ask its provider or add a fallback model",
		"模型 %q 的服务出错：%s；若持续出现，请联系服务商或配置备用模型")
	// ErrTimeout: one of the three time-outs; the text says which.
	ErrTimeout = fault("model_timeout", messages.Transient,
		"model %q took too long: %s; raise that time or use a faster model",
		"模型 %q 超时：%s；请调高该时限或换用更快的模型")
	// ErrConnection: no connection, or one that broke in mid-answer.
	ErrConnection = fault("model_connection_error", messages.Transient,
		"the connection to model %q failed: %s; check its url and the network",
		"与模型 %q 的连接失败：%s；请检查其 url 与网络")
	// ErrCertificate: the server's certificate can't be verified.
	ErrCertificate = fault("model_connection_error", messages.Permanent,
		"the server of model %q can't be trusted: %s; correct its url, install its authority, or set ssl_verify: false for a server of your own",
		"无法信任模型 %q 的服务器：%s；请更正 url、安装其证书颁发机构，或对自有服务器设置 ssl_verify: false")
	// ErrAuthentication: HTTP 401 or 403.
	ErrAuthentication = fault("model_authentication_error", messages.Permanent,
		"model %q refused the credentials: %s; check api_key and what it may use",
		"模型 %q 拒绝了凭据：%s；请检查 api_key 及其权限")
	// ErrNotFound: HTTP 404.
	ErrNotFound = fault("model_not_found", messages.Permanent,
		"the server of model %q doesn't know it: %s; check model_name and url (most end in /v1)",
		"模型 %q 的服务器找不到它：%s；请检查 model_name 与 url（通常以 /v1 结尾）")
	// ErrInvalidRequest: any other 4xx.
	ErrInvalidRequest = fault("model_invalid_request", messages.Permanent,
		"model %q refused the request: %s; check the model's settings, extra_body included",
		"模型 %q 拒绝了请求：%s；请检查模型设置（包括 extra_body）")
	// ErrSampling: HTTP 400 that names temperature or top_p. The actor asks
	// again at once without both.
	ErrSampling = fault("model_sampling_rejected", messages.Permanent,
		"model %q takes no temperature or top_p: %s",
		"模型 %q 不接受 temperature 或 top_p：%s")
	// ErrContextOverflow: the request is longer than the model's window.
	ErrContextOverflow = fault("model_context_overflow", messages.Permanent,
		"the request is too long for model %q: %s; shorten the input or use a model with a larger window",
		"请求超出模型 %q 的上下文长度：%s；请缩短输入或使用更大窗口的模型")
	// ErrBadResponse: an answer that is none: HTML, broken JSON, too long a line.
	ErrBadResponse = fault("model_bad_response", messages.Transient,
		"model %q sent what is no answer: %s; check that its url is an OpenAI-compatible endpoint",
		"模型 %q 返回的不是有效应答：%s；请确认其 url 是 OpenAI 兼容接口")
	// ErrWrongEndpoint: a web page or a redirect, which no other try changes.
	ErrWrongEndpoint = fault("model_bad_response", messages.Permanent,
		"the url of model %q is no OpenAI-compatible endpoint: %s; correct url",
		"模型 %q 的 url 不是 OpenAI 兼容接口：%s；请更正 url")
	// ErrEmptyResponse: white space only, with nothing else.
	ErrEmptyResponse = fault("model_empty_response", messages.Transient,
		"model %q sent an empty answer (finish_reason %q); if it lasts, use another model",
		"模型 %q 返回了空应答（finish_reason %q）；若持续出现，请换用其他模型")
	// ErrConcurrency: no permit within concurrency_wait.
	ErrConcurrency = fault("model_concurrency_exceeded", messages.Permanent,
		"no free call of %q within %s: concurrency_limit %d is in use; raise it or concurrency_wait",
		"%q 在 %s 内没有空闲调用：concurrency_limit %d 已占满；请调高它或 concurrency_wait")
	// ErrPanicked: a client's own fault; the process lives.
	ErrPanicked = fault("model_client_panicked", messages.Bug,
		"the client of model %q panicked; please report it",
		"模型 %q 的客户端发生内部错误；请反馈此问题")
	// ErrUnknown: an error that a client didn't classify.
	ErrUnknown = fault("model_unknown_error", messages.Permanent,
		"model %q failed for a reason that its client didn't classify; the log has it",
		"模型 %q 因未分类的原因失败；详情见日志")
	// ErrNoModel: an empty chain.
	ErrNoModel = fault("model_not_found", messages.Permanent,
		"the agent has no model; set model_name to the cite_name of one of models",
		"该智能体没有可用模型；请将 model_name 设为 models 中某个 cite_name")
	// ErrLimit: another concurrency limit than the one its key is in use with.
	ErrLimit = fault("model_invalid_limit", messages.Permanent,
		"concurrency_limit %d of key %q differs from the limit %d that the key is in use with; give models that share a key one limit",
		"concurrency_limit %d 与键 %q 正在使用的上限 %d 不一致；共享同一键的模型须使用同一上限")
	// ErrNegativeLimit: a negative limit or wait.
	ErrNegativeLimit = fault("model_invalid_limit", messages.Permanent,
		"concurrency_limit %d of key %q and concurrency_wait %s may not be negative; 0 means no limit and the default wait",
		"键 %[2]q 的 concurrency_limit %[1]d 与 concurrency_wait %[3]s 不可为负；0 表示不限与默认等待时间")
)

func fault(code string, class messages.Class, en, zh string) *messages.Fault {
	return &messages.Fault{Code: code, Class: class, Retryable: class == messages.Transient, EN: en, ZH: zh}
}

// exhaustedCodes are the codes that change when nothing is tried any more.
var exhaustedCodes = map[string]string{
	ErrRateLimit.Code:     "model_rate_limit_exhausted",
	ErrEmptyResponse.Code: "model_empty_response_exhausted",
}

// terminal is f as the end of a Think: not retryable, its cause kept.
func terminal(f *messages.Fault, attempts int) *messages.Fault {
	g := *f
	g.Retryable = false
	if code, ok := exhaustedCodes[f.Code]; ok {
		g.Code = code
	}
	if f.Class == messages.Transient {
		suffix := text{"%s (given up after %d attempts)", "%s（已尝试 %d 次后放弃）"}
		g.EN = suffix.format(messages.EN, f.EN, attempts)
		g.ZH = suffix.format(messages.ZH, f.In(messages.ZH), attempts)
	}
	return &g
}

// retryAfter is a cause that carries what the provider's Retry-After asks.
type retryAfter struct {
	wait  time.Duration
	cause error
}

func (r *retryAfter) Error() string {
	wait := "the provider asks to wait " + r.wait.String()
	if r.cause == nil {
		return wait
	}
	return wait + ": " + r.cause.Error()
}

func (r *retryAfter) Unwrap() error { return r.cause }

// WithRetryAfter notes on f that the provider asks to wait; nothing for 0.
func WithRetryAfter(f *messages.Fault, wait time.Duration) *messages.Fault {
	if wait <= 0 {
		return f
	}
	return f.With(&retryAfter{wait: wait, cause: f.Cause})
}

// RetryAfter gives how long the provider asked to wait; 0 when it didn't.
func RetryAfter(err error) time.Duration {
	var r *retryAfter
	if errors.As(err, &r) {
		return r.wait
	}
	return 0
}
