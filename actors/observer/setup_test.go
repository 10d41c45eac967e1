package observer_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
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

// bundle is an observer with a world that stands still and a journal in
// memory.
type bundle struct {
	t       *testing.T
	sys     *system.System
	world   *worldtest.World
	journal *journal
	pid     *actor.PID
}

var rootScope = messages.Scope{Run: "r1", Invocation: "i1", Agent: "chef"}

func setup(t *testing.T, scope messages.Scope) *bundle {
	t.Helper()
	world := worldtest.New(1)
	sys := system.New(system.Config{World: world})
	b := &bundle{t: t, sys: sys, world: world, journal: newJournal()}
	b.pid = sys.Root().Spawn(sys.Props(observer.Producer(observer.Config{
		Journal: b.journal, Scope: scope, System: sys, JoinBytes: 16,
	})))
	t.Cleanup(func() {
		b.stop()
		sys.Close()
	})
	return b
}

func (b *bundle) stop() {
	require.NoError(b.t, b.sys.Root().StopFuture(b.pid).Wait())
}

// send sends messages and waits until they are handled.
func (b *bundle) send(msgs ...any) {
	b.t.Helper()
	for _, m := range msgs {
		b.sys.Root().Send(b.pid, m)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	reply, err := b.sys.Ask(ctx, b.pid, &barrier{})
	require.NoError(b.t, err)
	require.IsType(b.t, &system.ErrUnknownMessage{}, reply, "an unknown message is an error its sender sees")
}

type barrier struct{}

// begin opens attempt a1.
func (b *bundle) begin() {
	b.send(&messages.AttemptBegin{AttemptID: "a1", Attempt: 1, Step: 3})
	require.Equal(b.t, []string{"control begin a1 #1"}, b.journal.take())
}

func content(pieces ...string) []any {
	msgs := make([]any, len(pieces))
	for i, p := range pieces {
		msgs[i] = &messages.AttemptDelta{AttemptID: "a1", Content: p}
	}
	return msgs
}

// journal is an observer.Journal that keeps everything in order.
type journal struct {
	mu     sync.Mutex
	log    []string
	events []messages.Event
	after  []messages.Event

	appended chan func(error) // what calls back the last append
}

func newJournal() *journal { return &journal{appended: make(chan func(error), 1)} }

func (j *journal) Publish(ev *messages.Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.events = append(j.events, *ev)
	j.log = append(j.log, line(*ev))
}

func (j *journal) Append(f fact.Fact, after []messages.Event, done func(error)) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.log = append(j.log, "fact "+f.Kind())
	j.after = after
	j.appended <- done
}

func (j *journal) Withdraw(id string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.log = append(j.log, "withdraw "+id)
}

func (j *journal) Epoch() uint64 { return 1 }

// take gives what came since the last take.
func (j *journal) take() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	log := j.log
	j.log = nil
	return log
}

// line shows an event in short.
func line(ev messages.Event) string {
	switch ev.Type {
	case messages.ModelAttemptControl:
		return fmt.Sprintf("control %s %s #%d", ev.Phase, ev.AttemptID, ev.Attempt)
	case messages.ModelOutputThinking, messages.ModelOutputDeepThinking, messages.ModelOutputCode:
		kind := strings.TrimPrefix(string(ev.Type), "model_output_")
		return fmt.Sprintf("%s %s %q", kind, ev.AttemptID, ev.Content)
	}
	return fmt.Sprintf("%s %q", ev.Type, ev.Content)
}
