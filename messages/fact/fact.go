// Package fact holds what a node needs to take an invocation over: the facts
// of DESIGN §5, and the record that one append to the log carries.
//
// Only an invocation's owner appends facts. A fact is immutable once it is
// handed to the journal. Every fact has a stable kind and a JSON form; a
// reader ignores fields it doesn't know and refuses kinds it doesn't know.
package fact

import (
	"encoding/json"
	"time"

	"github.com/troupe-go/troupe/messages"
)

// Schema is the version that records written by this code carry.
const Schema = 1

// Fact is one of the fact types of this package.
type Fact interface{ Kind() string }

// Record is what one append carries: facts, and the events they settle.
// It is frozen when first sent.
type Record struct {
	Schema     int              `json:"schema"`
	Run        string           `json:"run"`
	Invocation string           `json:"invocation"`
	Epoch      uint64           `json:"epoch"` // of the owner that wrote it, from 1
	N          uint64           `json:"n"`     // number in the epoch, from 1
	Time       time.Time        `json:"time"`
	Facts      []Fact           `json:"-"`
	Settles    []messages.Event `json:"-"`     // events these facts make permanent; texts joined
	Acked      uint64           `json:"acked"` // number of this epoch's last event known to be stored
	Seq        uint64           `json:"-"`     // position in the invocation's fact log, set by the reader
}

// RunStarted is an invocation's first fact.
type RunStarted struct {
	Tenant         string                  `json:"tenant,omitempty"`
	Agent          string                  `json:"agent"`
	Query          string                  `json:"query"`
	Now            time.Time               `json:"now"` // when the run began, as the model is told
	Attachments    []messages.Attachment   `json:"attachments,omitempty"`
	History        []messages.Turn         `json:"history,omitempty"`
	Lang           string                  `json:"lang,omitempty"`
	User           string                  `json:"user,omitempty"`
	Conversation   string                  `json:"conversation,omitempty"`
	Metadata       map[string]any          `json:"metadata,omitempty"`
	Deadline       time.Time               `json:"deadline"`
	IdempotencyKey string                  `json:"idempotency_key,omitempty"`
	Definition     *messages.AgentConfig   `json:"definition"`       // resolved
	Models         []messages.ModelConfig  `json:"models,omitempty"` // the chain; secrets masked
	Tools          []messages.ToolConfig   `json:"tools,omitempty"`
	Sandbox        *messages.SandboxConfig `json:"sandbox,omitempty"`
	Workspace      string                  `json:"workspace,omitempty"`
	Depth          int                     `json:"depth,omitempty"`
	Parent         string                  `json:"parent,omitempty"` // invocation
	ParentEpoch    uint64                  `json:"parent_epoch,omitempty"`
	Executor       string                  `json:"executor,omitempty"` // kind, version and driver hash
	Seed           string                  `json:"seed,omitempty"`     // of what is random in the interpreter
	Owner          string                  `json:"owner,omitempty"`    // random, set by the log: two owners never write the same first record
}

// Thought is a model's whole answer.
type Thought struct {
	Step         int                      `json:"step"`
	Text         string                   `json:"text"`
	Reasoning    string                   `json:"reasoning,omitempty"`
	FinishReason string                   `json:"finish_reason,omitempty"`
	Usage        messages.Usage           `json:"usage"`
	Model        string                   `json:"model"`
	AttemptID    string                   `json:"attempt_id,omitempty"`
	Attempt      int                      `json:"attempt"`
	Attempts     int                      `json:"attempts"`
	Rejected     string                   `json:"rejected,omitempty"` // why it led to a repair turn; "" when accepted
	Code         string                   `json:"code,omitempty"`     // the block to run; "" when none
	Clock        time.Time                `json:"clock,omitzero"`     // what the block's clock shows at its start
	Purpose      string                   `json:"purpose,omitempty"`  // "" | final_answer
	ToolCalls    []messages.ToolCallDelta `json:"tool_calls,omitempty"`
}

// Intended says that a call of a tool with effects is about to begin.
type Intended struct {
	Step           int               `json:"step"`
	ToolCallID     string            `json:"tool_call_id"`
	Call           uint64            `json:"call"` // ordinal in the block
	Tool           string            `json:"tool"`
	Args           []json.RawMessage `json:"args,omitempty"`
	Kwargs         json.RawMessage   `json:"kwargs,omitempty"`
	Hash           string            `json:"hash"`            // of tool and canonical arguments
	IdempotencyKey string            `json:"idempotency_key"` // the same for every try of this intent
	Calls          []Call            `json:"calls,omitempty"` // effect-free calls made before it in this block, not yet on the log
}

// Call is a finished call without effects.
type Call = messages.RecordedCall

// Returned is the result of an intended call.
type Returned struct {
	Step       int                 `json:"step"`
	ToolCallID string              `json:"tool_call_id"`
	Call       uint64              `json:"call"`
	Tool       string              `json:"tool"`
	Value      json.RawMessage     `json:"value,omitempty"`
	Err        *messages.ToolError `json:"err,omitempty"`
	Changes    []messages.Artifact `json:"changes,omitempty"` // workspace files
	At         time.Time           `json:"at,omitzero"`       // when the code's clock says it returned
}

// Executed says how a block ended.
type Executed struct {
	Step        int               `json:"step"`
	Observation string            `json:"observation"` // as it joined the window
	OutputHash  string            `json:"output_hash,omitempty"`
	IsFinal     bool              `json:"is_final,omitempty"`
	Final       json.RawMessage   `json:"final,omitempty"`
	FinalText   string            `json:"final_text,omitempty"`
	Err         *messages.PyError `json:"err,omitempty"`
	Killed      string            `json:"killed,omitempty"`
	Interrupted bool              `json:"interrupted,omitempty"` // BlockInterrupted: ended by a take-over
	Calls       []Call            `json:"calls,omitempty"`       // effect-free calls not yet on the log
	CPU         time.Duration     `json:"cpu,omitempty"`
	State       string            `json:"state,omitempty"` // mark of what the variables held at its end
	// Unrepeatable says why the block can't be run again; nil when it can.
	Unrepeatable []string                `json:"unrepeatable,omitempty"`
	Snapshot     *messages.Snapshot      `json:"snapshot,omitempty"` // of the variables after it
	Lost         *messages.LostVariables `json:"lost,omitempty"`     // variables it began without
	Executor     string                  `json:"executor,omitempty"` // that ran it, where that is another than the run's
}

// StopRequested records a stop that the owner obeys.
type StopRequested struct {
	After     messages.StopAfter `json:"after"`
	Reason    string             `json:"reason,omitempty"`
	User      string             `json:"user,omitempty"`
	RequestID string             `json:"request_id,omitempty"`
	Inbox     uint64             `json:"inbox,omitempty"` // sequence of the request in the invocation's inbox
}

// Adoption causes.
const (
	CausePanic   = "panic"
	CauseLoss    = "loss"
	CauseRelease = "release"
)

// Adopted is a new owner's first fact.
type Adopted struct {
	Prev       uint64 `json:"prev"`        // the epoch taken over
	Keep       uint64 `json:"keep"`        // number of prev's last settled event
	CrashCount int    `json:"crash_count"` // adoptions with no thought or executed in between
	Cause      string `json:"cause"`
	Reason     string `json:"reason,omitempty"` // e.g. the panic's text
	Owner      string `json:"owner,omitempty"`  // random, set by the log: two owners never write the same first record
}

// Released is a draining owner's last word.
type Released struct {
	Reason string `json:"reason,omitempty"`
}

// RunFinished is the last fact.
type RunFinished struct {
	Status messages.Status `json:"status"`
	Answer string          `json:"answer,omitempty"`
	Code   string          `json:"code,omitempty"` // error code of a failed run
	Error  string          `json:"error,omitempty"`
}

// Kind gives the stable name of the fact.
func (*RunStarted) Kind() string    { return "run_started" }
func (*Thought) Kind() string       { return "thought" }
func (*Intended) Kind() string      { return "intended" }
func (*Returned) Kind() string      { return "returned" }
func (*Executed) Kind() string      { return "executed" }
func (*StopRequested) Kind() string { return "stop_requested" }
func (*Adopted) Kind() string       { return "adopted" }
func (*Released) Kind() string      { return "released" }
func (*RunFinished) Kind() string   { return "run_finished" }
