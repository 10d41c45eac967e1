package openai_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/model"
	"github.com/troupe-go/troupe/actors/system"
	"github.com/troupe-go/troupe/bridge/openai"
	"github.com/troupe-go/troupe/messages"
	"github.com/troupe-go/troupe/tests/scripted"
)

const testKey = "sk-test-0123456789"

// bundle is a client and the scripted model it asks.
type bundle struct {
	t      *testing.T
	ctx    context.Context
	server *scripted.Server
	client *openai.Client
	deltas []model.Delta
}

// option changes the definition, or the world when it sets the second.
type option func(*openai.Config)

func define(f func(*messages.ModelConfig)) option {
	return func(c *openai.Config) { f(&c.Model) }
}

func inWorld(w system.World) option { return func(c *openai.Config) { c.World = w } }

func setup(t *testing.T, script string, opts ...option) *bundle {
	t.Helper()
	parsed, err := scripted.Parse([]byte(script))
	require.NoError(t, err)
	server, err := scripted.Start(parsed)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	b := &bundle{t: t, server: server, client: newClient(t, server.URL(), opts...)}
	var cancel context.CancelFunc
	b.ctx, cancel = context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return b
}

func newClient(t *testing.T, url string, opts ...option) *openai.Client {
	t.Helper()
	cfg := openai.Config{Model: messages.ModelConfig{CiteName: "main", ModelName: "scripted", URL: url, APIKey: testKey}}
	for _, opt := range opts {
		opt(&cfg)
	}
	client, err := openai.New(cfg)
	require.NoError(t, err)
	t.Cleanup(client.Close)
	return client
}

func question() *model.Request {
	return &model.Request{Messages: []messages.ChatMessage{messages.NewChatMessage("user", "hello", nil)}}
}

// ask streams one answer and keeps its deltas.
func (b *bundle) ask(req *model.Request) (*model.Reply, error) {
	b.deltas = nil
	return b.client.Stream(b.ctx, req, func(d model.Delta) { b.deltas = append(b.deltas, d) })
}

// answer is ask that must succeed.
func (b *bundle) answer() *model.Reply {
	b.t.Helper()
	reply, err := b.ask(question())
	require.NoError(b.t, err)
	return reply
}

// refused is ask that must fail with a Fault.
func (b *bundle) refused() *messages.Fault {
	b.t.Helper()
	reply, err := b.ask(question())
	require.Nil(b.t, reply)
	return faultOf(b.t, err)
}

func faultOf(t *testing.T, err error) *messages.Fault {
	t.Helper()
	var f *messages.Fault
	require.ErrorAs(t, err, &f)
	require.NotEmpty(t, f.ZH)
	return f
}

// contents are the texts of the deltas.
func (b *bundle) contents() []string {
	var out []string
	for _, d := range b.deltas {
		if d.Content != "" {
			out = append(out, d.Content)
		}
	}
	return out
}

func (b *bundle) reasonings() []string {
	var out []string
	for _, d := range b.deltas {
		if d.Reasoning != "" {
			out = append(out, d.Reasoning)
		}
	}
	return out
}
