package observer_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/observer"
	"github.com/troupe-go/troupe/actors/system"
	"github.com/troupe-go/troupe/actors/system/worldtest"
	"github.com/troupe-go/troupe/messages"
	"github.com/troupe-go/troupe/messages/fact"
)

func TestJoining(t *testing.T) {
	t.Run("the first piece goes out at once, the next ones together", func(t *testing.T) {
		b := setup(t, rootScope)
		b.begin()
		b.send(content("a", "b", "c")...)
		require.Equal(t, []string{`thinking a1 "a"`}, b.journal.take())
		require.Equal(t, []time.Duration{observer.DefaultJoinDelay}, b.world.Pending())
		b.world.Advance(observer.DefaultJoinDelay)
		b.send()
		require.Equal(t, []string{`thinking a1 "bc"`}, b.journal.take())
		require.Empty(t, b.world.Pending(), "no timer runs when nothing waits")
	})
	t.Run("a slow stream is not delayed", func(t *testing.T) {
		b := setup(t, rootScope)
		b.begin()
		for _, p := range []string{"a", "b"} {
			b.send(content(p)...)
			require.Equal(t, []string{`thinking a1 "` + p + `"`}, b.journal.take())
			b.world.Advance(observer.DefaultJoinDelay)
		}
	})
	t.Run("the rest of the delay is waited", func(t *testing.T) {
		b := setup(t, rootScope)
		b.begin()
		b.send(content("a")...)
		b.world.Advance(20 * time.Millisecond)
		b.send(content("b")...)
		require.Equal(t, []time.Duration{30 * time.Millisecond}, b.world.Pending())
	})
	t.Run("long text is cut between characters", func(t *testing.T) {
		b := setup(t, rootScope)
		b.begin()
		b.send(content("好好好好好好好")...)
		require.Equal(t, []string{`thinking a1 "好好好好好"`, `thinking a1 "好好"`}, b.journal.take())
		b.send(content("0123456", "789", "abcdef")...)
		require.Equal(t, []string{`thinking a1 "0123456789abcdef"`}, b.journal.take(), "a full event waits for nothing")
		require.Empty(t, b.world.Pending())
	})
	t.Run("kinds and blocks are events of their own", func(t *testing.T) {
		b := setup(t, rootScope)
		b.begin()
		b.send(content("x<think>y</think>", "<code>a</code><code>b</code>")...)
		b.send(&messages.AttemptEnd{AttemptID: "a1"})
		require.Equal(t, []string{`thinking a1 "x"`, `deep_thinking a1 "y"`, `code a1 "a"`, `code a1 "b"`}, b.journal.take())
	})
	t.Run("other events come after the text before them", func(t *testing.T) {
		b := setup(t, rootScope)
		b.begin()
		b.send(content("a", "b")...)
		b.send(&messages.Emit{Event: messages.Event{Type: messages.Other, Content: "n"}})
		require.Equal(t, []string{`thinking a1 "a"`, `thinking a1 "b"`, `other "n"`}, b.journal.take())
		require.Empty(t, b.world.Pending())
	})
	t.Run("a stop loses no text", func(t *testing.T) {
		b := setup(t, rootScope)
		b.begin()
		b.send(content("a", "b")...)
		b.stop()
		require.Equal(t, []string{`thinking a1 "a"`, `thinking a1 "b"`}, b.journal.take())
		require.Empty(t, b.world.Pending())
	})
}

func TestAttempts(t *testing.T) {
	t.Run("the end releases what is held back", func(t *testing.T) {
		b := setup(t, rootScope)
		b.begin()
		b.send(content("a<th")...)
		b.send(&messages.AttemptEnd{AttemptID: "a1"})
		require.Equal(t, []string{`thinking a1 "a"`, `thinking a1 "<th"`}, b.journal.take())
	})
	t.Run("a rollback drops what waits and withdraws the rest", func(t *testing.T) {
		b := setup(t, rootScope)
		b.begin()
		b.send(content("a", "b", "<th")...)
		b.send(&messages.AttemptRollback{AttemptID: "a1", Attempt: 1})
		require.Equal(t, []string{`thinking a1 "a"`, "withdraw a1", "control rollback a1 #1"}, b.journal.take())
		require.Empty(t, b.world.Pending())
	})
	t.Run("a rollback after the end", func(t *testing.T) {
		b := setup(t, rootScope)
		b.begin()
		b.send(&messages.AttemptEnd{AttemptID: "a1"}, &messages.AttemptRollback{AttemptID: "a1", Attempt: 1})
		require.Equal(t, []string{"withdraw a1", "control rollback a1 #1"}, b.journal.take())
	})
	t.Run("a rollback without id is about the open attempt, if any", func(t *testing.T) {
		b := setup(t, rootScope)
		b.begin()
		b.send(&messages.AttemptRollback{}, &messages.AttemptRollback{})
		require.Equal(t, []string{"withdraw a1", "control rollback a1 #1"}, b.journal.take())
	})
	t.Run("each attempt starts afresh", func(t *testing.T) {
		b := setup(t, rootScope)
		b.begin()
		b.send(content("<think>never closed")...)
		b.send(&messages.AttemptRollback{AttemptID: "a1", Attempt: 1}, &messages.AttemptBegin{AttemptID: "a2", Attempt: 2})
		b.journal.take()
		b.send(&messages.AttemptDelta{AttemptID: "a1", Content: "late"}, &messages.AttemptEnd{AttemptID: "a1"},
			&messages.AttemptDelta{AttemptID: "a2", Content: "x"})
		require.Equal(t, []string{`thinking a2 "x"`}, b.journal.take())
	})
	t.Run("reasoning comes first and is deep thinking", func(t *testing.T) {
		b := setup(t, rootScope)
		b.begin()
		b.send(&messages.AttemptDelta{AttemptID: "a1", Content: "x", Reasoning: "r"}, &messages.AttemptEnd{AttemptID: "a1"})
		require.Equal(t, []string{`deep_thinking a1 "r"`, `thinking a1 "x"`}, b.journal.take())
	})
}

func TestStamp(t *testing.T) {
	t.Run("root", func(t *testing.T) {
		b := setup(t, rootScope)
		b.begin()
		b.send(content("a")...)
		b.send(&messages.Emit{Event: messages.Event{Type: messages.Other, Step: 7}})
		require.Equal(t, messages.Event{
			Type: messages.ModelOutputThinking, Content: "a", AttemptID: "a1", RunID: "r1", Step: 3, Time: worldtest.Start,
		}, b.journal.events[1])
		require.Equal(t, messages.Event{Type: messages.Other, RunID: "r1", Step: 7, Time: worldtest.Start}, b.journal.events[2])
	})
	t.Run("sub-agent", func(t *testing.T) {
		b := setup(t, messages.Scope{Run: "r1", Invocation: "i2", Agent: "cook", Depth: 2})
		b.send(&messages.Emit{Event: messages.Event{Type: messages.Other}},
			&messages.Emit{Event: messages.Event{Type: messages.SubagentStart, Depth: 3, AgentID: "x", AgentName: "x", InvocationID: "i3"}})
		require.Equal(t, messages.Event{
			Type: messages.Other, RunID: "r1", Time: worldtest.Start, Depth: 2, AgentID: "cook", AgentName: "cook", InvocationID: "i2",
		}, b.journal.events[0])
		require.Equal(t, messages.Event{
			Type: messages.SubagentStart, RunID: "r1", Time: worldtest.Start, Depth: 3, AgentID: "x", AgentName: "x", InvocationID: "i3",
		}, b.journal.events[1])
	})
}

func TestRecord(t *testing.T) {
	for name, want := range map[string]error{"stored": nil, "refused": errors.New("stale")} {
		t.Run(name, func(t *testing.T) {
			b := setup(t, rootScope)
			b.begin()
			b.send(content("a", "b")...)
			after := []messages.Event{{Type: messages.ModelAttemptControl, Phase: messages.PhaseCommit, AttemptID: "a1", Attempt: 1}}

			got := make(chan *observer.Recorded, 1)
			asker := b.sys.Root().Spawn(b.sys.Props(func() actor.Actor { return &asker{observer: b.pid, got: got} }))
			t.Cleanup(func() { require.NoError(t, b.sys.Root().StopFuture(asker).Wait()) })
			b.sys.Root().Send(asker, &observer.Record{ID: 5, Fact: &fact.Thought{}, After: after})
			done := <-b.journal.appended

			require.Equal(t, []string{`thinking a1 "a"`, `thinking a1 "b"`, "fact thought"}, b.journal.take())
			require.Equal(t, "r1", b.journal.after[0].RunID)
			require.Equal(t, 3, b.journal.after[0].Step)
			require.Empty(t, after[0].RunID, "a message is not changed")
			require.Empty(t, got, "no reply before the fact is stored")
			done(want)
			require.Equal(t, &observer.Recorded{ID: 5, Err: want}, <-got)
		})
	}
	t.Run("no sender", func(t *testing.T) {
		b := setup(t, rootScope)
		b.send(&observer.Record{Fact: &fact.Released{}})
		(<-b.journal.appended)(nil)
		require.Equal(t, []string{"fact released"}, b.journal.take())
	})
}

// asker sends records as an agent does and hands the reply on.
type asker struct {
	observer *actor.PID
	got      chan *observer.Recorded
}

func (a *asker) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *observer.Record:
		ctx.Request(a.observer, m)
	case *observer.Recorded:
		a.got <- m
	}
}

func TestProducerDefaults(t *testing.T) {
	world := worldtest.New(1)
	sys := system.New(system.Config{World: world})
	j := newJournal()
	b := &bundle{t: t, sys: sys, world: world, journal: j}
	b.pid = sys.Root().Spawn(sys.Props(observer.Producer(observer.Config{Journal: j, System: sys, JoinBytes: 1})))
	defer sys.Close()
	defer b.stop()
	b.begin()
	b.send(content("𝄞𝄞")...)
	require.Equal(t, []string{`thinking a1 "𝄞"`, `thinking a1 "𝄞"`}, j.take(), "no limit cuts a character")
}

func TestTexts(t *testing.T) {
	require.Equal(t, "\n**步骤 3** \n", observer.StepCountText("zh", 3))
	require.Equal(t, "\n**Step 3** \n", observer.StepCountText("en", 3))
	require.Equal(t, "\n**Step 3** \n", observer.StepCountText("fr", 3))
	require.Equal(t, "\n🛠️ 使用Python解释器执行代码\n```python\nx\n```\n", observer.ParseText("zh", "x"))
	require.Equal(t, "\n🛠️ Used tool python_interpreter\n```python\nx\n```\n", observer.ParseText("", "x"))
}

// BenchmarkDelta is one token of a stream that is joined, through the mailbox.
func BenchmarkDelta(b *testing.B) {
	sys := system.New(system.Config{})
	pid := sys.Root().Spawn(sys.Props(observer.Producer(observer.Config{Journal: discard{}, Scope: rootScope, System: sys})))
	sys.Root().Send(pid, &messages.AttemptBegin{AttemptID: "a1", Attempt: 1, Step: 1})
	b.ReportAllocs()
	for i := range b.N {
		sys.Root().Send(pid, &messages.AttemptDelta{AttemptID: "a1", Content: " a token"})
		if i%256 == 255 {
			_, _ = sys.Ask(context.Background(), pid, &barrier{})
		}
	}
	_, _ = sys.Ask(context.Background(), pid, &barrier{})
	b.StopTimer()
	_ = sys.Root().StopFuture(pid).Wait()
	sys.Close()
}

// discard is a journal that stores nothing.
type discard struct{}

func (discard) Publish(*messages.Event)                                  {}
func (discard) Append(_ fact.Fact, _ []messages.Event, done func(error)) { done(nil) }
func (discard) Withdraw(string)                                          {}
func (discard) Epoch() uint64                                            { return 1 }
