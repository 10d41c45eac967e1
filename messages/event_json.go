package messages

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// AppendJSON appends the event's JSON form to b: one line, keys in a fixed
// order, absent ones left out but for type and content, non-ASCII unescaped,
// time in UTC with milliseconds. It allocates only when b is too short.
func (e *Event) AppendJSON(b []byte) []byte {
	b = append(b, `{"type":`...)
	b = AppendJSONString(b, string(e.Type))
	b = append(b, `,"content":`...)
	if e.Object != nil {
		b = appendRaw(b, e.Object)
	} else {
		b = AppendJSONString(b, e.Content)
	}
	b = appendStringKey(b, `,"tool_name":`, e.ToolName)
	if e.ToolArguments != nil {
		b = append(b, `,"tool_arguments":`...)
		b = appendRaw(b, e.ToolArguments)
	}
	b = appendStringKey(b, `,"tool_call_id":`, e.ToolCallID)
	b = appendStringKey(b, `,"agent_id":`, e.AgentID)
	b = appendStringKey(b, `,"agent_name":`, e.AgentName)
	b = appendIntKey(b, `,"depth":`, e.Depth)
	b = appendStringKey(b, `,"invocation_id":`, e.InvocationID)
	b = appendStringKey(b, `,"attempt_id":`, e.AttemptID)
	b = appendStringKey(b, `,"phase":`, e.Phase)
	b = appendIntKey(b, `,"attempt":`, e.Attempt)
	b = appendStringKey(b, `,"error_code":`, e.ErrorCode)
	if e.Retryable != nil {
		b = append(b, `,"retryable":`...)
		b = strconv.AppendBool(b, *e.Retryable)
	}
	b = appendStringKey(b, `,"status":`, string(e.Status))
	b = appendStringKey(b, `,"run_id":`, e.RunID)
	b = appendIntKey(b, `,"step":`, e.Step)
	if !e.Time.IsZero() {
		b = append(b, `,"time":`...)
		b = appendTime(b, e.Time)
	}
	b = e.ID.appendKey(b)
	b = appendUintKey(b, `,"seq":`, e.Seq)
	b = appendUintKey(b, `,"epoch":`, e.Epoch)
	b = appendUintKey(b, `,"keep":`, e.Keep)
	return append(b, '}')
}

// MarshalJSON is AppendJSON. json.Marshal escapes <, > and & in what it gets
// from here; AppendJSON doesn't. It has a value receiver so that no Event,
// wherever it stands, is encoded field by field.
func (e Event) MarshalJSON() ([]byte, error) {
	return e.AppendJSON(make([]byte, 0, 256+len(e.Content)+len(e.Object)+len(e.ToolArguments))), nil
}

// eventJSON is the JSON form, for reading.
type eventJSON struct {
	Type          ProcessType     `json:"type"`
	Content       json.RawMessage `json:"content"`
	ToolName      string          `json:"tool_name"`
	ToolArguments json.RawMessage `json:"tool_arguments"`
	ToolCallID    string          `json:"tool_call_id"`
	AgentID       string          `json:"agent_id"`
	AgentName     string          `json:"agent_name"`
	Depth         int             `json:"depth"`
	InvocationID  string          `json:"invocation_id"`
	AttemptID     string          `json:"attempt_id"`
	Phase         string          `json:"phase"`
	Attempt       int             `json:"attempt"`
	ErrorCode     string          `json:"error_code"`
	Retryable     *bool           `json:"retryable"`
	Status        Status          `json:"status"`
	RunID         string          `json:"run_id"`
	Step          int             `json:"step"`
	Time          time.Time       `json:"time"`
	ID            string          `json:"id"`
	Seq           uint64          `json:"seq"`
	Epoch         uint64          `json:"epoch"`
	Keep          uint64          `json:"keep"`
}

// UnmarshalJSON reads what AppendJSON writes; content may be a string, an
// object or null. Unknown keys are ignored.
func (e *Event) UnmarshalJSON(data []byte) error {
	var j eventJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return fmt.Errorf("event: %w", err)
	}
	if j.Type == "" {
		return fmt.Errorf("event: no type in %d bytes of JSON", len(data))
	}
	id, err := ParseEventID(j.ID)
	if err != nil {
		return err
	}
	out := Event{
		Type: j.Type, ToolName: j.ToolName, ToolCallID: j.ToolCallID,
		AgentID: j.AgentID, AgentName: j.AgentName, Depth: j.Depth, InvocationID: j.InvocationID,
		AttemptID: j.AttemptID, Phase: j.Phase, Attempt: j.Attempt,
		ErrorCode: j.ErrorCode, Retryable: j.Retryable, Status: j.Status,
		RunID: j.RunID, Step: j.Step, Time: j.Time, ID: id, Seq: j.Seq, Epoch: j.Epoch, Keep: j.Keep,
	}
	if string(j.ToolArguments) != "null" {
		out.ToolArguments = j.ToolArguments
	}
	if err := out.setContent(j.Content); err != nil {
		return err
	}
	*e = out
	return nil
}

func (e *Event) setContent(raw json.RawMessage) error {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	switch raw[0] {
	case '{':
		e.Object = raw
		return nil
	case '"':
		return json.Unmarshal(raw, &e.Content)
	}
	return fmt.Errorf("event %s: content is neither a string nor an object", e.Type)
}

// ParseEventID reads what EventID.String writes; "" is the zero id.
func ParseEventID(s string) (EventID, error) {
	if s == "" {
		return EventID{}, nil
	}
	rest, n, ok := cutLast(s)
	invocation, epoch, ok2 := cutLast(rest)
	if !ok || !ok2 || invocation == "" {
		return EventID{}, fmt.Errorf("event id %.100q: want <invocation>.<epoch>.<n>", s)
	}
	return EventID{Invocation: invocation, Epoch: epoch, N: n}, nil
}

// cutLast splits "rest.number" at its last dot.
func cutLast(s string) (rest string, number uint64, ok bool) {
	i := strings.LastIndexByte(s, '.')
	if i < 0 {
		return "", 0, false
	}
	number, err := strconv.ParseUint(s[i+1:], 10, 64)
	return s[:i], number, err == nil
}

func (id EventID) appendKey(b []byte) []byte {
	if id.Invocation == "" {
		return b
	}
	b = append(b, `,"id":`...)
	b = AppendJSONString(b, id.Invocation)
	b = append(b[:len(b)-1], '.') // the closing quote moves behind the numbers
	b = strconv.AppendUint(b, id.Epoch, 10)
	b = append(b, '.')
	b = strconv.AppendUint(b, id.N, 10)
	return append(b, '"')
}

// appendRaw appends JSON that is on one line as it is; an event is one line.
func appendRaw(b []byte, raw json.RawMessage) []byte {
	if bytes.IndexByte(raw, '\n') < 0 && bytes.IndexByte(raw, '\r') < 0 {
		return append(b, raw...)
	}
	var line bytes.Buffer
	if err := json.Compact(&line, raw); err != nil {
		return AppendJSONString(b, string(raw)) // not JSON: then text
	}
	return append(b, line.Bytes()...)
}

func appendStringKey(b []byte, key, value string) []byte {
	if value == "" {
		return b
	}
	return AppendJSONString(append(b, key...), value)
}

func appendIntKey(b []byte, key string, value int) []byte {
	if value == 0 {
		return b
	}
	return strconv.AppendInt(append(b, key...), int64(value), 10)
}

func appendUintKey(b []byte, key string, value uint64) []byte {
	if value == 0 {
		return b
	}
	return strconv.AppendUint(append(b, key...), value, 10)
}
