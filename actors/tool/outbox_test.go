package tool_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/tool"
	"github.com/troupe-go/troupe/messages"
)

// logged is what operators read.
type logged struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) lines() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Split(strings.TrimSpace(l.text.String()), "\n")
}

// calling runs one call that does what act does, to its end. Events that were
// sent by then are all there: the last is a mark.
func calling(t *testing.T, act func(c *tool.Call)) (*bench, *messages.ToolReturned, []messages.Event) {
	b := setup(t, returning(tool.EffectsNone, func(_ context.Context, c *tool.Call) (any, error) {
		act(c)
		c.Emit(messages.Other, "the mark")
		return nil, nil
	}), nil)
	b.run("c1", "1")
	m := b.await()
	var events []messages.Event
	for {
		ev := receive(b, b.events)
		if ev.Content == "the mark" {
			return b, m, events
		}
		events = append(events, ev)
	}
}

// A tool can't end a run, speak as the model, or make up types.
func TestToolsPublishWhatIsTheirs(t *testing.T) {
	types := []messages.ProcessType{"", "made_up", "FINAL_ANSWER"}
	for _, info := range messages.ProcessTypes {
		types = append(types, info.Type)
	}
	b, _, events := calling(t, func(c *tool.Call) {
		for _, typ := range types {
			c.Emit(typ, "{}")
		}
	})
	var published []messages.ProcessType
	for _, ev := range events {
		require.Equal(t, "c1", ev.ToolCallID)
		published = append(published, ev.Type)
	}
	require.Equal(t, []messages.ProcessType{
		messages.Other, messages.SearchContent, messages.PictureWeb, messages.Card, messages.SkillArtifact, messages.MemorySearch,
		messages.Plan, messages.PlanStepUpdate, messages.AutomationProposal, messages.Warning,
	}, published)
	require.Len(t, b.log.lines(), 1, "once a call")
	require.Contains(t, b.log.lines()[0], "type that isn't a tool's")
	require.Contains(t, b.log.lines()[0], "tool=stub tool_call=c1")
}

func TestObjectContentIsAnObject(t *testing.T) {
	for _, content := range []string{"", "text", "[]", `"{}"`, "null", `{"a":`, "{} {}"} {
		t.Run(content, func(t *testing.T) {
			b, _, events := calling(t, func(c *tool.Call) { c.Emit(messages.SkillArtifact, content) })
			require.Empty(t, events)
			require.Contains(t, b.log.lines()[0], "must be a JSON object")
		})
	}
	_, _, events := calling(t, func(c *tool.Call) { c.Emit(messages.SkillArtifact, " {\"a\":1}") })
	require.JSONEq(t, `{"a":1}`, string(events[0].Object))
}

func TestEventsAreBounded(t *testing.T) {
	const limit = 256 << 10
	list, err := json.Marshal([]string{strings.Repeat("x", limit)})
	require.NoError(t, err)
	_, _, events := calling(t, func(c *tool.Call) {
		c.Emit(messages.Other, strings.Repeat("x", limit))
		c.Emit(messages.Other, strings.Repeat("x", limit+5))
		c.Emit(messages.Card, string(list))
		c.Emit(messages.SkillArtifact, `{"a":`+string(list)+`}`)
	})
	require.Len(t, events, 4)
	require.Len(t, events[0].Content, limit)
	require.Equal(t, strings.Repeat("x", limit)+"… (+5 bytes)", events[1].Content)
	for i, typ := range []string{"card", "skill_artifact"} { // a piece of JSON is of no use
		require.Equal(t, messages.Warning, events[2+i].Type)
		require.Equal(t, "an event was left out, it is larger than 256 KiB: "+typ, events[2+i].Content)
	}
}

func TestChangedFilesAreOfTheWorkspace(t *testing.T) {
	for name, a := range map[string]messages.Artifact{
		"no path":       {Name: "a.txt"},
		"the workspace": {Path: "."},
		"absolute":      {Path: "/etc/passwd"},
		"outside":       {Path: "a/../../b"},
		"backslash":     {Path: `a\b`},
		"NUL":           {Path: "a\x00"},
		"negative size": {Path: "a.txt", Size: -1},
	} {
		t.Run(name, func(t *testing.T) {
			b, m, _ := calling(t, func(c *tool.Call) { c.Changed(a); c.Changed(a) })
			require.Empty(t, m.Artifacts)
			require.Len(t, b.log.lines(), 1, "once a call")
			require.Contains(t, b.log.lines()[0], "no path within the workspace")
		})
	}
	_, m, _ := calling(t, func(c *tool.Call) {
		c.Changed(messages.Artifact{Path: "./out//图.png", Size: 3})
		c.Changed(messages.Artifact{Path: "b.txt", Name: "the report"})
	})
	require.Equal(t, []messages.Artifact{{Path: "out/图.png", Name: "图.png", Size: 3}, {Path: "b.txt", Name: "the report"}}, m.Artifacts)
}
