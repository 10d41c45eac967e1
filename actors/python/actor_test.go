package python_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/messages"
)

func TestExecutor(t *testing.T) {
	t.Run("runs blocks in one interpreter, started when first needed", func(t *testing.T) {
		d := &fakeDriver{}
		b := setup(t, d)
		require.Empty(t, d.interpreters())
		require.JSONEq(t, "1", string(b.run(1, "1").Value))
		out := b.run(2, "2")
		require.JSONEq(t, "2", string(out.Value))
		require.Nil(t, out.Lost)
		require.Len(t, d.interpreters(), 1)
	})
	t.Run("a call goes to the parent and back", func(t *testing.T) {
		b := setup(t, &fakeDriver{})
		b.send(&messages.Execute{ID: 5, Step: 3, Code: "call"})
		call := next[*messages.CallTool](b)
		require.Equal(t, &messages.CallTool{Block: 5, Call: 1, Step: 3, Tool: "tool", Args: []json.RawMessage{json.RawMessage("1")}}, call)
		b.send(&messages.ToolReturned{Block: 4, Call: 1, Value: json.RawMessage(`"of another block"`)})
		b.send(&messages.ToolReturned{Block: 5, Call: 2, Value: json.RawMessage(`"of another call"`)})
		b.send(&messages.ToolReturned{Block: 5, Call: 1, Value: json.RawMessage(`"right"`)})
		b.send(&messages.ToolReturned{Block: 5, Call: 1, Value: json.RawMessage(`"twice"`)})
		require.JSONEq(t, `"right"`, string(next[*messages.Executed](b).Value))
	})
	t.Run("a failed call", func(t *testing.T) {
		b := setup(t, &fakeDriver{})
		b.send(&messages.Execute{ID: 1, Code: "call"})
		next[*messages.CallTool](b)
		b.send(&messages.ToolReturned{Block: 1, Call: 1, Err: &messages.ToolError{Type: "ValueError", Message: "why"}})
		require.Equal(t, &messages.PyError{Type: "ValueError", Message: "why"}, next[*messages.Executed](b).Err)
	})
	t.Run("cancel", func(t *testing.T) {
		d := &fakeDriver{}
		b := setup(t, d)
		b.run(1, "1")
		b.send(&messages.Execute{ID: 2, Code: "wait"})
		b.send(&messages.CancelExecute{ID: 1}) // an old one
		b.send(&messages.CancelExecute{ID: 2})
		out := next[*messages.Executed](b)
		require.Equal(t, python.KilledCancelled, out.Killed)
		require.Equal(t, "so far", out.Output)
		<-d.interpreters()[0].closed
		require.JSONEq(t, "3", string(b.run(3, "3").Value), "in another interpreter")
		require.Len(t, d.interpreters(), 2)
	})
	t.Run("cancel during the start", func(t *testing.T) {
		b := setup(t, &fakeDriver{hold: make(chan struct{})})
		b.send(&messages.Execute{ID: 1, Code: "1"})
		b.send(&messages.CancelExecute{ID: 1})
		out := next[*messages.Executed](b)
		require.Equal(t, python.KilledCancelled, out.Killed)
		require.Nil(t, out.Err)
	})
	t.Run("the ceiling of a block", func(t *testing.T) {
		b := setup(t, &fakeDriver{}, func(c *python.Config) { c.BlockTimeout = time.Millisecond })
		require.Equal(t, python.KilledTimeout, b.run(1, "wait").Killed)
	})
	t.Run("death", func(t *testing.T) {
		b := setup(t, &fakeDriver{})
		require.Equal(t, python.KilledDied, b.run(1, "die").Killed)
		require.JSONEq(t, "2", string(b.run(2, "2").Value))
	})
	t.Run("death between two blocks", func(t *testing.T) {
		d := &fakeDriver{}
		b := setup(t, d)
		b.run(1, "1")
		d.interpreters()[0].Close()
		out := b.run(2, "2")
		require.JSONEq(t, "2", string(out.Value), "the block runs, in another interpreter")
		require.Len(t, d.interpreters(), 2)
	})
	t.Run("no interpreter", func(t *testing.T) {
		b := setup(t, &fakeDriver{fail: &messages.Fault{Code: "x", EN: "no room"}})
		out := b.run(1, "1")
		require.Equal(t, python.KilledDied, out.Killed)
		require.Contains(t, out.Fault.In(messages.EN), "no room")
	})
	t.Run("a driver that panics", func(t *testing.T) {
		b := setup(t, &fakeDriver{})
		require.Equal(t, python.KilledDied, b.run(1, "panic").Killed)
		require.JSONEq(t, "2", string(b.run(2, "2").Value))
	})
	t.Run("a second block at the same time is refused", func(t *testing.T) {
		b := setup(t, &fakeDriver{})
		b.send(&messages.Execute{ID: 1, Code: "call"})
		next[*messages.CallTool](b)
		require.Equal(t, "RuntimeError", b.run(2, "2").Err.Type)
	})
	t.Run("stop ends what runs", func(t *testing.T) {
		d := &fakeDriver{}
		b := setup(t, d)
		b.send(&messages.Execute{ID: 1, Code: "call"})
		next[*messages.CallTool](b)
		b.stop()
		<-d.interpreters()[0].closed
	})
}
