package python_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/actors/python/slots"
	"github.com/troupe-go/troupe/messages"
	"github.com/troupe-go/troupe/messages/fact"
)

// ended is a block that printed nothing.
func ended(step int, code string, change ...func(*messages.PastBlock)) messages.PastBlock {
	b := messages.PastBlock{Step: step, Code: code, OutputHash: fact.HashOf(nil)}
	for _, c := range change {
		c(&b)
	}
	return b
}

func cost(d time.Duration) func(*messages.PastBlock) {
	return func(b *messages.PastBlock) { b.CPU = d }
}

func threads(b *messages.PastBlock) { b.Unrepeatable = []string{python.UsedThreads} }

func kept(blob string, missing ...string) func(*messages.PastBlock) {
	return func(b *messages.PastBlock) { b.Snapshot = &messages.Snapshot{Blob: blob, Missing: missing} }
}

// TestRebuild: from where variables are brought back, what each interpreter
// then has run, and what is said to be lost.
func TestRebuild(t *testing.T) {
	all := &messages.LostVariables{}
	for name, c := range map[string]struct {
		past []messages.PastBlock
		lost *messages.LostVariables // nil: nothing; reason and step count
		ran  []string                // of the interpreter that runs the block
	}{
		"from nothing":               {past: []messages.PastBlock{ended(1, "1"), ended(2, "2")}, ran: []string{"1", "2", "9"}},
		"behind a whole snapshot":    {past: []messages.PastBlock{ended(1, "1", kept("good")), ended(2, "2")}, ran: []string{"restored", "old", "2", "9"}},
		"behind the last one":        {past: []messages.PastBlock{ended(1, "1", kept("none")), ended(2, "2", kept("good"))}, ran: []string{"restored", "old", "9"}},
		"not behind one with gaps":   {past: []messages.PastBlock{ended(1, "1", kept("good", "g")), ended(2, "2")}, ran: []string{"1", "2", "9"}},
		"whole, after threads":       {past: []messages.PastBlock{ended(1, "1", threads, kept("good"))}, ran: []string{"restored", "old", "9"}},
		"too expensive":              {past: []messages.PastBlock{ended(1, "20s", cost(20*time.Second)), ended(4, "20s", cost(20*time.Second))}, lost: &messages.LostVariables{Reason: messages.LostCeiling, Step: 4}, ran: []string{"9"}},
		"too expensive but for gaps": {past: []messages.PastBlock{ended(1, "1", cost(20*time.Second)), ended(2, "2", cost(20*time.Second), kept("good", "g")), ended(3, "3", func(b *messages.PastBlock) { b.State = "with g" })}, lost: &messages.LostVariables{Reason: messages.LostCeiling, Step: 2, Names: []string{"g"}}, ran: []string{"restored", "old", "3", "9"}},
		"threads":                    {past: []messages.PastBlock{ended(1, "1"), ended(2, "threads", threads)}, lost: &messages.LostVariables{Reason: messages.LostUnrepeatable, Step: 2}, ran: []string{"9"}},
		"threads behind gaps":        {past: []messages.PastBlock{ended(1, "1", kept("good", "g")), ended(2, "threads", threads)}, lost: &messages.LostVariables{Reason: messages.LostUnrepeatable, Step: 2}, ran: []string{"9"}},
		"no blob":                    {past: []messages.PastBlock{ended(1, "1", kept("none"))}, lost: &messages.LostVariables{Reason: messages.LostFailed, Step: 1}, ran: []string{"9"}},
		"a damaged blob":             {past: []messages.PastBlock{ended(1, "1", kept("damaged"))}, lost: &messages.LostVariables{Reason: messages.LostFailed, Step: 1}, ran: []string{"9"}},
		"dies":                       {past: []messages.PastBlock{ended(1, "die")}, lost: &messages.LostVariables{Reason: messages.LostFailed, Step: 1}, ran: []string{"9"}},
		"answers":                    {past: []messages.PastBlock{ended(1, "1"), ended(2, "final")}, lost: &messages.LostVariables{Reason: messages.LostDiverged, Step: 2}, ran: []string{"9"}},
		"prints other things":        {past: []messages.PastBlock{ended(1, "1", func(b *messages.PastBlock) { b.OutputHash = "other" })}, lost: &messages.LostVariables{Reason: messages.LostDiverged, Step: 1}, ran: []string{"9"}},
		"holds other things":         {past: []messages.PastBlock{ended(1, "1", func(b *messages.PastBlock) { b.State = "other" })}, lost: &messages.LostVariables{Reason: messages.LostDiverged, Step: 1}, ran: []string{"9"}},
		"ends otherwise":             {past: []messages.PastBlock{ended(1, "1", func(b *messages.PastBlock) { b.Err = "ValueError" })}, lost: &messages.LostVariables{Reason: messages.LostDiverged, Step: 1}, ran: []string{"9"}},
		"starts threads":             {past: []messages.PastBlock{ended(1, "threads")}, lost: &messages.LostVariables{Reason: messages.LostDiverged, Step: 1}, ran: []string{"9"}},
		"calls what it had not":      {past: []messages.PastBlock{ended(1, "call")}, lost: &messages.LostVariables{Reason: messages.LostDiverged, Step: 1}, ran: []string{"9"}},
		"calls less than it had":     {past: []messages.PastBlock{ended(1, "1", func(b *messages.PastBlock) { b.Calls = []messages.RecordedCall{{Call: 1, Tool: "tool"}} })}, lost: &messages.LostVariables{Reason: messages.LostDiverged, Step: 1}, ran: []string{"9"}},
	} {
		t.Run(name, func(t *testing.T) {
			d := &fakeDriver{}
			b := setup(t, d, func(c *python.Config) { c.Blobs = blobs{"good": []byte("old"), "damaged": []byte("damaged")} })
			b.send(&messages.Execute{ID: 1, Step: 9, Code: "9", Past: c.past})
			out := next[*messages.Executed](b)
			require.JSONEq(t, "9", string(out.Value))
			if c.lost == nil {
				require.Nil(t, out.Lost, "%+v", out.Lost)
			} else {
				require.NotNil(t, out.Lost)
				all.Reason, all.Step, all.Names = out.Lost.Reason, out.Lost.Step, out.Lost.Names
				require.Equal(t, c.lost, all)
			}
			its := d.interpreters()
			require.Equal(t, c.ran, its[len(its)-1].ran)
			require.JSONEq(t, "10", string(b.run(2, "10").Value), "the interpreter stays")
			require.Len(t, d.interpreters(), len(its))
		})
	}
}

// TestSnapshots: when variables are kept.
func TestSnapshots(t *testing.T) {
	store := blobs{}
	b := setup(t, &fakeDriver{}, func(c *python.Config) { c.Blobs = store })
	past := []messages.PastBlock{}
	run := func(code string) *messages.Snapshot {
		t.Helper()
		step := len(past) + 1
		b.send(&messages.Execute{ID: uint64(step), Step: step, Code: code, Past: past})
		out := next[*messages.Executed](b)
		past = append(past, ended(step, code, cost(out.CPU), func(p *messages.PastBlock) { p.Snapshot = out.Snapshot }))
		return out.Snapshot
	}
	require.Nil(t, run("1"))
	first := run("3s")
	require.Equal(t, "1,3s", string(store[first.Blob]))
	require.Equal(t, 4, first.Bytes)
	require.Nil(t, run("2"), "nothing was spent since")
	require.NotNil(t, run("threads"), "it can't be run again")
	require.Nil(t, run("final"), "nobody goes on from there")
	require.Nil(t, run("die"))

	none := setup(t, &fakeDriver{})
	require.Nil(t, none.run(1, "3s").Snapshot, "without a store")
}

// TestOpenBlock: calls that a block made under an earlier owner are answered,
// later ones are made, and a block that goes another way is ended.
func TestOpenBlock(t *testing.T) {
	known := func(args string) []messages.RecordedCall {
		return []messages.RecordedCall{{Call: 1, Tool: "tool", Hash: fact.CallHash("tool", []json.RawMessage{json.RawMessage(args)}, nil), Value: json.RawMessage(`"known"`)}}
	}
	run := func(t *testing.T, m *messages.Execute) (*bundle, *messages.Executed) {
		b := setup(t, &fakeDriver{})
		m.ID = 1
		b.send(m)
		return b, next[*messages.Executed](b)
	}
	t.Run("as it was", func(t *testing.T) {
		_, out := run(t, &messages.Execute{Code: "call", Recorded: known("1")})
		require.JSONEq(t, `"known"`, string(out.Value))
		require.Empty(t, out.Interrupted)
	})
	t.Run("other arguments", func(t *testing.T) {
		b, out := run(t, &messages.Execute{Code: "call", Recorded: known("2")})
		require.Equal(t, "call 1, of tool, has other arguments than before", out.Interrupted)
		require.Equal(t, python.KilledCancelled, out.Killed)
		require.JSONEq(t, "2", string(b.run(2, "2").Value), "in another interpreter")
	})
	t.Run("ends before it called", func(t *testing.T) {
		_, out := run(t, &messages.Execute{Code: "1", Recorded: known("1")})
		require.Equal(t, "call 1, of tool, was made before and is not made now", out.Interrupted)
		require.Empty(t, out.Value)
	})
	t.Run("is killed by itself", func(t *testing.T) {
		_, out := run(t, &messages.Execute{Code: "die", Recorded: known("1")})
		require.Equal(t, python.KilledDied, out.Killed)
		require.Empty(t, out.Interrupted)
	})
	t.Run("without what it builds on", func(t *testing.T) {
		_, out := run(t, &messages.Execute{Code: "call", Recorded: known("1"), Past: []messages.PastBlock{ended(1, "die")}})
		require.Equal(t, "the variables it builds on are gone", out.Interrupted)
		require.Equal(t, messages.LostFailed, out.Lost.Reason)
	})
	t.Run("a pending call", func(t *testing.T) {
		calls := known("1")
		calls[0].Pending = true
		b := setup(t, &fakeDriver{})
		b.send(&messages.Execute{ID: 1, Code: "call", Recorded: calls})
		require.EqualValues(t, 1, next[*messages.CallTool](b).Call)
		b.send(&messages.ToolReturned{Block: 1, Call: 1, Value: json.RawMessage("7")})
		require.JSONEq(t, "7", string(next[*messages.Executed](b).Value))
	})
}

// TestSlots: a block waits for its turn, says so, and can be cancelled there.
func TestSlots(t *testing.T) {
	s := slots.New(1)
	with := func(c *python.Config) { c.Slots, c.Run = s, "run" }
	first, second := setup(t, &fakeDriver{}, with), setup(t, &fakeDriver{}, with)
	first.send(&messages.Execute{ID: 1, Code: "call"})
	next[*messages.CallTool](first)
	second.send(&messages.Execute{ID: 1, Code: "1"})
	require.Equal(t, &messages.ExecutorBusy{ID: 1}, next[*messages.ExecutorBusy](second))
	second.send(&messages.CancelExecute{ID: 1})
	require.Equal(t, python.KilledCancelled, next[*messages.Executed](second).Killed)
	second.send(&messages.Execute{ID: 2, Code: "2"})
	next[*messages.ExecutorBusy](second)
	first.send(&messages.ToolReturned{Block: 1, Call: 1})
	next[*messages.Executed](first)
	require.JSONEq(t, "2", string(next[*messages.Executed](second).Value))
	require.Eventually(t, func() bool { busy, waiting, _ := s.Stats(); return busy+waiting == 0 }, time.Second, time.Millisecond)
}
