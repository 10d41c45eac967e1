package messages

import (
	"encoding/json"
	"strconv"
	"time"
)

// EventID names an event: the invocation that made it, the epoch of its owner
// and its number in that epoch, from 1. It is given when the event is made and
// serves as the message id everywhere.
type EventID struct {
	Invocation string
	Epoch      uint64
	N          uint64
}

// String gives "<invocation>.<epoch>.<n>", or "" for the zero id.
func (id EventID) String() string {
	if id.Invocation == "" {
		return ""
	}
	b := make([]byte, 0, len(id.Invocation)+24)
	b = append(b, id.Invocation...)
	b = append(b, '.')
	b = strconv.AppendUint(b, id.Epoch, 10)
	b = append(b, '.')
	return string(strconv.AppendUint(b, id.N, 10))
}

// Event is one thing that happened in a run, for people and programs that
// watch. An Event is a value; nobody changes one after it was published.
//
// Exactly the first two fields of the JSON form are always there; the rest
// appear when they are set (nexent-core §1.3, DESIGN §5).
type Event struct {
	Type    ProcessType
	Content string          // the text; used when Object is nil
	Object  json.RawMessage // a JSON object as content (HUMAN_INTERACTION, FILE_ARTIFACT, SKILL_ARTIFACT)

	ToolName      string
	ToolArguments json.RawMessage // a JSON object
	ToolCallID    string

	AgentID      string // depth > 0 only
	AgentName    string // depth > 0 only
	Depth        int    // 0 at the root: then absent
	InvocationID string // depth > 0 only; the id's invocation is in ID

	AttemptID string // of model text and model_attempt_control
	Phase     string
	Attempt   int // from 1

	ErrorCode string
	Retryable *bool
	Status    Status // the root's last event and SUBAGENT_END

	RunID string
	Step  int // from 1; 0 before the first
	Time  time.Time
	ID    EventID
	Seq   uint64 // position in the run's event log, filled in by the reader
	Epoch uint64 // phase adopted: the new epoch
	Keep  uint64 // phase adopted: the last event number kept of the old epoch; phase replace: the number before the first piece of the text
}

// Last reports whether the event is a run's last one.
func (e *Event) Last() bool { return e.Status != "" && e.Depth == 0 && e.Type != SubagentEnd }
