package messages

import (
	"encoding/json"
	"time"
)

// Scope says where in a run something happens. It is a value; it travels in
// messages instead of any ambient context.
type Scope struct {
	Tenant       string
	Run          string
	Invocation   string
	Agent        string // definition name
	Depth        int
	User         string
	Conversation string
}

// RunAgent asks a supervisor to run an agent. Answered by RunAccepted or by
// RunRefused.
type RunAgent struct {
	Run            string // empty: given by the supervisor
	Agent          string // empty: the first defined
	Query          string
	Attachments    []Attachment
	History        []Turn
	Lang           string // empty: the agent's
	User           string
	Tenant         string
	Conversation   string
	Deadline       time.Time // zero: limits.run_deadline from now
	IdempotencyKey string    // the same key gives the same run
	Fingerprint    string    // of the request, for the key; empty: made by the supervisor
	Metadata       map[string]any
	Overrides      Overrides
}

// Overrides are the parts of a definition that one run may replace
// (AgentRunInfo of the seeds).
type Overrides struct {
	Definition *AgentConfig  // the whole agent
	Model      string        // cite_name
	Models     []ModelConfig // definitions that exist for this run only, tried before the node's
	MaxSteps   int
	Workspace  string         // folder of the run's files
	Sandbox    *SandboxConfig // lower limits than the node's; more than it has is not given
}

// RunAccepted says the run exists; Existing that the idempotency key named it.
type RunAccepted struct {
	Run      string
	Existing bool
	Queued   bool
}

// RunRefused says why there is no run.
type RunRefused struct{ Fault *Fault }

// StopAfter says when a stop takes effect (DESIGN §3).
type StopAfter string

// The four forms of a stop.
const (
	StopStep  StopAfter = "step"  // the running step ends first; the seeds' stop_event
	StopNow   StopAfter = "now"   // model stream, code and tools are cancelled at once
	StopModel StopAfter = "model" // after the running model call, before its code runs
	StopTool  StopAfter = "tool"  // when all running calls have returned; the block is then ended
)

// Valid reports whether it is one of the four, or empty, which means StopStep.
func (s StopAfter) Valid() bool {
	switch s {
	case "", StopStep, StopNow, StopModel, StopTool:
		return true
	}
	return false
}

// Stronger reports whether it ends a run sooner than another form; empty means
// StopStep.
func (s StopAfter) Stronger(than StopAfter) bool { return s.rank() > than.rank() }

func (s StopAfter) rank() int {
	switch s {
	case StopNow:
		return 3
	case StopModel:
		return 2
	case StopTool:
		return 1
	}
	return 0
}

// Stop is the poison pill. It travels down the tree; each actor acknowledges;
// the caller gets Stopped. A `now` overrides a pending milder form.
type Stop struct {
	Run       string
	After     StopAfter // empty: step
	Reason    string
	User      string // who asks; must own the run when both are set
	RequestID string
}

// StoppedPart is one acknowledgement of a stop.
type StoppedPart struct {
	Actor string `json:"actor"`          // run | agent | model | python | tool:<name>
	Node  string `json:"node,omitempty"` // where
	What  string `json:"what"`           // what was ended there
	ID    string `json:"id,omitempty"`   // invocation or tool_call_id
}

// Stopped answers Stop: what was stopped where. Status is the run's status
// when it had ended already, else "stopped".
type Stopped struct {
	Run    string
	Status Status
	Parts  []StoppedPart
	Fault  *Fault // unknown_run, forbidden
}

// Think asks an invocation's model actor for one answer. Answered by Thought
// or ThinkFailed with the same ID. Messages share one growing slice: nobody
// writes to it.
type Think struct {
	ID        uint64
	Step      int
	Messages  []ChatMessage
	MaxTokens int    // 0: the model's default
	Attempt   int    // number of the first attempt made, from 1: repair turns go on counting
	Purpose   string // "" | "final_answer"
}

// CancelThink ends a running Think at once; no answer follows but ThinkCancelled.
type CancelThink struct{ ID uint64 }

// ThinkCancelled acknowledges CancelThink.
type ThinkCancelled struct {
	ID    uint64
	Model string
}

// Thought is a whole answer. Attempt text went to the observer as it came; its
// attempt is open until the agent commits or rolls it back.
type Thought struct {
	ID           uint64
	Text         string // visible content, thinking tags included as the model wrote them
	Reasoning    string
	FinishReason string // stop | length | content_filter | tool_calls | "" | the provider's own
	Usage        Usage
	Model        string // cite_name that answered
	AttemptID    string
	Attempt      int // the attempt that succeeded, from Think.Attempt
	Attempts     int // attempts made for this Think
	ToolCalls    []ToolCallDelta
	Duration     time.Duration
}

// ThinkFailed says that no model of the chain answered. Every attempt is
// rolled back already.
type ThinkFailed struct {
	ID       uint64
	Fault    *Fault
	Attempts int
}

// AttemptBegin opens an attempt. It, AttemptDelta, AttemptEnd and
// AttemptRollback go from the model actor, in order, to the observer.
type AttemptBegin struct {
	AttemptID string
	Attempt   int
	Step      int
}

// AttemptDelta is a piece of streamed text. Both fields may be set; reasoning
// comes first.
type AttemptDelta struct {
	AttemptID string
	Content   string
	Reasoning string
}

// AttemptEnd says that no more text comes and what is held back is to be
// released; the attempt stays open until it is settled.
type AttemptEnd struct{ AttemptID string }

// AttemptRollback withdraws an attempt's text.
type AttemptRollback struct {
	AttemptID string
	Attempt   int
}

// Execute runs a block in the invocation's interpreter. Answered by Executed
// with the same ID, after any number of CallTool messages.
type Execute struct {
	ID   uint64
	Step int
	Code string // one source text; line numbers in errors count in it
	// Clock is what the code's clock shows at the start; zero: now.
	Clock time.Time
	// Past are the blocks whose variables this one builds on, in order. They
	// are run again when the interpreter that ran them is gone.
	Past []PastBlock
	// Recorded are calls that this very block made under an earlier owner. They
	// are answered from here, and none is made until all were met.
	Recorded []RecordedCall
}

// CancelExecute ends a running block at once by killing the interpreter.
// Executed with Killed "cancelled" follows.
type CancelExecute struct{ ID uint64 }

// ExecutorBusy says that a block waits for its turn to compute. It goes from
// the executor to the agent, at most once a block.
type ExecutorBusy struct {
	ID    uint64 // Execute.ID
	Ahead int    // blocks that are served before it, as far as is known
}

// Executed says how a block ended.
type Executed struct {
	ID        uint64
	Output    string          // what it printed, within sandbox.output_limit, marked in its middle where cut
	Printed   int64           // bytes it printed, those left out of Output included
	Value     json.RawMessage // the last value, tagged JSON; nil when None
	Repr      string          // its text form, bounded; "" when None
	IsFinal   bool            // final_answer was called
	Final     json.RawMessage // its argument, tagged JSON
	FinalText string          // its text form
	Err       *PyError        // nil when the block ended without an exception
	Killed    string          // "" | timeout | memory | died | cancelled: the interpreter is gone
	Fault     *Fault          // no interpreter could be had: no code runs until a person mends what it says
	Lost      *LostVariables  // variables of earlier blocks that the block began without; nil: none
	// Interrupted says, of a block with recorded calls, where it did something
	// else than it had done; nothing was called since. It was killed.
	Interrupted  string
	State        string    // mark of what the variables hold: the same variables, the same mark
	Unrepeatable []string  // why the block can't be run again; nil when it can
	Snapshot     *Snapshot // of the variables after it, when one was due
	CPU          time.Duration
	Duration     time.Duration
}

// PyError is an exception that ended a block.
type PyError struct {
	Type      string `json:"type"`
	Message   string `json:"message"`
	Line      int    `json:"line,omitempty"`      // in the block, from 1; 0 unknown
	Traceback string `json:"traceback,omitempty"` // the model's own frames only
}

// CallTool is one call that running code makes. It goes from the executor to
// the agent (which checks, announces and logs it) and from there to the tool
// actor. Answered by ToolReturned with the same ID.
type CallTool struct {
	ID     string // tool_call_id, fresh; set by the agent
	Block  uint64 // Execute.ID
	Call   uint64 // number of the call in its block, from 1 (the ordinal)
	Tool   string
	Args   []json.RawMessage // positional, tagged JSON
	Kwargs json.RawMessage   // an object of tagged JSON; nil when empty
	Step   int
}

// CancelCall cancels a running tool call; ToolReturned follows, at the latest
// when the tool's grace is over.
type CancelCall struct{ ID string }

// ToolReturned is a tool's result or error.
type ToolReturned struct {
	ID        string
	Block     uint64
	Call      uint64
	Tool      string
	Value     json.RawMessage // tagged JSON; when Err is nil
	Err       *ToolError
	Artifacts []Artifact // workspace files it changed
	Duration  time.Duration
	At        time.Time // when the agent took it, which is when the code's clock says it came
}

// ToolError is what the model's code sees as an exception.
type ToolError struct {
	Type      string `json:"type"` // Python exception class raised: ToolError, ToolPanicked, ToolTimeout, ToolOutcomeUnknown, ValueError, …
	Message   string `json:"message"`
	Code      string `json:"code,omitempty"`
	Abandoned bool   `json:"abandoned,omitempty"` // the Go function ignored its cancel and still runs
}

// Emit asks the observer to publish an event at once. The observer fills in
// run, depth, ids, step and time: the message is its own from then on.
type Emit struct{ Event Event }

// InvocationEnded goes from an agent to its run when run_finished is acked and
// its last event published, or when this owner can't write any more.
type InvocationEnded struct {
	Invocation string
	Status     Status        // "" when the log is lost
	Artifacts  int           // files it handed over
	Parts      []StoppedPart // what a stop ended; nil when there was none
	Lost       *Fault        // why this owner can't write any more; nil at a real end
}
