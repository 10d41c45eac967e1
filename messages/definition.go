package messages

import (
	"encoding/json"
	"time"
)

// Languages of prompts, events and errors.
const (
	ZH = "zh"
	EN = "en"
)

// ModelKind says what a model is for.
type ModelKind string

// The model kinds of this release.
const (
	KindLLM         ModelKind = "llm"          // text, default
	KindLongContext ModelKind = "long_context" // text, large windows
)

// ModelConfig defines a model (nexent-core §3.9). Zero means the default that
// stands at the field.
type ModelConfig struct {
	CiteName     string            `yaml:"cite_name" json:"cite_name"`                             // the name agents use; required, unique
	Kind         ModelKind         `yaml:"kind,omitempty" json:"kind,omitempty"`                   // llm | long_context; default llm
	APIKey       Secret            `yaml:"api_key,omitempty" json:"api_key,omitempty"`             // sent as bearer token; may be empty for a local server
	ModelName    string            `yaml:"model_name" json:"model_name"`                           // the provider's name; required
	URL          string            `yaml:"url" json:"url"`                                         // base URL, e.g. https://api.example.com/v1; required
	Temperature  *float64          `yaml:"temperature,omitempty" json:"temperature,omitempty"`     // default 0.1; 0..2
	TopP         *float64          `yaml:"top_p,omitempty" json:"top_p,omitempty"`                 // default 0.95; 0..1
	SSLVerify    *bool             `yaml:"ssl_verify,omitempty" json:"ssl_verify,omitempty"`       // default true
	ModelFactory string            `yaml:"model_factory,omitempty" json:"model_factory,omitempty"` // provider family, e.g. openai, modelengine
	ExtraBody    json.RawMessage   `yaml:"extra_body,omitempty" json:"extra_body,omitempty"`       // a JSON object merged into the request
	ExtraHeaders map[string]Secret `yaml:"extra_headers,omitempty" json:"extra_headers,omitempty"`

	MaxOutputTokens     int     `yaml:"max_output_tokens,omitempty" json:"max_output_tokens,omitempty"`         // 0: the provider's default
	ContextWindowTokens int     `yaml:"context_window_tokens,omitempty" json:"context_window_tokens,omitempty"` // 0: unknown
	TimeoutSeconds      float64 `yaml:"timeout_seconds,omitempty" json:"timeout_seconds,omitempty"`             // whole call; default 600
	ConcurrencyLimit    int     `yaml:"concurrency_limit,omitempty" json:"concurrency_limit,omitempty"`         // 0: none
	ConcurrencyKey      string  `yaml:"concurrency_key,omitempty" json:"concurrency_key,omitempty"`             // default "<model_factory>/<model_name>"; models with one key share one limit

	FirstByteTimeout time.Duration `yaml:"first_byte_timeout,omitempty" json:"first_byte_timeout,omitempty"` // default 60s
	TokenTimeout     time.Duration `yaml:"token_timeout,omitempty" json:"token_timeout,omitempty"`           // between two chunks; default 60s
	ConcurrencyWait  time.Duration `yaml:"concurrency_wait,omitempty" json:"concurrency_wait,omitempty"`     // default 30s
	Images           bool          `yaml:"images,omitempty" json:"images,omitempty"`                         // takes image_url parts
	FlattenContent   bool          `yaml:"flatten_content,omitempty" json:"flatten_content,omitempty"`       // send string content only
	PromptCache      bool          `yaml:"prompt_cache,omitempty" json:"prompt_cache,omitempty"`             // the provider reports cached tokens
}

// ToolConfig places a tool on the shelf (nexent-core §3.9).
type ToolConfig struct {
	Name        string          `yaml:"name" json:"name"`                                   // the callable name; required, a Python identifier, unique
	ClassName   string          `yaml:"class_name" json:"class_name"`                       // the implementation, e.g. ReadFileTool; required
	Source      string          `yaml:"source,omitempty" json:"source,omitempty"`           // local (default) | builtin; later mcp
	Description string          `yaml:"description,omitempty" json:"description,omitempty"` // overrides the implementation's
	Params      json.RawMessage `yaml:"params,omitempty" json:"params,omitempty"`           // a JSON object, the constructor's parameters
	Labels      []string        `yaml:"labels,omitempty" json:"labels,omitempty"`

	Timeout     time.Duration `yaml:"timeout,omitempty" json:"timeout,omitempty"`         // a call; default 120s
	Concurrency int           `yaml:"concurrency,omitempty" json:"concurrency,omitempty"` // calls at a time on a node; 0: no limit
	RatePerMin  int           `yaml:"rate_per_minute,omitempty" json:"rate_per_minute,omitempty"`
	CacheTTL    time.Duration `yaml:"cache_ttl,omitempty" json:"cache_ttl,omitempty"` // effect-free tools only; 0: no cache
}

// OutputProtocol says how an agent's model marks its answer.
type OutputProtocol string

// The output protocols (nexent-core §2.5).
const (
	CodeAction          OutputProtocol = "code_action"           // code runs; prose without code is the answer; default
	FinalAnswerEnvelope OutputProtocol = "final_answer_envelope" // only <FINAL_ANSWER>…</FINAL_ANSWER> is the answer
)

// AgentConfig defines an agent (nexent-core §3.9).
type AgentConfig struct {
	Name                      string            `yaml:"name" json:"name"`                                                   // required, unique
	Description               string            `yaml:"description,omitempty" json:"description,omitempty"`                 // what it is good at; shown to callers and to the model
	Instructions              string            `yaml:"instructions,omitempty" json:"instructions,omitempty"`               // added to the system prompt
	PromptTemplates           map[string]string `yaml:"prompt_templates,omitempty" json:"prompt_templates,omitempty"`       // overrides by key: system, final_answer.pre_messages, final_answer.post_messages, managed_agent.task, managed_agent.report
	MaxSteps                  int               `yaml:"max_steps,omitempty" json:"max_steps,omitempty"`                     // default 15, >= 1
	ModelName                 string            `yaml:"model_name" json:"model_name"`                                       // cite_name; required
	FallbackModels            []string          `yaml:"fallback_models,omitempty" json:"fallback_models,omitempty"`         // cite_names, tried in order after a permanent failure
	Tools                     []string          `yaml:"tools,omitempty" json:"tools,omitempty"`                             // tool names
	ManagedAgents             []string          `yaml:"managed_agents,omitempty" json:"managed_agents,omitempty"`           // agent names
	ProvideRunSummary         bool              `yaml:"provide_run_summary,omitempty" json:"provide_run_summary,omitempty"` // a sub-agent's report carries the summary of its steps
	RequestedOutputTokens     int               `yaml:"requested_output_tokens,omitempty" json:"requested_output_tokens,omitempty"`
	OutputProtocol            OutputProtocol    `yaml:"output_protocol,omitempty" json:"output_protocol,omitempty"`                           // default code_action
	EnableProtocolRepairRetry *bool             `yaml:"enable_protocol_repair_retry,omitempty" json:"enable_protocol_repair_retry,omitempty"` // default true
	AllowChatMetadata         bool              `yaml:"allow_chat_metadata,omitempty" json:"allow_chat_metadata,omitempty"`                   // metadata is shown to the model as untrusted data
	Lang                      string            `yaml:"lang,omitempty" json:"lang,omitempty"`                                                 // zh | en; default the node's
	AdditionalImports         []string          `yaml:"additional_authorized_imports,omitempty" json:"additional_authorized_imports,omitempty"`
	AttachmentInlineBytes     int               `yaml:"attachment_inline_bytes,omitempty" json:"attachment_inline_bytes,omitempty"` // text attachments up to this many bytes in all stand in the query; default 32 KiB
	ToolCallLimit             int               `yaml:"tool_calls_per_block,omitempty" json:"tool_calls_per_block,omitempty"`       // default 256
}

// DefaultMaxSteps is AgentConfig.MaxSteps when none is given.
const DefaultMaxSteps = 15

// SandboxLevel names an executor implementation.
type SandboxLevel string

// The sandbox levels.
const (
	SandboxLocal  SandboxLevel = "local"
	SandboxWasm   SandboxLevel = "wasm"
	SandboxDocker SandboxLevel = "docker"
)

// SandboxConfig says where and within which limits model-written Python runs
// (nexent-core §9.1, DESIGN §7).
type SandboxConfig struct {
	Level            SandboxLevel  `yaml:"level,omitempty" json:"level,omitempty"`                         // default: the first that can be had
	Unsafe           bool          `yaml:"unsafe,omitempty" json:"unsafe,omitempty"`                       // go on where walls are missing; for harmless programs only
	MemoryLimitMB    int           `yaml:"memory_limit_mb,omitempty" json:"memory_limit_mb,omitempty"`     // default 2048
	TimeoutSeconds   float64       `yaml:"timeout_seconds,omitempty" json:"timeout_seconds,omitempty"`     // the interpreter's own time in a block; default 120
	BlockTimeout     time.Duration `yaml:"block_timeout,omitempty" json:"block_timeout,omitempty"`         // a whole block, waiting for tools included; default 30m
	WarmInterpreters *int          `yaml:"warm_interpreters,omitempty" json:"warm_interpreters,omitempty"` // interpreters kept started; default 1
	RebuildLimit     time.Duration `yaml:"rebuild_limit,omitempty" json:"rebuild_limit,omitempty"`         // processor time to bring variables back after an interpreter was lost; default 30s
	OutputLimit      int           `yaml:"output_limit,omitempty" json:"output_limit,omitempty"`           // bytes a block may print; default 1 MiB
	ObservationLimit int           `yaml:"observation_limit,omitempty" json:"observation_limit,omitempty"` // bytes of it the model sees; default 20 KiB
}

// Limits bound a node.
type Limits struct {
	MaxRuns int `yaml:"max_runs,omitempty" json:"max_runs,omitempty"` // runs at a time; default 256
	// MaxExecutors is how many blocks compute at a time; default 4 a processor.
	MaxExecutors int           `yaml:"max_executors,omitempty" json:"max_executors,omitempty"`
	QueueSize    int           `yaml:"queue_size,omitempty" json:"queue_size,omitempty"`     // runs that wait; default 1024; beyond: busy
	QueueWait    time.Duration `yaml:"queue_wait,omitempty" json:"queue_wait,omitempty"`     // default 5m
	RunDeadline  time.Duration `yaml:"run_deadline,omitempty" json:"run_deadline,omitempty"` // default 24h
	KeepRuns     int           `yaml:"keep_runs,omitempty" json:"keep_runs,omitempty"`       // ended runs kept in memory for late watchers; default 1024
	KeepEvents   int           `yaml:"keep_events,omitempty" json:"keep_events,omitempty"`   // events kept a run in memory, 32 MiB of them at most; default 65536
}

// Turn is one message of an earlier conversation (AgentHistory of the seeds).
type Turn struct {
	Role    string        `json:"role"`              // user | assistant
	Content string        `json:"content,omitempty"` // text; used when Parts is empty
	Parts   []ContentPart `json:"parts,omitempty"`
}

// Attachment is a file that comes with a query.
type Attachment struct {
	Name      string `json:"name"`
	MediaType string `json:"media_type,omitempty"` // guessed from name and bytes when empty
	Data      []byte `json:"data,omitempty"`
	Hash      string `json:"hash,omitempty"` // sha256 hex, of Data
}

// Artifact is a file an answer hands over; it stands in FILE_ARTIFACT.
type Artifact struct {
	Name      string `json:"name"`
	Path      string `json:"path"` // workspace-relative
	MediaType string `json:"mime_type,omitempty"`
	Size      int64  `json:"size"`
	Hash      string `json:"sha256"`
}

// Definitions are what configuration, or a Go program, tells a node: the
// models, tools and agents it knows and the bounds it keeps.
type Definitions struct {
	Models  []ModelConfig `yaml:"models,omitempty" json:"models,omitempty"`
	Tools   []ToolConfig  `yaml:"tools,omitempty" json:"tools,omitempty"`
	Agents  []AgentConfig `yaml:"agents,omitempty" json:"agents,omitempty"` // the first is the default
	Sandbox SandboxConfig `yaml:"sandbox,omitempty" json:"sandbox,omitempty"`
	Limits  Limits        `yaml:"limits,omitempty" json:"limits,omitempty"`
	DataDir string        `yaml:"data_dir,omitempty" json:"data_dir,omitempty"` // runs' workspaces and, later, the log; empty: a temporary folder
	Lang    string        `yaml:"lang,omitempty" json:"lang,omitempty"`         // zh | en; default zh, as the seeds have it
}
