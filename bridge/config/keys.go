package config

import (
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/troupe-go/troupe/messages"
)

// Keys describes every key of cluster.yaml, in the order of the example.
func Keys() []Key { return fileFields().keys() }

func (w *walker) decodeFile(root ast.Node, f *File) {
	if root == nil {
		for _, k := range fileFields() {
			if k.Required {
				w.missing(place{line: 1, col: 1}, &k.Key)
			}
		}
		return
	}
	fileFields().decode(w, root, at("", root), f)
}

func fileFields() fields[File] {
	type F = File
	return fields[F]{
		sections("models", modelFields(), func(f *F) *[]messages.ModelConfig { return &f.Models }).required().
			doc("the models that agents use", "智能体使用的模型"),
		sections("agents", agentFields(), func(f *F) *[]messages.AgentConfig { return &f.Agents }).required().
			doc("the agents; the first is the default", "智能体；第一个为默认"),
		sections("tools", toolFields(), func(f *F) *[]messages.ToolConfig { return &f.Tools }).
			doc("the tools that agents may be given", "可分配给智能体的工具"),
		section("sandbox", sandboxFields(), func(f *F) *messages.SandboxConfig { return &f.Sandbox }).
			doc("where and within which limits model-written Python runs", "模型所写 Python 的运行环境与限制"),
		section("limits", limitFields(), func(f *F) *messages.Limits { return &f.Limits }).
			doc("what the node runs at a time and keeps", "节点的并发与保留上限"),
		text("data_dir", func(f *F) *string { return &f.DataDir }).
			doc("the folder of the runs' workspaces; absent: a temporary one", "运行工作区所在目录；缺省为临时目录"),
		text("lang", func(f *F) *string { return &f.Lang }).in(messages.ZH, messages.EN).def(messages.ZH).
			doc("the language of prompts and events", "提示词与事件的语言"),
		section("nats", natsFields(), func(f *F) *NATS { return &f.NATS }).
			doc("how nodes find each other", "节点如何互相发现"),
		section("hosts", hostFields(), func(f *F) *Hosts { return &f.Hosts }).
			doc("what this node of a cluster hosts", "本节点在集群中承载的内容"),
	}
}

func natsFields() fields[NATS] {
	return fields[NATS]{
		names("urls", func(n *NATS) *[]string { return &n.URLs }).doc("NATS servers to join", "要加入的 NATS 服务器"),
		names("routes", func(n *NATS) *[]string { return &n.Routes }).doc("other nodes' embedded servers", "其他节点的内嵌服务器"),
	}
}

func hostFields() fields[Hosts] {
	return fields[Hosts]{
		names("agents", func(h *Hosts) *[]string { return &h.Agents }).doc("agents that run here; empty: all", "在此运行的智能体；空为全部"),
		names("tools", func(h *Hosts) *[]string { return &h.Tools }).doc("tools that run here; empty: all", "在此运行的工具；空为全部"),
		texts("labels", func(h *Hosts) *map[string]string { return &h.Labels }).doc("the node's labels", "节点标签"),
	}
}

func sandboxFields() fields[messages.SandboxConfig] {
	type S = messages.SandboxConfig
	return fields[S]{
		text("level", func(s *S) *messages.SandboxLevel { return &s.Level }).in("local", "wasm", "docker").
			doc("the executor; absent: the first that can be had", "执行器；缺省为首个可用的"),
		boolean("unsafe", func(s *S) *bool { return &s.Unsafe }).def("false").
			doc("go on where walls are missing; for harmless programs only", "缺少隔离墙时仍继续；仅用于无害程序"),
		integer("memory_limit_mb", func(s *S) *int { return &s.MemoryLimitMB }).min(64).max(1<<20).def("2048").
			doc("MiB of memory an interpreter may have", "解释器可用内存（MiB）"),
		number("timeout_seconds", func(s *S) *float64 { return &s.TimeoutSeconds }).min(0.1).max(86400).def("120").
			doc("seconds the interpreter may compute in a block", "解释器在一个代码块中的计算时间（秒）"),
		duration("block_timeout", func(s *S) *time.Duration { return &s.BlockTimeout }).min(1).max(7*86400).def("30m").
			doc("a whole block, waiting for tools included", "整个代码块的时限，含等待工具"),
		optionalInteger("warm_interpreters", func(s *S) **int { return &s.WarmInterpreters }).min(0).max(64).def("1").
			doc("interpreters kept started, so that a block need not wait for one", "预先启动的解释器数量，代码块无需等待启动"),
		duration("rebuild_limit", func(s *S) *time.Duration { return &s.RebuildLimit }).min(0.001).max(86400).def("30s").
			doc("processor time to bring variables back after an interpreter was lost", "解释器丢失后恢复变量可用的处理器时间"),
		size("output_limit", func(s *S) *int { return &s.OutputLimit }).min(1<<10).max(1<<30).def("1MiB").
			doc("bytes a block may print", "代码块可打印的字节数"),
		size("observation_limit", func(s *S) *int { return &s.ObservationLimit }).min(256).max(16<<20).def("20KiB").
			doc("bytes of it that the model sees", "模型能看到的字节数"),
	}
}

func limitFields() fields[messages.Limits] {
	type L = messages.Limits
	return fields[L]{
		integer("max_runs", func(l *L) *int { return &l.MaxRuns }).min(1).max(1e6).def("256").
			doc("runs at a time", "同时进行的运行数"),
		integer("max_executors", func(l *L) *int { return &l.MaxExecutors }).min(1).max(1e5).
			doc("code blocks that compute at a time, the others wait; default: 4 a processor", "同时计算的代码块数，其余等待；缺省为每个处理器 4 个"),
		integer("queue_size", func(l *L) *int { return &l.QueueSize }).min(1).max(1e6).def("1024").
			doc("runs that wait; beyond it new ones are refused as busy", "等待的运行数；超出则以 busy 拒绝"),
		duration("queue_wait", func(l *L) *time.Duration { return &l.QueueWait }).min(0.001).max(86400).def("5m").
			doc("how long a run waits at most", "运行的最长等待时间"),
		duration("run_deadline", func(l *L) *time.Duration { return &l.RunDeadline }).min(1).max(366*86400).def("24h").
			doc("how long a run takes at most", "运行的最长时间"),
		integer("keep_runs", func(l *L) *int { return &l.KeepRuns }).min(1).max(1e6).def("1024").
			doc("ended runs kept in memory for late watchers", "为迟到的观察者保留的已结束运行数"),
		integer("keep_events", func(l *L) *int { return &l.KeepEvents }).min(256).max(1e7).def("65536").
			doc("events kept a run in memory", "每次运行在内存中保留的事件数"),
	}
}
