package python_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/actors/system"
	"github.com/troupe-go/troupe/messages"
)

// parent plays the agent: it spawns the executor as its child and passes on
// what comes from it.
type parent struct {
	sys   *system.System
	cfg   python.Config
	child *actor.PID
	got   chan any
}

// toChild is a message for the executor, sent as the agent would.
type toChild struct{ msg any }

func (p *parent) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *actor.Started:
		p.child = ctx.Spawn(p.sys.Props(python.Producer(p.cfg)))
	case *toChild:
		ctx.Request(p.child, m.msg)
	case *messages.Executed, *messages.CallTool, *messages.ExecutorBusy:
		p.got <- m
	}
}

type bundle struct {
	t    *testing.T
	sys  *system.System
	pid  *actor.PID
	got  chan any
	stop func()
}

func setup(t *testing.T, d python.Driver, change ...func(*python.Config)) *bundle {
	sys := system.New(system.Config{})
	cfg := python.Config{Driver: d, System: sys, Spec: python.NewSpec(messages.SandboxConfig{}, []string{"tool"}, nil, messages.EN)}
	for _, c := range change {
		c(&cfg)
	}
	b := &bundle{t: t, sys: sys, got: make(chan any, 16)}
	b.pid = sys.Root().Spawn(sys.Props(func() actor.Actor { return &parent{sys: sys, cfg: cfg, got: b.got} }))
	b.stop = sync.OnceFunc(func() {
		require.NoError(t, sys.Root().StopFuture(b.pid).Wait())
		sys.Close()
	})
	t.Cleanup(b.stop)
	return b
}

func (b *bundle) send(msg any) { b.sys.Root().Send(b.pid, &toChild{msg}) }

// next gives the next message from the executor.
func next[T any](b *bundle) T {
	b.t.Helper()
	select {
	case m := <-b.got:
		got, ok := m.(T)
		require.True(b.t, ok, "got %T", m)
		return got
	case <-b.t.Context().Done():
		require.FailNow(b.t, "the test ended")
	}
	panic("not reached")
}

// run runs a block that makes no calls.
func (b *bundle) run(id uint64, code string) *messages.Executed {
	b.t.Helper()
	b.send(&messages.Execute{ID: id, Code: code})
	out := next[*messages.Executed](b)
	require.Equal(b.t, id, out.ID)
	return out
}

// fakeDriver makes interpreters that do what the test says.
type fakeDriver struct {
	mu      sync.Mutex
	started []*fakeInterpreter
	fail    error
	hold    chan struct{} // when set, Start waits for it or for its ctx
}

func (d *fakeDriver) Describe() python.Description { return python.Description{} }

func (d *fakeDriver) Start(ctx context.Context, _ python.Spec) (python.Interpreter, error) {
	if d.hold != nil {
		select {
		case <-d.hold:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fail != nil {
		return nil, d.fail
	}
	it := &fakeInterpreter{closed: make(chan struct{})}
	d.started = append(d.started, it)
	return it, nil
}

func (d *fakeDriver) interpreters() []*fakeInterpreter {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]*fakeInterpreter{}, d.started...)
}

// fakeInterpreter understands: "call" (one call, whose result is the value),
// "wait" (for its ctx), "die", "panic", "final", "3s" and "20s" (of processor
// time), "threads"; everything else is its own value. Its variables are the
// list of codes it ran, which is what a snapshot holds.
type fakeInterpreter struct {
	once    sync.Once
	closed  chan struct{}
	ran     []string
	missing []string // of the next snapshot
}

func (i *fakeInterpreter) Snapshot(_ context.Context, limit int) (*python.State, error) {
	data := strings.Join(i.ran, ",")
	if len(data) > limit {
		return nil, python.ErrNoSnapshot
	}
	return &python.State{Data: []byte(data), Missing: i.missing}, nil
}

func (i *fakeInterpreter) Restore(_ context.Context, data []byte) error {
	if string(data) == "damaged" {
		return errors.New("damaged")
	}
	i.ran = append([]string{"restored"}, strings.Split(string(data), ",")...)
	return nil
}

// blobs are kept in memory.
type blobs map[string][]byte

func (b blobs) PutBlob(_ context.Context, data []byte) (string, error) {
	hash := "hash of " + string(data)
	b[hash] = data
	return hash, nil
}

func (b blobs) GetBlob(_ context.Context, hash string) ([]byte, error) {
	data, ok := b[hash]
	if !ok {
		return nil, errors.New("no such blob")
	}
	return data, nil
}

func (i *fakeInterpreter) Close() { i.once.Do(func() { close(i.closed) }) }

func (i *fakeInterpreter) Exec(ctx context.Context, what python.Block, host python.Host) (*python.Outcome, error) {
	select {
	case <-i.closed:
		return nil, python.ErrGone
	default:
	}
	i.ran = append(i.ran, what.Code)
	switch code := what.Code; code {
	case "3s":
		return &python.Outcome{CPU: 3 * time.Second}, nil
	case "20s":
		return &python.Outcome{CPU: 20 * time.Second}, nil
	case "threads":
		return &python.Outcome{Unrepeatable: []string{python.UsedThreads}}, nil
	case "final":
		return &python.Outcome{IsFinal: true, CPU: 3 * time.Second}, nil
	case "call":
		r := host.Call(ctx, python.Call{Ordinal: 1, Tool: "tool", Args: []json.RawMessage{json.RawMessage("1")}})
		if r.Err != nil {
			return &python.Outcome{Err: &messages.PyError{Type: r.Err.Type, Message: r.Err.Message}}, nil
		}
		return &python.Outcome{Value: r.Value}, nil
	case "wait":
		<-ctx.Done()
		return &python.Outcome{Killed: python.KilledBy(ctx), Output: "so far"}, nil
	case "die":
		return &python.Outcome{Killed: python.KilledDied}, nil
	case "panic":
		panic("a bug")
	}
	return &python.Outcome{Value: json.RawMessage(what.Code), Repr: what.Code}, nil
}
