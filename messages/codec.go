package messages

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
)

// MaxBody is the most bytes Decode takes, and Encode gives.
const MaxBody = 16 << 20

// ErrUnknownType says that a registry has no such message type.
type ErrUnknownType struct{ Name string }

// Error names the type.
func (e *ErrUnknownType) Error() string {
	return fmt.Sprintf("message type %q is not known here (is this node older than the sender?)", e.Name)
}

// Registry maps message types to names and back, for actors on other nodes.
// It is built in one place and read-only afterwards; then it is safe for
// concurrent use.
//
// Bodies are JSON. An unknown type is an *ErrUnknownType, an unknown field is
// ignored. Secrets travel masked: what needs one takes it from its own
// configuration, by name.
type Registry struct {
	makers map[string]func() any
	names  map[reflect.Type]string
}

// NewRegistry makes an empty registry.
func NewRegistry() *Registry {
	return &Registry{makers: map[string]func() any{}, names: map[reflect.Type]string{}}
}

// Register adds message type *T under a name that never changes. A name or
// type given twice is a programming error and panics.
func Register[T any](r *Registry, name string) {
	t := reflect.TypeFor[*T]()
	if _, twice := r.makers[name]; twice || r.names[t] != "" {
		panic(fmt.Sprintf("messages: %s (%s) is registered twice", name, t))
	}
	r.makers[name] = func() any { return new(T) }
	r.names[t] = name
}

// Encode gives a message's type name and body. msg is a pointer.
func (r *Registry) Encode(msg any) (name string, body []byte, err error) {
	name, ok := r.names[reflect.TypeOf(msg)]
	if !ok {
		return "", nil, &ErrUnknownType{Name: fmt.Sprintf("%T", msg)}
	}
	body, err = json.Marshal(msg)
	if err != nil {
		return "", nil, fmt.Errorf("encode %s: %w", name, err)
	}
	if len(body) > MaxBody {
		return "", nil, fmt.Errorf("encode %s: %w", name, tooLarge(len(body)))
	}
	return name, body, nil
}

// Decode gives a pointer to a new message of the named type.
func (r *Registry) Decode(name string, body []byte) (any, error) {
	makeOne, ok := r.makers[name]
	if !ok {
		return nil, &ErrUnknownType{Name: name}
	}
	if len(body) > MaxBody {
		return nil, fmt.Errorf("decode %s: %w", name, tooLarge(len(body)))
	}
	msg := makeOne()
	if err := json.Unmarshal(body, msg); err != nil {
		return nil, fmt.Errorf("decode %s: %w", name, err)
	}
	return msg, nil
}

func tooLarge(n int) error {
	return fmt.Errorf("the body has %d bytes, at most %d are taken; large values go by object store", n, MaxBody)
}

// Actors gives a new registry of every message that actors send each other.
func Actors() *Registry {
	r := NewRegistry()
	Register[RunAgent](r, "RunAgent")
	Register[RunAccepted](r, "RunAccepted")
	Register[RunRefused](r, "RunRefused")
	Register[Stop](r, "Stop")
	Register[Stopped](r, "Stopped")
	Register[Think](r, "Think")
	Register[CancelThink](r, "CancelThink")
	Register[ThinkCancelled](r, "ThinkCancelled")
	Register[Thought](r, "Thought")
	Register[ThinkFailed](r, "ThinkFailed")
	Register[AttemptBegin](r, "AttemptBegin")
	Register[AttemptDelta](r, "AttemptDelta")
	Register[AttemptEnd](r, "AttemptEnd")
	Register[AttemptRollback](r, "AttemptRollback")
	Register[Execute](r, "Execute")
	Register[CancelExecute](r, "CancelExecute")
	Register[ExecutorBusy](r, "ExecutorBusy")
	Register[Executed](r, "Executed")
	Register[CallTool](r, "CallTool")
	Register[CancelCall](r, "CancelCall")
	Register[ToolReturned](r, "ToolReturned")
	Register[Emit](r, "Emit")
	Register[InvocationEnded](r, "InvocationEnded")
	Register[Fault](r, "Fault") // as the answer to any of them
	return r
}

// faultJSON is a Fault's JSON form; of its cause the text remains.
type faultJSON struct {
	Code      string `json:"code"`
	Class     Class  `json:"class,omitempty"`
	Retryable bool   `json:"retryable,omitempty"`
	EN        string `json:"en"`
	ZH        string `json:"zh,omitempty"`
	Cause     string `json:"cause,omitempty"`
}

// MarshalJSON gives the fault with its cause's text.
func (f *Fault) MarshalJSON() ([]byte, error) {
	j := faultJSON{Code: f.Code, Class: f.Class, Retryable: f.Retryable, EN: f.EN, ZH: f.ZH}
	if f.Cause != nil {
		j.Cause = f.Cause.Error()
	}
	return json.Marshal(j)
}

// UnmarshalJSON reads what MarshalJSON writes; the cause is an error with that
// text.
func (f *Fault) UnmarshalJSON(data []byte) error {
	var j faultJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	*f = Fault{Code: j.Code, Class: j.Class, Retryable: j.Retryable, EN: j.EN, ZH: j.ZH}
	if j.Cause != "" {
		f.Cause = errors.New(j.Cause)
	}
	return nil
}
