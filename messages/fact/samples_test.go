package fact_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/messages"
	"github.com/troupe-go/troupe/messages/fact"
)

// samples gives one fact of each kind with every field set.
func samples() []fact.Fact {
	args := []json.RawMessage{json.RawMessage(`"a.txt"`)}
	kwargs := json.RawMessage(`{"mode":"文本"}`)
	hash := fact.CallHash("read_file", args, kwargs)
	toolErr := &messages.ToolError{Type: "ToolTimeout", Message: "2m", Code: "tool_timeout", Abandoned: true}
	calls := []fact.Call{
		{Call: 1, Tool: "read_file", Hash: hash, Value: json.RawMessage(`"text"`), At: recordTime},
		{Call: 2, Tool: "read_file", Hash: hash, Err: toolErr},
	}
	temperature := 0.1
	return []fact.Fact{
		&fact.RunStarted{
			Tenant: "acme", Agent: "assistant", Query: "几行?", Now: recordTime,
			Attachments: []messages.Attachment{{Name: "a.txt", MediaType: "text/plain", Data: []byte("hi"), Hash: "8f43"}},
			History:     []messages.Turn{{Role: "user", Content: "hello"}},
			Lang:        messages.ZH, User: "u", Conversation: "c", Metadata: map[string]any{"k": "v"},
			Deadline: recordTime.Add(time.Hour), IdempotencyKey: "key",
			Definition: &messages.AgentConfig{Name: "assistant", ModelName: "main", MaxSteps: 15},
			Models:     []messages.ModelConfig{{CiteName: "main", ModelName: "m", URL: "https://example.com/v1", Temperature: &temperature}},
			Tools:      []messages.ToolConfig{{Name: "read_file", ClassName: "ReadFileTool"}},
			Sandbox:    &messages.SandboxConfig{Level: messages.SandboxLocal},
			Workspace:  "runs/run-1", Depth: 1, Parent: "inv-0", ParentEpoch: 1, Executor: "local/3.14/abc", Seed: "00ff", Owner: "owner-1",
		},
		&fact.Thought{
			Step: 2, Text: "<code>print(1)</code>", Reasoning: "数", FinishReason: "stop",
			Usage: messages.Usage{InputTokens: 100, OutputTokens: 20, CachedTokens: 50, CacheSource: "cached_tokens"},
			Model: "main", AttemptID: "attempt-1", Attempt: 2, Attempts: 2, Rejected: "cut", Code: "print(1)", Clock: recordTime,
			Purpose: "final_answer", ToolCalls: []messages.ToolCallDelta{{ID: "x", Name: "f", Arguments: "{}"}},
		},
		&fact.Intended{Step: 2, ToolCallID: "call-1", Call: 3, Tool: "create_file", Args: args, Kwargs: kwargs, Hash: hash, IdempotencyKey: "inv-1/2/3", Calls: calls},
		&fact.Returned{
			Step: 2, ToolCallID: "call-1", Call: 3, Tool: "create_file", Value: json.RawMessage(`{"ok":true}`), Err: toolErr,
			Changes: []messages.Artifact{{Name: "a", Path: "out/a", MediaType: "text/plain", Size: 2, Hash: "8f43"}}, At: recordTime,
		},
		&fact.Executed{
			Step: 2, Observation: "1\n", OutputHash: "4355", IsFinal: true, Final: json.RawMessage(`42`), FinalText: "42",
			Err:    &messages.PyError{Type: "ValueError", Message: "no", Line: 3, Traceback: "line 3"},
			Killed: "timeout", Interrupted: true, Calls: calls, CPU: 12 * time.Millisecond,
			State: "12ab", Unrepeatable: []string{"threads"}, Snapshot: &messages.Snapshot{Blob: "8f43", Bytes: 2, Missing: []string{"g"}},
			Lost: &messages.LostVariables{Reason: "ceiling", Step: 1, Detail: "too much", Names: []string{"g"}}, Executor: "wasm/3.12/abc",
		},
		&fact.ChildStarted{Step: 2, ToolCallID: "call-2", Call: 4, Agent: "researcher", Invocation: "inv-2", Depth: 1, Args: args, Kwargs: kwargs, Hash: hash, IdempotencyKey: "inv-1/2/4", Calls: calls},
		&fact.PlanChanged{Step: 2, ToolCallID: "call-3", PlanID: "p", PlanStepID: "s1", Plan: json.RawMessage(`{"plan_id":"p","title":"计划","steps":[]}`)},
		&fact.Compressed{Step: 9, Summary: json.RawMessage(`{"markdown":"# Compact Result of History"}`), Through: "m-4", ThroughStep: 5, TokensBefore: 9000, TokensAfter: 2000, Attempts: 1},
		&fact.Paused{Reason: "lunch", User: "u", RequestID: "req-1", Inbox: 5},
		&fact.Resumed{User: "u", RequestID: "req-2", Inbox: 6},
		&fact.Answered{Interaction: "q-1", Answer: json.RawMessage(`{"color":"red"}`), User: "u", RequestID: "req-3", Inbox: 7},
		&fact.Approved{ToolCallID: "call-1", Granted: true, Reason: "fine", User: "u", RequestID: "req-4", Inbox: 8},
		&fact.Timer{ID: "t-1", Purpose: fact.TimerApproval, Subject: "call-1", Due: recordTime, Inbox: 9},
		&fact.StopRequested{After: messages.StopNow, Reason: "enough", User: "u", RequestID: "req-5", Inbox: 10},
		&fact.Adopted{Prev: 1, Keep: 17, CrashCount: 1, Cause: fact.CausePanic, Reason: "nil map", Owner: "owner-2"},
		&fact.Released{Reason: "drain"},
		&fact.RunFinished{Status: messages.StatusFailed, Answer: "42", Code: "model_timeout", Error: "no model answered"},
	}
}

// requireFull fails for a sample that leaves a field out, so that no field of a
// fact goes untested.
func requireFull(t *testing.T, f fact.Fact) {
	t.Helper()
	v := reflect.ValueOf(f).Elem()
	for i := range v.NumField() {
		require.False(t, v.Field(i).IsZero(), "the sample of %s leaves out %s", f.Kind(), v.Type().Field(i).Name)
	}
}

func TestEveryFactHasASampleAndIsKnown(t *testing.T) {
	var sampled []string
	for _, f := range samples() {
		sampled = append(sampled, reflect.TypeOf(f).Elem().Name())
		empty, err := fact.New(f.Kind())
		require.NoError(t, err)
		require.IsType(t, f, empty)
		require.Equal(t, f.Kind(), empty.Kind())
	}
	require.ElementsMatch(t, factTypes(t), sampled)
}

// factTypes gives the types of the package that have a method Kind.
func factTypes(t *testing.T) []string {
	var names []string
	for _, file := range []string{"fact.go", "orchestration.go"} {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		require.NoError(t, err)
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Name.Name == "Kind" {
				names = append(names, fn.Recv.List[0].Type.(*ast.StarExpr).X.(*ast.Ident).Name)
			}
		}
	}
	return names
}
