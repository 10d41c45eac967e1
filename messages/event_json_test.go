package messages_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/troupe-go/troupe/messages"
)

var eventTime = time.Date(2026, 3, 4, 5, 6, 7, 89_000_000, time.UTC)

// goldenEvent gives an event of a type as the part that emits it makes it.
func goldenEvent(t *testing.T, typ messages.ProcessType) messages.Event {
	t.Helper()
	ev := messages.Event{
		Type: typ, RunID: "run-1", Step: 2, Time: eventTime,
		ID: messages.EventID{Invocation: "inv-1", Epoch: 1, N: 7}, Seq: 42,
	}
	fill, ok := goldenContent[typ]
	require.True(t, ok, "no golden event for %s", typ)
	fill(&ev)
	return ev
}

func text(content string) func(*messages.Event) {
	return func(e *messages.Event) { e.Content = content }
}

func object(content string) func(*messages.Event) {
	return func(e *messages.Event) { e.Object = json.RawMessage(content) }
}

func attempt(content string) func(*messages.Event) {
	return func(e *messages.Event) {
		e.Content, e.AttemptID, e.Attempt = content, "attempt-1", 1
	}
}

var goldenContent = map[messages.ProcessType]func(*messages.Event){
	messages.ModelOutputThinking:     attempt("I look into <the file> & \"think\".\n"),
	messages.ModelOutputDeepThinking: attempt("先看文件……"),
	messages.ModelOutputCode:         attempt("print('héllo')\n"),
	messages.StepCount:               text("\n**Step 2** \n"),
	messages.Parse:                   text("\n🛠️ Used tool python_interpreter\n```python\nprint(1)\n```\n"),
	messages.ExecutionLogs:           text("1\n"),
	messages.AgentNewRun:             text("What is in the file?"),
	messages.AgentFinish: func(e *messages.Event) {
		e.Content, e.AgentID, e.AgentName, e.Depth, e.InvocationID = "the report", "researcher", "researcher", 1, "inv-1"
	},
	messages.FinalAnswer: func(e *messages.Event) { e.Content, e.Status = "42", messages.StatusAnswered },
	messages.Error: func(e *messages.Event) {
		no := false
		e.Content, e.ErrorCode, e.Retryable, e.Status = "no model answered", "model_timeout", &no, messages.StatusFailed
	},
	messages.Other:           text("a note"),
	messages.TokenCount:      text(`{"step_number":2,"duration":1.25}`),
	messages.HistorySummary:  text(`{"summary":{"markdown":"# Compact Result of History"}}`),
	messages.SearchContent:   text(`[{"title":"t","url":"https://example.com/?a=1&b=2"}]`),
	messages.PictureWeb:      text(`{"images_url":["https://example.com/a.png"]}`),
	messages.Card:            text(`[{"icon":"search","text":"query"}]`),
	messages.SkillArtifact:   object(`{"path":"a.txt"}`),
	messages.MemorySearch:    text(`{"results":[]}`),
	messages.MaxStepsReached: text(`{"max_steps":15}`),
	messages.Verification:    text(`{"severity":"pass"}`),
	messages.Plan:            text(`{"plan_id":"p","title":"t","steps":[]}`),
	messages.PlanStepUpdate:  text(`{"step_id":"s","status":"completed"}`),
	messages.NL2A: func(e *messages.Event) {
		e.Content, e.AgentName, e.AgentID, e.Depth, e.InvocationID = `{"a":1}`, "helper", "helper", 1, "inv-1"
	},
	messages.NL2AState:          text(`{"state":"done"}`),
	messages.FileArtifact:       object(`{"artifacts":[{"name":"报告.md","path":"out/报告.md"}]}`),
	messages.AutomationProposal: text(`{"cron":"0 9 * * *"}`),
	messages.Tool: func(e *messages.Event) {
		e.ToolName, e.ToolCallID = "read_file", "call-1"
		e.ToolArguments = json.RawMessage("{\n \"path\": \"a.txt\"\n}") // an event is one line all the same
	},
	messages.SubagentStart: func(e *messages.Event) {
		e.Content, e.ToolCallID, e.AgentID, e.AgentName = `{"task":"look"}`, "call-2", "researcher", "researcher"
		e.Depth, e.InvocationID = 1, "inv-2"
	},
	messages.SubagentEnd: func(e *messages.Event) {
		e.Content, e.ToolCallID, e.AgentID, e.AgentName = `{"result":"done"}`, "call-2", "researcher", "researcher"
		e.Depth, e.InvocationID, e.Status = 1, "inv-2", messages.StatusAnswered
	},
	messages.Warning: func(e *messages.Event) {
		yes := true
		e.Content, e.ErrorCode, e.Retryable = "tried again", "model_rate_limited", &yes
	},
	messages.HumanInteraction: object(`{"schema_version":1,"questions":[{"id":"q","type":"text","title":"哪个?"}]}`),
	messages.ModelAttemptControl: func(e *messages.Event) {
		e.Phase, e.Epoch, e.Keep = messages.PhaseAdopted, 2, 7
	},
}

func TestEventGoldens(t *testing.T) {
	require.Len(t, goldenContent, len(messages.ProcessTypes))
	for _, info := range messages.ProcessTypes {
		t.Run(string(info.Type), func(t *testing.T) {
			ev := goldenEvent(t, info.Type)
			require.Equal(t, info.ObjectContent, ev.Object != nil)
			got := append(ev.AppendJSON(nil), '\n')
			require.Equal(t, 1, bytes.Count(got, []byte("\n")), "an event is one line")
			golden(t, filepath.Join("testdata", "events", string(info.Type)+".json"), got)

			var back messages.Event
			require.NoError(t, json.Unmarshal(got, &back))
			require.Equal(t, string(got), string(append(back.AppendJSON(nil), '\n')))
			if info.Type != messages.Tool { // its arguments were written with line breaks
				require.Equal(t, ev, back)
			}
		})
	}
	files, err := filepath.Glob("testdata/events/*.json")
	require.NoError(t, err)
	require.Len(t, files, len(messages.ProcessTypes), "a golden file of a type that is gone")
}

// golden compares with a file, or writes it with -update.
func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, got, 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got))
}

func TestEventKeyOrder(t *testing.T) {
	yes := true
	ev := messages.Event{
		Type: "t", Content: "c", ToolName: "tn", ToolArguments: json.RawMessage(`{}`), ToolCallID: "tc",
		AgentID: "ai", AgentName: "an", Depth: 1, InvocationID: "ii", AttemptID: "at", Phase: "ph", Attempt: 2,
		ErrorCode: "ec", Retryable: &yes, Status: "st", RunID: "ri", Step: 3,
		Time: time.Date(2026, 1, 2, 3, 4, 5, 6_999_999, time.FixedZone("", 3600)),
		ID:   messages.EventID{Invocation: "a.b", Epoch: 4, N: 5}, Seq: 6, Epoch: 7, Keep: 8,
	}
	require.Equal(t, `{"type":"t","content":"c","tool_name":"tn","tool_arguments":{},"tool_call_id":"tc",`+
		`"agent_id":"ai","agent_name":"an","depth":1,"invocation_id":"ii","attempt_id":"at","phase":"ph","attempt":2,`+
		`"error_code":"ec","retryable":true,"status":"st","run_id":"ri","step":3,"time":"2026-01-02T02:04:05.006Z",`+
		`"id":"a.b.4.5","seq":6,"epoch":7,"keep":8}`, string(ev.AppendJSON(nil)))

	bare := messages.Event{Type: "other"}
	require.Equal(t, `{"type":"other","content":""}`, string(bare.AppendJSON(nil)))
}

func TestEventIsEncodedTheSameWhereverItStands(t *testing.T) {
	ev := messages.Event{Type: "other", Content: "c"}
	const want = `{"type":"other","content":"c"}`
	for name, v := range map[string]any{"value": ev, "pointer": &ev} {
		got, err := json.Marshal(v)
		require.NoError(t, err, name)
		require.Equal(t, want, string(got), name)
	}
	got, err := json.Marshal(messages.Emit{Event: ev})
	require.NoError(t, err)
	require.Equal(t, `{"Event":`+want+`}`, string(got))
}

func TestEventFromStrangeJSON(t *testing.T) {
	good := map[string]messages.Event{
		`{"type":"x","content":null}`:                                 {Type: "x"},
		`{"type":"x"}`:                                                {Type: "x"},
		`{"type":"x","content":"","new_key":[1]}`:                     {Type: "x"},
		`{"type":"x","content":{"a":1},"tool_arguments":null}`:        {Type: "x", Object: json.RawMessage(`{"a":1}`)},
		`{"type":"x","content":"","time":"2026-03-04T05:06:07.089Z"}`: {Type: "x", Time: eventTime},
	}
	for in, want := range good {
		var got messages.Event
		require.NoError(t, json.Unmarshal([]byte(in), &got), in)
		require.Equal(t, want, got, in)
	}
	bad := map[string]string{
		`{"content":"x"}`:                            "no type",
		`{"type":"x","content":[1]}`:                 "neither a string nor an object",
		`{"type":"x","content":7}`:                   "neither a string nor an object",
		`{"type":"x","content":"","id":"a.b"}`:       "<invocation>.<epoch>.<n>",
		`{"type":"x","content":"","id":".1.2"}`:      "<invocation>.<epoch>.<n>",
		`{"type":"x","content":"","id":"a.-1.2"}`:    "<invocation>.<epoch>.<n>",
		`{"type":"x","content":"","depth":"deep"}`:   "depth",
		`{"type":"x","content":"","time":"morning"}`: "time",
	}
	for in, want := range bad {
		kept := messages.Event{Type: "kept"}
		require.ErrorContains(t, json.Unmarshal([]byte(in), &kept), want, in)
		require.Equal(t, messages.Event{Type: "kept"}, kept, "a failed read changes nothing")
	}
}

func TestEventRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := anyEvent(t)
		var got messages.Event
		line := want.AppendJSON(nil)
		require.True(t, json.Valid(line))
		require.NoError(t, json.Unmarshal(line, &got))
		require.Equal(t, want, got)
	})
}

func anyEvent(t *rapid.T) messages.Event {
	str := func(label string) string { return rapid.String().Draw(t, label) }
	num := func(label string) int { return rapid.IntRange(0, 1<<40).Draw(t, label) }
	ev := messages.Event{
		Type:     rapid.SampledFrom(messages.ProcessTypes).Draw(t, "type").Type,
		ToolName: str("tool_name"), ToolCallID: str("tool_call_id"), AgentID: str("agent_id"), AgentName: str("agent_name"),
		Depth: num("depth"), InvocationID: str("invocation_id"), AttemptID: str("attempt_id"), Phase: str("phase"),
		Attempt: num("attempt"), ErrorCode: str("error_code"), Status: messages.Status(str("status")),
		RunID: str("run_id"), Step: num("step"), Seq: rapid.Uint64().Draw(t, "seq"),
		Epoch: rapid.Uint64().Draw(t, "epoch"), Keep: rapid.Uint64().Draw(t, "keep"),
		Retryable: rapid.SampledFrom([]*bool{nil, new(false), new(true)}).Draw(t, "retryable"),
	}
	object := rapid.MapOf(rapid.String(), rapid.String())
	raw := func(label string) json.RawMessage {
		b, err := json.Marshal(object.Draw(t, label))
		require.NoError(t, err)
		return b
	}
	if rapid.Bool().Draw(t, "object") {
		ev.Object = raw("content")
	} else {
		ev.Content = str("content")
	}
	if rapid.Bool().Draw(t, "arguments") {
		ev.ToolArguments = raw("tool_arguments")
	}
	if rapid.Bool().Draw(t, "timed") {
		ev.Time = time.UnixMilli(rapid.Int64Range(0, 1<<42).Draw(t, "time")).UTC()
	}
	if invocation := str("invocation"); invocation != "" {
		ev.ID = messages.EventID{Invocation: invocation, Epoch: rapid.Uint64().Draw(t, "id epoch"), N: rapid.Uint64().Draw(t, "id n")}
	}
	return ev
}

func BenchmarkEventAppendJSON(b *testing.B) {
	ev := messages.Event{
		Type: messages.ModelOutputThinking, Content: "I open the file and count its lines, then I answer.",
		AttemptID: "0190c8f0-0000-7000-8000-000000000001", Attempt: 1,
		RunID: "0190c8f0-0000-7000-8000-000000000002", Step: 3, Time: eventTime,
		ID: messages.EventID{Invocation: "0190c8f0-0000-7000-8000-000000000003", Epoch: 1, N: 321}, Seq: 4321,
	}
	b.ReportAllocs()
	var buf []byte
	for b.Loop() {
		buf = ev.AppendJSON(buf[:0])
	}
}

func TestEventAppendJSONDoesNotAllocate(t *testing.T) {
	ev := goldenEvent(t, messages.FinalAnswer)
	buf := make([]byte, 0, 1024)
	require.Zero(t, testing.AllocsPerRun(100, func() { buf = ev.AppendJSON(buf[:0]) }))
}
