package config

import (
	"encoding/json"
	"time"

	"github.com/troupe-go/troupe/messages"
)

func agentFields() fields[messages.AgentConfig] {
	type A = messages.AgentConfig
	return fields[A]{
		text("name", func(a *A) *string { return &a.Name }).required().must(label).
			doc("the agent's name, unique", "智能体名称，唯一"),
		text("description", func(a *A) *string { return &a.Description }).
			doc("what it is good at; shown to callers and to models", "擅长什么；展示给调用者与模型"),
		text("instructions", func(a *A) *string { return &a.Instructions }).
			doc("added to the system prompt", "附加到系统提示词"),
		texts("prompt_templates", func(a *A) *map[string]string { return &a.PromptTemplates }).
			in("system", "final_answer.pre_messages", "final_answer.post_messages", "managed_agent.task", "managed_agent.report").
			doc("prompts of your own in place of ours", "以自定义提示词替换内置提示词"),
		integer("max_steps", func(a *A) *int { return &a.MaxSteps }).min(1).max(10000).def("15").
			doc("think, act, observe turns", "思考-行动-观察的步数"),
		text("model_name", func(a *A) *string { return &a.ModelName }).required().
			doc("the cite_name of its model", "所用模型的 cite_name"),
		names("fallback_models", func(a *A) *[]string { return &a.FallbackModels }).
			doc("cite_names tried in order after a permanent failure", "永久失败后依次尝试的 cite_name"),
		names("tools", func(a *A) *[]string { return &a.Tools }).
			doc("names of tools its code may call", "代码可调用的工具名"),
		names("managed_agents", func(a *A) *[]string { return &a.ManagedAgents }).
			doc("names of agents its code may call", "代码可调用的智能体名"),
		boolean("provide_run_summary", func(a *A) *bool { return &a.ProvideRunSummary }).def("false").
			doc("its report to a calling agent carries a summary of its steps", "向上级智能体的报告附带步骤摘要"),
		integer("requested_output_tokens", func(a *A) *int { return &a.RequestedOutputTokens }).min(1).
			doc("max_tokens it asks its model for", "向模型请求的 max_tokens"),
		text("output_protocol", func(a *A) *messages.OutputProtocol { return &a.OutputProtocol }).
			in(string(messages.CodeAction), string(messages.FinalAnswerEnvelope)).def(string(messages.CodeAction)).
			doc("how its model marks the answer", "模型如何标记答案"),
		optionalBool("enable_protocol_repair_retry", func(a *A) **bool { return &a.EnableProtocolRepairRetry }).def("true").
			doc("up to two repair turns after a malformed answer", "答案格式有误时最多两次修复"),
		boolean("allow_chat_metadata", func(a *A) *bool { return &a.AllowChatMetadata }).def("false").
			doc("a run's metadata is shown to the model as untrusted data", "将运行元数据作为不可信数据展示给模型"),
		text("lang", func(a *A) *string { return &a.Lang }).in(messages.ZH, messages.EN).
			doc("its language; absent: the node's", "语言；缺省为节点语言"),
		names("additional_authorized_imports", func(a *A) *[]string { return &a.AdditionalImports }).
			doc("Python modules allowed beside the base set", "基础集合之外允许的 Python 模块"),
		size("attachment_inline_bytes", func(a *A) *int { return &a.AttachmentInlineBytes }).min(0).max(16<<20).def("32KiB").
			doc("text attachments up to this size in all stand in the query", "合计不超过此大小的文本附件直接写入问题"),
		integer("tool_calls_per_block", func(a *A) *int { return &a.ToolCallLimit }).min(1).max(1e6).def("256").
			doc("tool calls a code block may make", "一个代码块可发起的工具调用数"),
	}
}

func toolFields() fields[messages.ToolConfig] {
	type T = messages.ToolConfig
	return fields[T]{
		text("name", func(t *T) *string { return &t.Name }).required().must(identifier).
			doc("the name that code calls it by, unique", "代码调用所用名称，唯一"),
		text("class_name", func(t *T) *string { return &t.ClassName }).required().
			doc("the implementation, e.g. ReadFileTool", "实现类，如 ReadFileTool"),
		text("source", func(t *T) *string { return &t.Source }).in("local", "builtin").def("local").
			doc("where the implementation comes from", "实现来源"),
		text("description", func(t *T) *string { return &t.Description }).
			doc("in place of the implementation's", "替换实现自带的描述"),
		object("params", func(t *T) *json.RawMessage { return &t.Params }).
			doc("the implementation's parameters", "实现的构造参数"),
		names("labels", func(t *T) *[]string { return &t.Labels }).
			doc("free labels", "自由标签"),
		duration("timeout", func(t *T) *time.Duration { return &t.Timeout }).min(0.001).max(86400).def("120s").
			doc("a call", "单次调用时限"),
		integer("concurrency", func(t *T) *int { return &t.Concurrency }).min(0).max(1e5).def("0").
			doc("calls at a time on a node; 0: no limit", "节点上同时进行的调用数；0 为不限"),
		integer("rate_per_minute", func(t *T) *int { return &t.RatePerMin }).min(0).max(1e6).def("0").
			doc("calls a minute; 0: no limit", "每分钟调用数；0 为不限"),
		duration("cache_ttl", func(t *T) *time.Duration { return &t.CacheTTL }).min(0).max(30*86400).def("0s").
			doc("how long results of an effect-free tool are reused; 0s: never", "无副作用工具结果的缓存时长；0s 为不缓存"),
	}
}
