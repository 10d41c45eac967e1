package agent

import (
	"encoding/json"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/troupe-go/troupe/actors/model"
	"github.com/troupe-go/troupe/actors/observer"
	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/actors/python/slots"
	"github.com/troupe-go/troupe/actors/system"
	"github.com/troupe-go/troupe/actors/tool"
	"github.com/troupe-go/troupe/messages"
	"github.com/troupe-go/troupe/messages/fact"
)

// Equipment is what an agent's definition resolves to on a node. It is built
// once and shared, read-only, by all invocations of that definition.
type Equipment struct {
	Definition *messages.AgentConfig
	Lang       string // of prompts and events
	Models     []model.Model
	Tools      []Tool
	Driver     python.Driver
	Slots      *slots.Slots    // bound the blocks that compute on the node; nil: no bound
	Metrics    *python.Metrics // of executors; nil: none
	Sandbox    messages.SandboxConfig
	System     string // the system prompt
}

// Tool is a tool that an agent may call: its schema, and how to make one for
// an invocation.
type Tool struct {
	Spec    *tool.Spec
	Make    func(deps tool.Deps) (tool.Tool, error)
	Limits  *tool.Limits  // shared by all invocations of the node; nil: none
	Timeout time.Duration // a call; 0: the tool actor's default
}

// Config is one invocation, under one owner.
type Config struct {
	System    *system.System
	Equipment *Equipment
	Scope     messages.Scope
	Start     *fact.RunStarted
	Task      Task
	Journal   observer.Journal
	Blobs     python.Blobs   // keep snapshots of variables; nil: none are taken
	Records   []*fact.Record // what earlier owners wrote; nil for the first owner
	// CrashCount is the number of adoptions with no progress in between, this
	// one included; from MaxCrashes on the agent gives up.
	CrashCount int
	// Crash says why the last owner went, for the WARNING; "" for the first.
	Crash string
}

// MaxCrashes parks an invocation as failed: so many adoptions in a row with no
// thought or executed in between.
const MaxCrashes = 3

// Task is the query as the model sees it, with what came with it.
type Task struct {
	Text      string                 // with attachments inlined or named
	Parts     []messages.ContentPart // when there are images for a model that takes them; else nil
	Workspace string                 // folder of the run's files
}

// Begin starts the work. The supervisor sends it when the run is admitted, or
// when there is a reason to end it before that.
type Begin struct {
	Stop  *messages.Stop  // the strongest one that was asked for before; nil: none
	Fault *messages.Fault // ends it at once as failed; nil: none
}

// Producer makes the agent actor of cfg. The actor's parent gets
// *messages.InvocationEnded at the end.
func Producer(cfg Config) actor.Producer {
	return func() actor.Actor { return &Agent{cfg: &cfg} }
}

func (e *Equipment) tool(name string) (*Tool, bool) {
	for i := range e.Tools {
		if e.Tools[i].Spec.Name == name {
			return &e.Tools[i], true
		}
	}
	return nil, false
}

// python is what an interpreter of this definition offers; seed is the
// invocation's.
func (e *Equipment) python(seed string) python.Spec {
	names := make([]string, len(e.Tools))
	for i := range e.Tools {
		names[i] = e.Tools[i].Spec.Name
	}
	spec := python.NewSpec(e.Sandbox, names, e.Definition.AdditionalImports, e.Lang)
	spec.Seed = seed
	return spec
}

func (e *Equipment) maxSteps() int {
	if e.Definition.MaxSteps > 0 {
		return e.Definition.MaxSteps
	}
	return messages.DefaultMaxSteps
}

func (e *Equipment) protocol() messages.OutputProtocol {
	if e.Definition.OutputProtocol != "" {
		return e.Definition.OutputProtocol
	}
	return messages.CodeAction
}

func (e *Equipment) repairs() bool {
	return e.Definition.EnableProtocolRepairRetry == nil || *e.Definition.EnableProtocolRepairRetry
}

func (e *Equipment) callLimit() int {
	if e.Definition.ToolCallLimit > 0 {
		return e.Definition.ToolCallLimit
	}
	return 256
}

// call is a tool call in flight.
type call struct {
	msg      messages.CallTool // the executor's, with its id
	spec     *tool.Spec
	prepared *tool.Prepared
	executor *actor.PID
	key      string // idempotency key
	effects  bool
	tool     *actor.PID // nil until the call was handed over
	returned bool       // its result is on the way to the log and to the code
	run      tool.Run   // what it was handed over with
}

func mustJSON(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil { // only types of ours that always encode come here
		return json.RawMessage(`null`)
	}
	return b
}
