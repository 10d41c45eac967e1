package tool_test

import (
	"context"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/tool"
	"github.com/troupe-go/troupe/messages"
)

func exit() { runtime.Goexit() }

func TestLimitsConcurrency(t *testing.T) {
	entered, release := make(chan string, 3), make(chan struct{})
	b := setup(t, returning("", func(_ context.Context, c *tool.Call) (any, error) {
		entered <- c.ID
		<-release
		return c.ID, nil
	}), func(cfg *tool.Config) { cfg.Limits = tool.LimitsOf(messages.ToolConfig{Concurrency: 1}) })
	b.run("c1", "1")
	require.Equal(t, "c1", receive(b, entered))
	b.run("c2", "1")
	b.send(&messages.CancelCall{ID: "c2"}) // while it waits
	m := b.await()
	require.Equal(t, messages.ToolError{
		Type: "ToolCancelled", Code: "tool_cancelled", Message: "stub was cancelled; it had to wait for other calls and was never begun",
	}, *m.Err)
	b.run("c3", "1")
	require.Empty(t, entered)
	release <- struct{}{}
	require.Equal(t, "c1", b.await().ID)
	require.Equal(t, "c3", receive(b, entered))
	release <- struct{}{}
	require.Equal(t, "c3", b.await().ID)
}

func TestLimitsAreShared(t *testing.T) {
	entered, release := make(chan string, 2), make(chan struct{})
	limits := tool.LimitsOf(messages.ToolConfig{Concurrency: 1})
	call := func(_ context.Context, c *tool.Call) (any, error) {
		entered <- c.ID
		<-release
		return nil, nil
	}
	one := setup(t, returning("", call), func(cfg *tool.Config) { cfg.Limits = limits })
	two := setup(t, returning("", call), func(cfg *tool.Config) { cfg.Limits, cfg.Timeout = limits, time.Second })
	one.run("c1", "1")
	require.Equal(t, "c1", receive(one, entered))
	two.run("c2", "1")
	require.NoError(t, two.world.BlockUntil(two.ctx, 1))
	two.world.Advance(time.Second)
	require.Equal(t, "stub took longer than 1s and was cancelled; it had to wait for other calls and was never begun", two.await().Err.Message)
	close(release)
	require.Nil(t, one.await().Err)
}

func TestLimitsRate(t *testing.T) {
	b := setup(t, returning("", func(context.Context, *tool.Call) (any, error) { return nil, nil }),
		func(cfg *tool.Config) { cfg.Limits = tool.LimitsOf(messages.ToolConfig{RatePerMin: 20}) })
	b.run("c1", "1")
	b.run("c2", "1")
	b.await()
	b.await()
	b.run("c3", "1") // a tenth came at once, then one every three seconds
	require.NoError(t, b.world.BlockUntil(b.ctx, 2))
	b.world.Advance(3*time.Second - 1)
	require.Empty(t, b.returned)
	b.world.Advance(1)
	require.Equal(t, "c3", b.await().ID)

	b.run("c4", "1")
	require.NoError(t, b.world.BlockUntil(b.ctx, 2))
	b.send(&messages.CancelCall{ID: "c4"})
	require.Contains(t, b.await().Err.Message, "never begun")
	b.run("c5", "1") // has c4's turn
	require.NoError(t, b.world.BlockUntil(b.ctx, 2))
	b.world.Advance(3 * time.Second)
	require.Equal(t, "c5", b.await().ID)
}

func TestLimitsCache(t *testing.T) {
	var calls atomic.Int64
	limits := tool.LimitsOf(messages.ToolConfig{CacheTTL: time.Minute})
	call := func(_ context.Context, c *tool.Call) (any, error) {
		c.Emit(messages.Card, "card")
		n := calls.Add(1)
		if c.Args["n"] == int64(9) {
			return make([]byte, 4<<20), nil
		}
		return strconv.FormatInt(n, 10), nil
	}
	b := setup(t, returning(tool.EffectsNone, call), func(cfg *tool.Config) { cfg.Limits, cfg.ResultLimit = limits, 64<<20 })
	ask := func(b *bench, id, n string) string {
		b.run(id, n)
		m := b.await()
		require.Nil(t, m.Err)
		return string(m.Value)
	}
	require.Equal(t, `"1"`, ask(b, "c1", "1"))
	require.Equal(t, "c1", receive(b, b.events).ToolCallID)
	require.Equal(t, `"1"`, ask(b, "c2", "1"))
	require.Equal(t, messages.Event{Type: messages.Card, Content: "card", ToolCallID: "c2"}, receive(b, b.events), "events are published again")
	require.Equal(t, `"2"`, ask(b, "c3", "2"))
	receive(b, b.events)

	clamped := ask(b, "c3a", "500")
	require.Equal(t, "card", receive(b, b.events).Content)
	require.Equal(t, clamped, ask(b, "c3b", "500"))
	require.Equal(t, "card", receive(b, b.events).Content, "the note about n is told by who announces a call, and not kept")
	require.Empty(t, b.events)

	other := setup(t, returning(tool.EffectsNone, call), func(cfg *tool.Config) { cfg.Limits, cfg.Scope.User = limits, "v" })
	require.Equal(t, `"4"`, ask(other, "c1", "1"), "not another user's")

	b.world.Advance(time.Minute)
	require.Equal(t, `"5"`, ask(b, "c4", "1"), "not an old one")

	for i := range 300 { // pushes the first out
		ask(b, "x"+strconv.Itoa(i), strconv.Itoa(-i))
		receive(b, b.events)
	}
	require.Equal(t, int64(305), calls.Load())
	ask(b, "c5", "1")
	require.Equal(t, int64(306), calls.Load())

	ask(b, "c6", "9")
	ask(b, "c7", "9")
	require.Equal(t, int64(308), calls.Load(), "a large result is not kept")
}
