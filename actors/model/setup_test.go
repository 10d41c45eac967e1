package model_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/model"
	"github.com/troupe-go/troupe/actors/system"
	"github.com/troupe-go/troupe/actors/system/worldtest"
	"github.com/troupe-go/troupe/messages"
)

// bundle is a model actor between an observer and an agent that keep what they
// get.
type bundle struct {
	t     *testing.T
	world *worldtest.World
	sys   *system.System
	pid   *actor.PID
	agent *actor.PID

	observed chan any // what the observer gets
	answers  chan any // what the agent gets
}

// options are what tests change.
type options struct {
	lang  string
	retry model.Retry
}

func setup(t *testing.T, opts options, chain ...model.Model) *bundle {
	t.Helper()
	b := &bundle{t: t, world: worldtest.New(1), observed: make(chan any, 1024), answers: make(chan any, 64)}
	b.sys = system.New(system.Config{World: b.world})
	observer := b.sys.Root().Spawn(b.sys.Props(keeper(b.observed)))
	cfg := model.Config{Chain: chain, Observer: observer, System: b.sys, Lang: opts.lang, Retry: opts.retry}
	spawned := make(chan *actor.PID, 1)
	b.agent = b.sys.Root().Spawn(b.sys.Props(func() actor.Actor {
		return &agent{props: b.sys.Props(model.Producer(cfg)), spawned: spawned, answers: b.answers}
	}))
	b.pid = <-spawned
	t.Cleanup(func() {
		b.stop(b.agent)
		b.stop(observer)
		b.sys.Close()
	})
	return b
}

func (b *bundle) stop(pid *actor.PID) {
	require.NoError(b.t, b.sys.Root().StopFuture(pid).Wait())
}

// keeper is an actor that passes every message of ours on to a channel.
func keeper(to chan<- any) actor.Producer {
	return func() actor.Actor {
		return actor.ReceiveFunc(func(ctx actor.Context) { keep(ctx, to) })
	}
}

func keep(ctx actor.Context, to chan<- any) {
	switch m := ctx.Message().(type) {
	case actor.SystemMessage, actor.AutoReceiveMessage:
	default:
		to <- m
	}
}

type agent struct {
	props   *actor.Props
	spawned chan *actor.PID
	answers chan any
}

func (a *agent) Receive(ctx actor.Context) {
	if _, ok := ctx.Message().(*actor.Started); ok {
		a.spawned <- ctx.Spawn(a.props)
		return
	}
	keep(ctx, a.answers)
}

func (b *bundle) send(msg any) { b.sys.Root().Send(b.pid, msg) }

// think asks for an answer with id 1.
func (b *bundle) think() { b.send(&messages.Think{ID: 1, Step: 3, Attempt: 1}) }

// next takes the next message of a channel, of the type wanted.
func next[T any](b *bundle, from <-chan any) T {
	b.t.Helper()
	select {
	case m := <-from:
		want, ok := m.(T)
		require.True(b.t, ok, "got %T: %+v", m, m)
		return want
	case <-time.After(10 * time.Second):
		require.FailNow(b.t, "nothing came")
		panic("unreachable")
	}
}

// rolledBack expects an attempt without text that is withdrawn.
func (b *bundle) rolledBack(number int) {
	b.t.Helper()
	begin := next[*messages.AttemptBegin](b, b.observed)
	require.Equal(b.t, number, begin.Attempt)
	require.Equal(b.t, &messages.AttemptRollback{AttemptID: begin.AttemptID, Attempt: number}, next[*messages.AttemptRollback](b, b.observed))
}

func (b *bundle) warned(code string) messages.Event {
	b.t.Helper()
	ev := next[*messages.Emit](b, b.observed).Event
	require.Equal(b.t, messages.Warning, ev.Type)
	require.Equal(b.t, code, ev.ErrorCode)
	require.True(b.t, *ev.Retryable)
	return ev
}

// waits lets the pending back-off pass and gives its length.
func (b *bundle) waits() time.Duration {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), 10*time.Second)
	defer cancel()
	require.NoError(b.t, b.world.BlockUntil(ctx, 1))
	d := b.world.Pending()[0]
	b.world.Advance(d)
	return d
}

// reply is one thing a stub client does.
type reply func(ctx context.Context, req *model.Request, on func(model.Delta)) (*model.Reply, error)

// stub is a client that does one thing after the other; then it is an error.
type stub struct {
	replies chan reply
	asked   chan *model.Request
}

func client(replies ...reply) *stub {
	s := &stub{replies: make(chan reply, len(replies)), asked: make(chan *model.Request, 64)}
	for _, r := range replies {
		s.replies <- r
	}
	return s
}

func (s *stub) Stream(ctx context.Context, req *model.Request, on func(model.Delta)) (*model.Reply, error) {
	s.asked <- req
	select {
	case r := <-s.replies:
		return r(ctx, req, on)
	default:
		return nil, errors.New("asked too often")
	}
}

func named(name string, s *stub) model.Model {
	return model.Model{Config: messages.ModelConfig{CiteName: name}, Client: s}
}

func says(text string) reply {
	return func(_ context.Context, _ *model.Request, on func(model.Delta)) (*model.Reply, error) {
		on(model.Delta{Content: text})
		return &model.Reply{Text: text, FinishReason: "stop", Usage: messages.Usage{OutputTokens: 1}}, nil
	}
}

func fails(err error) reply {
	return func(context.Context, *model.Request, func(model.Delta)) (*model.Reply, error) { return nil, err }
}

// hangs says a word, tells that it did, and waits to be cancelled.
func hangs(saying chan<- struct{}) reply {
	return func(ctx context.Context, _ *model.Request, on func(model.Delta)) (*model.Reply, error) {
		on(model.Delta{Content: "wor"})
		saying <- struct{}{}
		<-ctx.Done()
		on(model.Delta{Content: "d"}) // too late
		return nil, ctx.Err()
	}
}
