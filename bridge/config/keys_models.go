package config

import (
	"encoding/json"
	"time"

	"github.com/troupe-go/troupe/messages"
)

func modelFields() fields[messages.ModelConfig] {
	type M = messages.ModelConfig
	return fields[M]{
		text("cite_name", func(m *M) *string { return &m.CiteName }).required().must(label).
			doc("the name that agents use, unique", "智能体引用的名称，唯一"),
		text("kind", func(m *M) *messages.ModelKind { return &m.Kind }).
			in(string(messages.KindLLM), string(messages.KindLongContext)).def(string(messages.KindLLM)).
			doc("what the model is for", "模型用途"),
		text("model_name", func(m *M) *string { return &m.ModelName }).required().
			doc("the provider's name for it", "提供方的模型名"),
		link("url", func(m *M) *string { return &m.URL }).required().
			doc("base URL of the OpenAI-compatible API, e.g. https://api.example.com/v1", "OpenAI 兼容接口的基础 URL，如 https://api.example.com/v1"),
		secret("api_key", func(m *M) *messages.Secret { return &m.APIKey }).
			doc("sent as bearer token; may be absent for a local server", "作为 bearer 令牌发送；本地服务可缺省"),
		optionalNumber("temperature", func(m *M) **float64 { return &m.Temperature }).min(0).max(2).def("0.1").
			doc("sampling temperature", "采样温度"),
		optionalNumber("top_p", func(m *M) **float64 { return &m.TopP }).min(0).max(1).def("0.95").
			doc("nucleus sampling", "核采样"),
		optionalBool("ssl_verify", func(m *M) **bool { return &m.SSLVerify }).def("true").
			doc("check the server's certificate", "校验服务器证书"),
		text("model_factory", func(m *M) *string { return &m.ModelFactory }).
			doc("provider family, e.g. openai, modelengine", "提供方系列，如 openai、modelengine"),
		object("extra_body", func(m *M) *json.RawMessage { return &m.ExtraBody }).
			doc("merged into each request", "合并到每个请求"),
		headers("extra_headers", func(m *M) *map[string]messages.Secret { return &m.ExtraHeaders }).
			doc("sent with each request", "随每个请求发送"),
		integer("max_output_tokens", func(m *M) *int { return &m.MaxOutputTokens }).min(1).
			doc("max_tokens of a request; absent: the provider's default", "请求的 max_tokens；缺省由提供方决定"),
		integer("context_window_tokens", func(m *M) *int { return &m.ContextWindowTokens }).min(1).
			doc("tokens a request may have; absent: unknown", "上下文窗口；缺省为未知"),
		number("timeout_seconds", func(m *M) *float64 { return &m.TimeoutSeconds }).min(0.001).max(86400).def("600").
			doc("seconds a whole call may take", "整次调用的时限（秒）"),
		duration("first_byte_timeout", func(m *M) *time.Duration { return &m.FirstByteTimeout }).min(0.001).max(86400).def("60s").
			doc("until the answer begins", "首字节时限"),
		duration("token_timeout", func(m *M) *time.Duration { return &m.TokenTimeout }).min(0.001).max(86400).def("60s").
			doc("between two pieces of the answer", "两段输出之间的时限"),
		integer("concurrency_limit", func(m *M) *int { return &m.ConcurrencyLimit }).min(0).max(1e5).def("0").
			doc("calls at a time; 0: no limit", "同时进行的调用数；0 为不限"),
		text("concurrency_key", func(m *M) *string { return &m.ConcurrencyKey }).def("<model_factory>/<model_name>").
			doc("models with one key share one limit", "同键的模型共享一个上限"),
		duration("concurrency_wait", func(m *M) *time.Duration { return &m.ConcurrencyWait }).min(0.001).max(86400).def("30s").
			doc("how long a call waits for its turn", "等待名额的最长时间"),
		boolean("images", func(m *M) *bool { return &m.Images }).def("false").
			doc("the model takes images", "模型接受图片"),
		boolean("flatten_content", func(m *M) *bool { return &m.FlattenContent }).def("false").
			doc("send content as one string only", "仅以单个字符串发送内容"),
		boolean("prompt_cache", func(m *M) *bool { return &m.PromptCache }).def("false").
			doc("the provider reports cached tokens", "提供方会报告缓存的 token"),
	}
}
