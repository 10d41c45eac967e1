package fact

import (
	"encoding/json"
	"time"
)

// ChildStarted says that a sub-agent is about to begin: an intent like
// Intended. The child writes its own facts; this one lets an adopter find it
// instead of starting it again.
type ChildStarted struct {
	Step           int               `json:"step"`
	ToolCallID     string            `json:"tool_call_id"`
	Call           uint64            `json:"call"`       // ordinal in the block
	Agent          string            `json:"agent"`      // definition name
	Invocation     string            `json:"invocation"` // the child's, made by the parent
	Depth          int               `json:"depth"`      // the child's, from 1
	Args           []json.RawMessage `json:"args,omitempty"`
	Kwargs         json.RawMessage   `json:"kwargs,omitempty"`
	Hash           string            `json:"hash"`            // CallHash of agent and arguments
	IdempotencyKey string            `json:"idempotency_key"` // of the child's RunAgent
	Calls          []Call            `json:"calls,omitempty"` // effect-free calls made before it in this block, not yet on the log
}

// PlanChanged holds a plan as it stands after a planning tool changed it, so
// that a reader needs the last one only.
type PlanChanged struct {
	Step       int             `json:"step"`
	ToolCallID string          `json:"tool_call_id,omitempty"`
	PlanID     string          `json:"plan_id"`
	PlanStepID string          `json:"plan_step_id,omitempty"` // the one step that changed; "" when the plan was made
	Plan       json.RawMessage `json:"plan"`                   // {plan_id, title, steps: [{id, title, description, status}]}
}

// Compressed is a checkpoint of the window: what the summary stands for from
// now on (nexent-core §13.6). A rejected compression is no fact.
type Compressed struct {
	Step         int             `json:"step"`
	Summary      json.RawMessage `json:"summary"`                 // an object; {"markdown": …}
	Through      string          `json:"through,omitempty"`       // id of the last conversation message it covers
	ThroughStep  int             `json:"through_step,omitempty"`  // last step of this invocation it covers; 0: history only
	TokensBefore int             `json:"tokens_before,omitempty"` // estimates
	TokensAfter  int             `json:"tokens_after,omitempty"`
	Attempts     int             `json:"attempts,omitempty"` // model calls it took
}

// Paused says that nothing new begins, neither a Think nor an effect, until
// Resumed.
type Paused struct {
	Reason    string `json:"reason,omitempty"`
	User      string `json:"user,omitempty"`
	RequestID string `json:"request_id,omitempty"`
	Inbox     uint64 `json:"inbox,omitempty"` // sequence of the request in the invocation's inbox
}

// Resumed ends a pause.
type Resumed struct {
	User      string `json:"user,omitempty"`
	RequestID string `json:"request_id,omitempty"`
	Inbox     uint64 `json:"inbox,omitempty"`
}

// Answered is what a person answered to a HUMAN_INTERACTION.
type Answered struct {
	Interaction string          `json:"interaction"` // id of the question
	Answer      json.RawMessage `json:"answer"`      // an object: answers by question id
	User        string          `json:"user,omitempty"`
	RequestID   string          `json:"request_id,omitempty"`
	Inbox       uint64          `json:"inbox,omitempty"`
}

// Approved is a person's decision about a call that needs one.
type Approved struct {
	ToolCallID string `json:"tool_call_id"`
	Granted    bool   `json:"granted"`
	Reason     string `json:"reason,omitempty"`
	User       string `json:"user,omitempty"` // empty: the limit of time decided
	RequestID  string `json:"request_id,omitempty"`
	Inbox      uint64 `json:"inbox,omitempty"`
}

// Purposes of a Timer.
const (
	TimerDeadline = "deadline" // of the run
	TimerApproval = "approval" // limit of an approval
	TimerAnswer   = "answer"   // limit of a question to people
	TimerWake     = "wake"     // of an invocation that waits for a time
)

// Timer says that a durable timer fell due.
type Timer struct {
	ID      string    `json:"id"`
	Purpose string    `json:"purpose"`           // Timer… constants
	Subject string    `json:"subject,omitempty"` // what it is about: a tool_call_id, an interaction
	Due     time.Time `json:"due"`               // when it should have
	Inbox   uint64    `json:"inbox,omitempty"`
}

// Kind gives the stable name of the fact.
func (*ChildStarted) Kind() string { return "child_started" }
func (*PlanChanged) Kind() string  { return "plan_changed" }
func (*Compressed) Kind() string   { return "compressed" }
func (*Paused) Kind() string       { return "paused" }
func (*Resumed) Kind() string      { return "resumed" }
func (*Answered) Kind() string     { return "answered" }
func (*Approved) Kind() string     { return "approved" }
func (*Timer) Kind() string        { return "timer" }
