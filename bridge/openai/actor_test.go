package openai_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/model"
	"github.com/troupe-go/troupe/actors/system"
	"github.com/troupe-go/troupe/actors/system/worldtest"
	"github.com/troupe-go/troupe/messages"
)

// The model actor over the real wire: a rate limit with Retry-After, a cut
// stream, an error inside a stream for the last try of a model; then the next
// model answers.
func TestActorOverTheWire(t *testing.T) {
	world := worldtest.New(1)
	one := setup(t, `
turns:
  - replies:
      - {status: 429, headers: {Retry-After: "2"}, error: {message: slow down}}
      - {text: never seen, cut_after: 1}
      - {deltas: [a], error: {message: quota exceeded, code: 429}}
`, inWorld(world))
	two := setup(t, `{turns: [{reply: {text: here}}]}`, inWorld(world))

	sys := system.New(system.Config{World: world})
	defer sys.Close()
	observed, answers := make(chan any, 100), make(chan any, 10)
	observer := sys.Root().Spawn(sys.Props(keeper(observed, nil)))
	agent := sys.Root().Spawn(sys.Props(keeper(answers, sys.Props(model.Producer(model.Config{
		Chain: []model.Model{
			{Config: messages.ModelConfig{CiteName: "one"}, Client: one.client},
			{Config: messages.ModelConfig{CiteName: "two"}, Client: two.client},
		},
		Observer: observer, System: sys, Lang: messages.EN,
	})))))
	defer func() {
		require.NoError(t, sys.Root().StopFuture(agent).Wait())
		require.NoError(t, sys.Root().StopFuture(observer).Wait())
	}()
	sys.Root().Send(agent, &messages.Think{ID: 1, Step: 1, Attempt: 1, Messages: question().Messages})

	var codes []string
	began := world.Now()
	for len(codes) < 3 {
		emit, ok := next(one, observed).(*messages.Emit)
		if !ok {
			continue
		}
		codes = append(codes, emit.Event.ErrorCode)
		if len(codes) == 3 {
			break // the next model is asked at once
		}
		require.NoError(t, world.BlockUntil(one.ctx, 1))
		world.Advance(world.Pending()[0])
		if len(codes) == 1 {
			require.GreaterOrEqual(t, world.Now().Sub(began), 2*time.Second)
			require.LessOrEqual(t, world.Now().Sub(began), 3*time.Second)
		}
	}
	require.Equal(t, []string{"model_rate_limit", "model_connection_error", "model_rate_limit"}, codes)
	thought, ok := next(one, answers).(*messages.Thought)
	require.True(t, ok)
	require.Equal(t, "here", thought.Text)
	require.Equal(t, 4, thought.Attempts)
	require.Len(t, one.server.Requests(), 3)
}

// next takes what comes next, within the test's time.
func next(b *bundle, from <-chan any) any {
	b.t.Helper()
	select {
	case m := <-from:
		return m
	case <-b.ctx.Done():
		require.FailNow(b.t, "nothing came")
		return nil
	}
}

// keeper passes messages on to a channel; with a child it sends it Thinks.
func keeper(to chan<- any, child *actor.Props) actor.Producer {
	return func() actor.Actor {
		var pid *actor.PID
		return actor.ReceiveFunc(func(ctx actor.Context) {
			switch m := ctx.Message().(type) {
			case *actor.Started:
				if child != nil {
					pid = ctx.Spawn(child)
				}
			case *messages.Think:
				ctx.Send(pid, m)
			case actor.SystemMessage, actor.AutoReceiveMessage:
			default:
				to <- m
			}
		})
	}
}

// A whole answer leaves its connection for the next call, also when its end
// comes a moment after [DONE]. The client's clock stands still, so that the
// moment may be as long as it likes.
func TestConnectionIsKept(t *testing.T) {
	opened := make(chan struct{}, 10)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.Write([]byte("data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"))
		w.(http.Flusher).Flush()
		<-time.After(5 * time.Millisecond)
	}))
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			opened <- struct{}{}
		}
	}
	server.Start()
	defer server.Close()
	client := newClient(t, server.URL, inWorld(worldtest.New(1)))
	for range 5 {
		_, err := client.Stream(t.Context(), question(), func(model.Delta) {})
		require.NoError(t, err)
	}
	require.Len(t, opened, 1)
}

// A server that stays open after [DONE] delays nothing.
func TestOpenAfterDone(t *testing.T) {
	b := handler(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.Write([]byte("data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: [DONE]\n\n"))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	ctx, cancel := context.WithTimeout(b.ctx, time.Second)
	defer cancel()
	reply, err := b.client.Stream(ctx, question(), func(model.Delta) {})
	require.NoError(t, err)
	require.Equal(t, "a", reply.Text)
}
