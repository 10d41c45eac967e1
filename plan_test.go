package troupe_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe"
	"github.com/troupe-go/troupe/actors/tool"
	"github.com/troupe-go/troupe/messages"
)

// A tool written in Go is one object for all runs: the node does not close it.
func TestGoTools(t *testing.T) {
	own := &closer{Tool: greet(t)}
	s := setup(t, acts("greet {}\nfinal over"), func(c *troupe.Config) {
		c.GoTools, c.Agents[0].Tools = []tool.Tool{own}, []string{"greet"}
	})
	for range 2 {
		require.Equal(t, "over", last(s.run(troupe.RunRequest{})).Content)
	}
	require.Contains(t, s.model.Requests()[0].Messages[0].Text, "def greet() -> str", "the model is told of it")
	require.NoError(t, s.Close(s.ctx))
	require.False(t, own.closed)
}

type closer struct {
	tool.Tool
	closed bool
}

func (c *closer) Close() error { c.closed = true; return nil }

// The language is the request's, else the agent's, else the node's, else
// Chinese.
func TestLang(t *testing.T) {
	for name, c := range map[string]struct{ asked, agent, node, step string }{
		"nobody says": {"", "", "", "步骤"},
		"the node":    {"", "", "en", "Step"},
		"the agent":   {"", "zh", "en", "步骤"},
		"the request": {"en", "zh", "zh", "Step"},
	} {
		t.Run(name, func(t *testing.T) {
			s := setup(t, says("Hello."), func(cfg *troupe.Config) { cfg.Lang, cfg.Agents[0].Lang = c.node, c.agent })
			require.Contains(t, of(s.run(troupe.RunRequest{Lang: c.asked}), messages.StepCount)[0].Content, c.step)
		})
	}
}

func TestAgents(t *testing.T) {
	s := setup(t, says("Hello."), func(c *troupe.Config) {
		c.Agents[0].Instructions = "Be the first."
		c.Agents = append(c.Agents, messages.AgentConfig{Name: "other", ModelName: "main", Instructions: "Be the other."})
	})
	s.run(troupe.RunRequest{})
	s.run(troupe.RunRequest{Agent: "other"})
	require.Contains(t, s.model.Requests()[0].Messages[0].Text, "Be the first.")
	require.Contains(t, s.model.Requests()[1].Messages[0].Text, "Be the other.")
}

// What one run may replace, for itself only.
func TestOverrides(t *testing.T) {
	second := func(c *troupe.Config) {
		m := c.Models[0]
		m.CiteName, m.ModelName = "second", "second"
		c.Models = append(c.Models, m)
	}
	s := setup(t, acts("greet {}"), second, func(c *troupe.Config) {
		c.GoTools, c.Agents[0].Tools = []tool.Tool{greet(t)}, []string{"greet"}
	})
	models := func() (names []string) {
		for _, r := range s.model.Requests() {
			names = append(names, r.Model)
		}
		return names
	}
	require.Equal(t, messages.StatusAnswered, last(s.run(troupe.RunRequest{})).Status)
	require.Equal(t, messages.StatusAnswered, last(s.run(troupe.RunRequest{Overrides: messages.Overrides{Model: "second"}})).Status)
	require.Equal(t, []string{"scripted", "scripted", "second", "second"}, models())
	require.Equal(t, messages.StatusMaxSteps, last(s.run(troupe.RunRequest{Overrides: messages.Overrides{MaxSteps: 1}})).Status)

	own := &messages.AgentConfig{Name: "worker", ModelName: "main", Instructions: "Be somebody else."}
	events := s.run(troupe.RunRequest{Overrides: messages.Overrides{Definition: own}})
	require.Contains(t, of(events, messages.Warning)[0].Content, `no tool named "greet"`)
	require.Contains(t, s.model.Requests()[6].Messages[0].Text, "Be somebody else.")

	short := &messages.SandboxConfig{ObservationLimit: 512}
	s.run(troupe.RunRequest{Overrides: messages.Overrides{Sandbox: short}})
	require.Equal(t, messages.StatusAnswered, last(s.run(troupe.RunRequest{})).Status)
	require.NotContains(t, s.model.Requests()[11].Messages[0].Text, "Be somebody else.", "the next run is the agent's own again")
}

// A run's own models are tried before the node's, and are let go at its end.
func TestModelsOfOneRun(t *testing.T) {
	s := setup(t, says("From the node."))
	provider := newProvider(t)
	own := []messages.ModelConfig{{CiteName: "own", ModelName: "own", URL: provider.URL + "/v1", ConcurrencyLimit: 1}}
	for range 3 {
		events := s.run(troupe.RunRequest{Overrides: messages.Overrides{Models: own}})
		require.Equal(t, "From the run's own.", last(events).Content)
		provider.closed(s.ctx)
		own[0].ConcurrencyLimit++ // a limit of a run that is over binds no other
	}
	require.Empty(t, s.model.Requests())
	require.Equal(t, "From the node.", last(s.run(troupe.RunRequest{})).Content)

	named := messages.Overrides{Models: own, Model: "own"}
	require.Equal(t, "From the run's own.", last(s.run(troupe.RunRequest{Overrides: named})).Content)
}

// provider is a model whose connections a test counts.
type provider struct {
	*httptest.Server
	t       *testing.T
	mu      sync.Mutex
	open    map[net.Conn]bool
	changed chan struct{}
}

func newProvider(t *testing.T) *provider {
	p := &provider{t: t, open: map[net.Conn]bool{}, changed: make(chan struct{}, 64)}
	p.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		hello(w)
	}))
	p.Config.ConnState = func(c net.Conn, state http.ConnState) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if state == http.StateClosed {
			delete(p.open, c)
		} else {
			p.open[c] = true
		}
		p.changed <- struct{}{}
	}
	p.Start()
	t.Cleanup(p.Close)
	return p
}

// closed waits until no connection is open.
func (p *provider) closed(ctx context.Context) {
	p.t.Helper()
	for {
		p.mu.Lock()
		n := len(p.open)
		p.mu.Unlock()
		if n == 0 {
			return
		}
		select {
		case <-p.changed:
		case <-ctx.Done():
			require.FailNow(p.t, "a connection to the run's own model is still open")
		}
	}
}

// Models that share a key share its limit, over all runs.
func TestConcurrencyLimit(t *testing.T) {
	var mu sync.Mutex
	now, most := 0, 0
	came, answer := make(chan struct{}, 8), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		now++
		most = max(most, now)
		mu.Unlock()
		came <- struct{}{}
		<-answer
		mu.Lock()
		now--
		mu.Unlock()
		hello(w)
	}))
	t.Cleanup(server.Close)
	s := setup(t, hangs, func(c *troupe.Config) { c.Models[0].URL, c.Models[0].ConcurrencyLimit = server.URL+"/v1", 2 })
	const runs = 5
	var ids []string
	for range runs {
		a, err := s.Start(s.ctx, troupe.RunRequest{Query: "x"})
		require.NoError(t, err)
		ids = append(ids, a.Run)
	}
	for i := range runs {
		select {
		case <-came:
		case <-s.ctx.Done():
			require.FailNow(t, "not every run was asked")
		}
		if i > 0 { // two are there: one may go
			answer <- struct{}{}
		}
	}
	answer <- struct{}{}
	for _, id := range ids {
		require.Equal(t, messages.StatusAnswered, last(s.watch(id)).Status)
	}
	require.Equal(t, 2, most)
}

// hello is a whole streamed answer.
func hello(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprint(w, `data: {"choices":[{"index":0,"delta":{"content":"From the run's own."},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
}

// A caller's metadata is shown as data, and only where the agent allows it.
func TestMetadata(t *testing.T) {
	for name, allowed := range map[string]bool{"allowed": true, "not allowed": false} {
		t.Run(name, func(t *testing.T) {
			s := setup(t, says("Hello."), func(c *troupe.Config) { c.Agents[0].AllowChatMetadata = allowed })
			s.run(troupe.RunRequest{Query: "Do it.", Metadata: map[string]any{"customer": 7}})
			text := lastMessage(s)
			require.Equal(t, allowed, strings.Contains(text, `<runtime_metadata trust="untrusted-data">{"customer":7}</runtime_metadata>`), text)
			require.Regexp(t, `^\[Current time: \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\]\n\nDo it\.`, text)
		})
	}
}

func lastMessage(s *stage) string {
	s.t.Helper()
	list := s.model.Requests()[0].Messages
	return list[len(list)-1].Text
}

// Attachments: texts stand in the query within the budget, images go to a
// model that takes them, and every file has its place in the workspace. In a
// folder of the caller's that place is one of its own, and goes with the run.
func TestAttachments(t *testing.T) {
	png, err := base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==")
	require.NoError(t, err)
	files := []messages.Attachment{
		{Name: "short.txt", Data: []byte("seven words")},
		{Name: "../long.txt", Data: []byte(strings.Repeat("too long ", 20))},
		{Name: "dot.png", Data: png},
	}
	for name, images := range map[string]bool{"a model that takes images": true, "one that does not": false} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := setup(t, says("Hello."), func(c *troupe.Config) {
				c.Models[0].Images, c.Agents[0].AttachmentInlineBytes = images, 50
			})
			s.run(troupe.RunRequest{Run: "r", Query: "Look.", Attachments: files, Overrides: messages.Overrides{Workspace: dir}})
			text := lastMessage(s)
			require.Contains(t, text, "seven words")
			require.NotContains(t, text, "too long")
			for _, place := range []string{"inputs-r/001_short.txt", "inputs-r/002_long.txt", "inputs-r/003_dot.png"} {
				require.Contains(t, text, place)
			}
			gone(t, filepath.Join(dir, "inputs-r"))
			var body struct {
				Messages []struct{ Content json.RawMessage }
			}
			require.NoError(t, json.Unmarshal(s.model.Requests()[0].Body, &body))
			sent := string(body.Messages[1].Content)
			require.Equal(t, images, strings.Contains(sent, `"image_url":{"url":"data:image/png;base64,`), sent)
		})
	}
}
