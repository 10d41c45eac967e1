package system_test

import (
	"bytes"
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/system"
	"github.com/troupe-go/troupe/actors/system/worldtest"
)

// patience bounds every wait of a test; only a failing test needs it.
const patience = 5 * time.Second

// bundle is what a test stands on.
type bundle struct {
	*system.System
	t     *testing.T
	world *worldtest.World
	logs  *logBuffer
	ctx   context.Context
}

func setup(t *testing.T) *bundle {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	b := &bundle{t: t, world: worldtest.New(1), logs: &logBuffer{}, ctx: ctx}
	log := slog.New(slog.NewTextHandler(b.logs, &slog.HandlerOptions{Level: slog.LevelDebug}))
	b.System = system.New(system.Config{Logger: log, World: b.world})
	t.Cleanup(func() {
		cancel()
		b.Close()
	})
	return b
}

// spawn starts a root actor and stops it at the end of the test.
func (b *bundle) spawn(receive func(actor.Context), opts ...actor.PropsOption) *actor.PID {
	pid := b.Root().Spawn(b.props(receive, opts...))
	b.t.Cleanup(func() { _ = b.Root().StopFuture(pid).Wait() })
	return pid
}

func (b *bundle) props(receive func(actor.Context), opts ...actor.PropsOption) *actor.Props {
	return b.Props(func() actor.Actor { return actor.ReceiveFunc(receive) }, opts...)
}

// stopped stops an actor and fails the test if it hangs.
func (b *bundle) stopped(pid *actor.PID) {
	b.t.Helper()
	done := make(chan error, 1)
	b.Go(func() { done <- b.Root().StopFuture(pid).Wait() })
	require.NoError(b.t, await(b, done))
}

// restart sends an actor the system message that a supervisor restarts it by.
func (b *bundle) restart(pid *actor.PID) {
	b.t.Helper()
	process, ok := b.Actors().ProcessRegistry.Get(pid)
	require.True(b.t, ok)
	process.SendSystemMessage(pid, &actor.Restart{})
}

// await takes from ch, or fails the test.
func await[T any](b *bundle, ch <-chan T) T {
	b.t.Helper()
	select {
	case v := <-ch:
		return v
	case <-b.ctx.Done():
		require.FailNow(b.t, "nothing came", "logs:\n%s", b.logs)
		panic("unreachable")
	}
}

// registered counts the system's processes.
func (b *bundle) registered() int {
	n := 0
	for _, bucket := range b.Actors().ProcessRegistry.LocalPIDs.LocalPIDs {
		n += bucket.Count()
	}
	return n
}

// logBuffer is a writer that may be read while it is written.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}
