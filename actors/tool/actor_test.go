package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/system"
	"github.com/troupe-go/troupe/actors/system/worldtest"
	"github.com/troupe-go/troupe/actors/tool"
	"github.com/troupe-go/troupe/messages"
)

// bench is a tool actor with a parent that stops it when it fails, a caller
// and an observer.
type bench struct {
	t        *testing.T
	world    *worldtest.World
	system   *system.System
	parent   *actor.PID
	tool     *actor.PID
	caller   *actor.PID
	returned chan *messages.ToolReturned
	events   chan messages.Event
	crashes  chan *system.Failure
	log      logged
	ctx      context.Context
}

func setup(t *testing.T, tl tool.Tool, change func(*tool.Config)) *bench {
	b := &bench{
		t: t, world: worldtest.New(1),
		returned: make(chan *messages.ToolReturned, 64),
		events:   make(chan messages.Event, 64),
		crashes:  make(chan *system.Failure, 8),
	}
	var done context.CancelFunc
	b.ctx, done = context.WithTimeout(context.Background(), 10*time.Second)
	b.system = system.New(system.Config{World: b.world, Logger: slog.New(slog.NewTextHandler(&b.log, &slog.HandlerOptions{Level: slog.LevelWarn}))})
	t.Cleanup(func() {
		require.NoError(t, b.system.Root().StopFuture(b.parent).Wait())
		b.system.Close()
		done()
	})
	b.caller = b.spawnFunc(func(ctx actor.Context) {
		if m, ok := ctx.Message().(*messages.ToolReturned); ok {
			b.returned <- m
		}
	})
	observer := b.spawnFunc(func(ctx actor.Context) {
		if m, ok := ctx.Message().(*messages.Emit); ok {
			b.events <- m.Event
		}
	})
	cfg := tool.Config{Tool: tl, System: b.system, Lang: messages.EN, Observer: observer, Scope: messages.Scope{Tenant: "t", User: "u"}}
	if change != nil {
		change(&cfg)
	}
	spawned := make(chan *actor.PID, 1)
	strategy := system.StopFailed(func(_ *actor.PID, f *system.Failure) { b.crashes <- f })
	b.parent = b.system.Root().Spawn(b.system.Props(func() actor.Actor {
		return actor.ReceiveFunc(func(ctx actor.Context) {
			if _, ok := ctx.Message().(*actor.Started); ok {
				spawned <- ctx.Spawn(b.system.Props(tool.Producer(cfg)))
			}
		})
	}, actor.WithSupervisor(strategy)))
	b.tool = <-spawned
	return b
}

func (b *bench) spawnFunc(f actor.ReceiveFunc) *actor.PID {
	return b.system.Root().Spawn(b.system.Props(func() actor.Actor { return f }))
}

// run sends a call; arg is its n.
func (b *bench) run(id string, arg string) {
	c := &messages.CallTool{ID: id, Block: 7, Call: 3, Tool: "stub", Args: []json.RawMessage{json.RawMessage(arg)}}
	spec := stubSpec("")
	p, bad := tool.Prepare(&spec, c, messages.EN)
	require.Nil(b.t, bad)
	b.send(&tool.Run{Call: c, Prepared: p, IdempotencyKey: "key-" + id})
}

func (b *bench) send(msg any) { b.system.Root().RequestWithCustomSender(b.tool, msg, b.caller) }

func (b *bench) await() *messages.ToolReturned { return receive(b, b.returned) }

func receive[T any](b *bench, from chan T) T {
	b.t.Helper()
	select {
	case v := <-from:
		return v
	case <-b.ctx.Done():
		require.FailNow(b.t, "nothing came")
		panic("unreachable")
	}
}

func returning(effects tool.Effects, call func(ctx context.Context, c *tool.Call) (any, error)) *stub {
	return &stub{spec: stubSpec(effects), call: call}
}

// blocking is a call that says when it runs and waits for its context.
func blocking(entered chan<- string) func(ctx context.Context, c *tool.Call) (any, error) {
	return func(ctx context.Context, c *tool.Call) (any, error) {
		entered <- c.ID
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
}

func TestActorReturns(t *testing.T) {
	b := setup(t, returning(tool.EffectsIdempotent, func(ctx context.Context, c *tool.Call) (any, error) {
		until, ok := ctx.Deadline()
		require.True(t, ok)
		require.Equal(t, worldtest.Start.Add(tool.DefaultTimeout), until)
		c.Emit(messages.Card, `[{"icon":"x"}]`)
		c.Emit(messages.SkillArtifact, `{"a":1}`)
		c.Changed(messages.Artifact{Path: "a.txt"})
		return map[string]any{"key": c.IdempotencyKey, "n": c.Args["n"], "user": c.Scope.User, "ws": c.Workspace}, nil
	}), func(cfg *tool.Config) { cfg.Workspace = "/w" })
	b.run("c1", "500")
	m := b.await()
	require.Nil(t, m.Err)
	require.JSONEq(t, `{"key":"key-c1","n":100,"user":"u","ws":"/w"}`, string(m.Value))
	require.Equal(t, []any{"c1", uint64(7), uint64(3), "stub"}, []any{m.ID, m.Block, m.Call, m.Tool})
	require.Equal(t, []messages.Artifact{{Name: "a.txt", Path: "a.txt"}}, m.Artifacts)

	// No word of the clamped n before: whoever announces a call tells it.
	require.Equal(t, messages.Event{Type: messages.Card, Content: `[{"icon":"x"}]`, ToolCallID: "c1"}, receive(b, b.events))
	require.Equal(t, messages.Event{Type: messages.SkillArtifact, Object: json.RawMessage(`{"a":1}`), ToolCallID: "c1"}, receive(b, b.events))
	require.Empty(t, b.world.Pending(), "no timer is left")
}

// A call has one way in: checked.
func TestActorRefusesWhatIsNoRun(t *testing.T) {
	b := setup(t, returning(tool.EffectsNone, func(_ context.Context, c *tool.Call) (any, error) { return c.Args["n"], nil }), nil)
	for _, msg := range []any{"what?", &messages.CallTool{ID: "c1", Tool: "stub", Kwargs: json.RawMessage(`{"n":2}`)}} {
		_, err := system.Ask[*messages.ToolReturned](b.ctx, b.system, b.tool, msg)
		var unknown *system.ErrUnknownMessage
		require.ErrorAs(t, err, &unknown)
	}
}

func TestActorErrors(t *testing.T) {
	fault := &messages.Fault{Code: "no_such_index", Class: messages.Expected, EN: "no index", ZH: "没有索引"}
	for name, tc := range map[string]struct {
		result  any
		err     error
		want    messages.ToolError
		effects tool.Effects
	}{
		"plain":     {nil, errors.New("no luck"), messages.ToolError{Type: "ToolError", Message: "no luck"}, ""},
		"fault":     {nil, fault.With(errors.New("why")), messages.ToolError{Type: "ToolError", Message: "没有索引：why", Code: "no_such_index"}, ""},
		"exception": {nil, &tool.Exception{Class: "ValueError", Fault: fault}, messages.ToolError{Type: "ValueError", Message: "没有索引", Code: "no_such_index"}, ""},
		"no form":   {make(chan int), nil, messages.ToolError{Type: "ToolError", Message: "stub 返回的 chan int 无法转换为 Python 值：value for Python: json: unsupported type: chan int", Code: "tool_bad_result"}, ""},
		"too large": {strings.Repeat("x", 100), nil, messages.ToolError{Type: "ToolError", Message: "stub 的结果有 102 字节，超过上限 64；请减少请求量：缩小范围、减少条数或收紧过滤条件", Code: "tool_result_too_large"}, tool.EffectsNone},
		"too large, with effects": {strings.Repeat("x", 100), nil, messages.ToolError{Type: "ToolError",
			Message: "stub 的结果有 102 字节，超过上限 64；请减少请求量：缩小范围、减少条数或收紧过滤条件。调用本身已执行", Code: "tool_result_too_large"}, ""},
		"a long text": {nil, errors.New(strings.Repeat("é", 1<<20)), messages.ToolError{Type: "ToolError", Message: strings.Repeat("é", 8<<10) + "… (+2080768 bytes)"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := setup(t, returning(tc.effects, func(context.Context, *tool.Call) (any, error) { return tc.result, tc.err }),
				func(cfg *tool.Config) { cfg.Lang, cfg.ResultLimit = messages.ZH, 64 })
			b.run("c1", "1")
			m := b.await()
			require.Equal(t, tc.want, *m.Err)
			require.Nil(t, m.Value)
		})
	}
}

func TestActorTimeout(t *testing.T) {
	entered := make(chan string, 1)
	b := setup(t, returning("", func(ctx context.Context, c *tool.Call) (any, error) {
		c.Emit(messages.Card, "before")
		_, err := blocking(entered)(ctx, c)
		c.Emit(messages.Card, "after")
		c.Changed(messages.Artifact{Path: "half.txt"})
		return nil, err
	}), func(cfg *tool.Config) { cfg.Timeout = time.Minute })
	b.run("c1", "1")
	receive(b, entered)
	b.world.Advance(time.Minute - 1)
	require.Empty(t, b.returned)
	b.world.Advance(1)
	m := b.await()
	require.Equal(t, messages.ToolError{
		Type: "ToolTimeout", Code: "tool_timeout",
		Message: "stub took longer than 1m0s and was cancelled; what it has changed by then is not known, check before you call it again",
	}, *m.Err)
	require.Equal(t, time.Minute, m.Duration)
	require.Equal(t, []messages.Artifact{{Name: "half.txt", Path: "half.txt"}}, m.Artifacts, "files are there, whoever cancelled")
	require.Equal(t, "before", receive(b, b.events).Content)

	b.run("c2", "1")
	require.Equal(t, "c2", receive(b, entered))
	require.Equal(t, "before", receive(b, b.events).Content, "nothing was emitted after the cancel")
}

func TestActorCancel(t *testing.T) {
	entered := make(chan string, 2)
	b := setup(t, returning(tool.EffectsNone, blocking(entered)), nil)
	b.run("c1", "1")
	b.run("c1", "1") // the same call again
	b.run("c2", "1")
	receive(b, entered)
	receive(b, entered)
	require.Empty(t, entered)
	b.send(&messages.CancelCall{ID: "c1"})
	b.send(&messages.CancelCall{ID: "c1"})
	b.send(&messages.CancelCall{ID: "nobody"})
	m := b.await()
	require.Equal(t, "c1", m.ID)
	require.Equal(t, messages.ToolError{Type: "ToolCancelled", Code: "tool_cancelled", Message: "stub was cancelled"}, *m.Err)
	require.Empty(t, b.returned, "c2 goes on")
}

func TestActorKeepsALateResult(t *testing.T) {
	entered := make(chan string, 1)
	b := setup(t, returning("", func(ctx context.Context, c *tool.Call) (any, error) {
		entered <- c.ID
		<-ctx.Done()
		return "sent", nil // the mail had left already
	}), nil)
	b.run("c1", "1")
	receive(b, entered)
	b.send(&messages.CancelCall{ID: "c1"})
	require.Equal(t, `"sent"`, string(b.await().Value))
}

func TestActorAbandons(t *testing.T) {
	entered, release := make(chan string, 2), make(chan struct{})
	limits := tool.LimitsOf(messages.ToolConfig{})
	tl := returning(tool.EffectsNone, func(_ context.Context, c *tool.Call) (any, error) {
		entered <- c.ID
		<-release
		c.Emit(messages.Card, "too late")
		return nil, nil
	})
	tl.closed = make(chan struct{})
	b := setup(t, tl, func(cfg *tool.Config) { cfg.Limits, cfg.Grace = limits, 3*time.Second })
	b.run("c1", "1")
	b.run("c2", "1")
	receive(b, entered)
	receive(b, entered)
	b.send(&messages.CancelCall{ID: "c1"})
	require.Eventually(t, func() bool { return slices.Contains(b.world.Pending(), 3*time.Second) }, 10*time.Second, time.Millisecond)
	b.world.Advance(3 * time.Second)
	m := b.await()
	require.Equal(t, messages.ToolError{Type: "ToolCancelled", Code: "tool_cancelled", Message: "stub was cancelled", Abandoned: true}, *m.Err)
	require.EqualValues(t, 1, limits.Abandoned())

	require.NoError(t, b.system.Root().StopFuture(b.tool).Wait())
	m = b.await()
	require.Equal(t, "c2", m.ID)
	require.Equal(t, "stub was stopped", m.Err.Message)
	b.world.Advance(3 * time.Second)
	require.EqualValues(t, 2, limits.Abandoned())
	select {
	case <-tl.closed:
		require.Fail(t, "closed under running calls")
	default:
	}
	close(release)
	receive(b, tl.closed)
	require.Empty(t, b.events)
}

func TestActorPanics(t *testing.T) {
	for name, tc := range map[string]struct {
		effects tool.Effects
		other   string // how the other call in flight ends
	}{
		"external":   {"", "ToolOutcomeUnknown"},
		"idempotent": {tool.EffectsIdempotent, "ToolPanicked"},
		"none":       {tool.EffectsNone, "ToolPanicked"},
	} {
		t.Run(name, func(t *testing.T) {
			entered := make(chan string, 1)
			tl := returning(tc.effects, func(ctx context.Context, c *tool.Call) (any, error) {
				if c.Args["n"] == int64(13) {
					panic("bad luck")
				}
				return blocking(entered)(ctx, c)
			})
			tl.closed = make(chan struct{})
			b := setup(t, tl, nil)
			b.run("c1", "1")
			receive(b, entered)
			b.run("c2", "13")
			m := b.await()
			require.Equal(t, "c2", m.ID)
			require.Equal(t, messages.ToolError{Type: "ToolPanicked", Code: "tool_panicked", Message: "stub failed inside and is restarted: bad luck"}, *m.Err)
			m = b.await()
			require.Equal(t, "c1", m.ID)
			require.Equal(t, tc.other, m.Err.Type)

			var p *tool.PanicError
			require.ErrorAs(t, receive(b, b.crashes).Reason.(error), &p)
			require.Equal(t, "bad luck", p.Value)
			require.Contains(t, string(p.Stack), "TestActorPanics")
			receive(b, tl.closed)
		})
	}
}

func TestActorRestartsInPlace(t *testing.T) {
	b := setup(t, returning("", nil), nil)
	pid := b.system.Root().Spawn(b.system.Props(tool.Producer(tool.Config{System: b.system, Tool: returning(tool.EffectsNone,
		func(_ context.Context, c *tool.Call) (any, error) { return 10 / c.Args["n"].(int64), nil })})))
	b.tool = pid
	b.run("c1", "0")
	require.Equal(t, "ToolPanicked", b.await().Err.Type)
	b.run("c2", "5")
	require.Equal(t, "2", string(b.await().Value))
	require.NoError(t, b.system.Root().StopFuture(pid).Wait())
}

func TestActorStops(t *testing.T) {
	entered := make(chan string, 1)
	tl := returning("", blocking(entered))
	tl.closed = make(chan struct{})
	b := setup(t, tl, nil)
	b.run("c1", "1")
	receive(b, entered)
	require.NoError(t, b.system.Root().StopFuture(b.tool).Wait())
	require.Equal(t, "ToolCancelled", b.await().Err.Type)
	receive(b, tl.closed)
}

func TestActorGoexit(t *testing.T) {
	b := setup(t, returning(tool.EffectsNone, func(context.Context, *tool.Call) (any, error) {
		exit()
		return nil, nil
	}), nil)
	b.run("c1", "1")
	require.Equal(t, "the tool ended without a result", b.await().Err.Message)
}
