// Package tool is what a tool is to a troupe: the interface, its schema, the
// shelf that makes tools from configuration, and the actor that runs one.
//
// # Writing a tool
//
// [Func] makes a typed Go function a tool in one call. A tool that configuration
// places implements [Tool] and is put on a [Shelf] with its constructor's
// parameters.
//
// # A call
//
// The agent checks a call with [Prepare], announces and logs it, and sends a
// [Run] to the tool's actor ([Producer]), which runs it within [Limits] and
// answers *messages.ToolReturned. Calls of one tool run in parallel; results
// come in the order in which they end.
package tool

import (
	"context"
	"encoding/json"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/troupe-go/troupe/messages"
)

// Category groups tools (nexent-tools §1.2).
type Category string

// The tool categories.
const (
	CategorySearch     Category = "search"
	CategoryFile       Category = "file"
	CategoryEmail      Category = "email"
	CategoryTerminal   Category = "terminal"
	CategoryMultimodal Category = "multimodal"
	CategoryDatabase   Category = "database"
	CategoryMemory     Category = "memory"
	CategorySkill      Category = "skill"
	CategoryPlanning   Category = "planning"
)

// Effects says what a call changes outside (DESIGN §5).
type Effects string

// The effects of a tool.
const (
	EffectsNone       Effects = "none"       // search, read: may be repeated or answered from a cache
	EffectsIdempotent Effects = "idempotent" // done again with the same key changes nothing more
	EffectsExternal   Effects = "external"   // begins at most once per intent; the default
)

// State says where what a tool keeps between calls lives.
type State string

// The state kinds of a tool.
const (
	StateNone      State = "none"
	StateWorkspace State = "workspace"
	StateNode      State = "node"
)

// Spec describes a tool to models, people and the runtime. It is not changed
// after [Spec.Validate]; then all its methods are safe for concurrent use.
type Spec struct {
	Name          string
	Description   string
	DescriptionZH string
	Inputs        []Input // in declared order: positional arguments bind in it
	Constructor   []Input // parameters of ToolConfig.Params
	OutputType    string  // string | integer | number | boolean | array | object | any
	OutputSchema  json.RawMessage
	Category      Category
	Sign          Sign
	Effects       Effects // empty: external
	State         State   // empty: none
	System        bool    // managed by the system: not offered in configuration lists
	Silent        bool    // emits no TOOL event
	ResultLimit   int     // bytes of the encoded result, where a tool needs more than the node's; 0: the node's

	schemas map[string]*jsonschema.Resolved // of Inputs with a Schema, by name; made by Validate
}

// Sign is the one letter that marks where a citation comes from; see the Sign
// constants.
type Sign string

// Input is one parameter.
type Input struct {
	Name          string
	Type          string // string | integer | number | boolean | array | object | any
	Description   string
	DescriptionZH string
	Default       any  // used when the argument is missing or null; nil: none
	Required      bool // neither default nor nullable
	Nullable      bool
	Enum          []any
	Min, Max      *float64        // a model's value beyond them is clamped and said so
	Schema        json.RawMessage // of items or properties, when there is more to say
}

// Call is one call of a tool. Args are checked and completed against
// Spec.Inputs before the tool sees them: strings, float64, int64, *big.Int,
// bool, []any, map[string]any, nil; tagged values are plain Go values.
type Call struct {
	ID             string // tool_call_id
	IdempotencyKey string // the same for every try of one intent
	Args           map[string]any
	Scope          messages.Scope
	Lang           string
	Workspace      string // folder of the run's files
	// Emit publishes an event (CARD, SEARCH_CONTENT, OTHER, …) stamped with the
	// call's id. It never blocks. Only types that messages.ProcessTypes marks
	// for tools are published; content of a type with ObjectContent must be a
	// JSON object. Content has at most 256 KiB: longer text is cut, with a mark,
	// and longer JSON, of no use when cut, is left out with a WARNING in its
	// place. What is refused is said once a call in the operator's log.
	Emit func(t messages.ProcessType, content string)
	// Changed notes a workspace file the call wrote or removed. Path is
	// relative to Workspace, with slashes, and doesn't lead out of it; Size is
	// not negative; Name is the base of Path unless given. What doesn't fit is
	// dropped, and said once a call in the operator's log.
	Changed func(messages.Artifact)
}

// Tool does one thing. Call runs on a goroutine of the tool actor; it honours
// ctx, which carries the time limit and the stop, and may run in parallel with
// other calls of the same Tool. An error becomes an exception in the model's
// code; a panic restarts the tool's actor.
type Tool interface {
	Spec() *Spec
	Call(ctx context.Context, c *Call) (any, error)
}

// Closer is a Tool that holds something to let go of at the end of the
// invocation. Close comes once, when no call runs any more.
type Closer interface{ Close() error }
