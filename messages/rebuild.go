package messages

import (
	"encoding/json"
	"time"
)

// RecordedCall is a call of a block as the log knows it, by which it is
// answered when the block is run again.
type RecordedCall struct {
	Call  uint64          `json:"call"` // ordinal in the block, from 1
	Tool  string          `json:"tool"`
	Hash  string          `json:"hash"` // fact.CallHash of tool and arguments
	Value json.RawMessage `json:"value,omitempty"`
	Err   *ToolError      `json:"err,omitempty"`
	At    time.Time       `json:"at,omitzero"` // when the code's clock says it returned
	// Pending: it had begun and may be done again with its idempotency key. It
	// has no result: it goes to the agent like a new one.
	Pending bool `json:"pending,omitempty"`
}

// PastBlock is a block that ended and that other blocks build on. Blocks that
// were killed or interrupted are none: their variables went with them.
type PastBlock struct {
	Step         int
	Code         string
	Clock        time.Time      // at its start
	Calls        []RecordedCall // those the code saw the end of, by ordinal
	OutputHash   string         // of what it printed
	State        string         // mark of what the variables held at its end
	Err          string         // class of the exception that ended it; "" for none
	CPU          time.Duration
	Unrepeatable []string  // why it can't be run again; nil when it can
	Snapshot     *Snapshot // of the variables after it; nil: none
}

// Snapshot says where variables are kept that cost much to compute.
type Snapshot struct {
	Blob    string   `json:"blob"`              // its hash in the store
	Bytes   int      `json:"bytes"`             // its size
	Missing []string `json:"missing,omitempty"` // names that could not be kept, sorted
}

// Reasons why variables of earlier blocks are gone, in LostVariables.Reason.
const (
	LostDiverged     = "diverged"     // run again, a block did something else
	LostUnrepeatable = "unrepeatable" // a block started threads or read processor time
	LostCeiling      = "ceiling"      // it would cost more processor time than it may
	LostExecutor     = "executor"     // the blocks ran in another kind or version of interpreter
	LostFailed       = "failed"       // the interpreter ended while it was at it
)

// LostVariables says that variables of earlier blocks could not be brought back.
type LostVariables struct {
	Reason string   `json:"reason"`           // one of the above; "" when only some names are missing
	Step   int      `json:"step,omitempty"`   // the block it was found at
	Detail string   `json:"detail,omitempty"` // what was expected and what came
	Names  []string `json:"names,omitempty"`  // of the variables that are gone; nil: all
}
