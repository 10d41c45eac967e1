package main

import (
	"bytes"
	"context"
	"flag"
	"iter"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/messages"
)

var update = flag.Bool("update", false, "write the golden files")

// fakeNode plays events. With hold set, it waits before the last one until a
// stop of that form comes.
type fakeNode struct {
	events []messages.Event
	err    error // ends the run after the events
	hold   messages.StopAfter

	started  chan struct{} // closed when the held run waits
	released chan struct{}
	stops    chan messages.Stop
	stopErr  error
	closing  chan struct{} // Close says here that it has come, and waits for it to be closed; nil: it doesn't

	mu     sync.Mutex
	req    messages.RunAgent
	closed int
}

func (n *fakeNode) Run(ctx context.Context, req messages.RunAgent) iter.Seq2[messages.Event, error] {
	return func(yield func(messages.Event, error) bool) {
		n.mu.Lock()
		n.req = req
		n.mu.Unlock()
		for _, ev := range n.events {
			if ev.Last() && n.hold != "" {
				close(n.started)
				select {
				case <-n.released:
				case <-ctx.Done():
					yield(messages.Event{}, ctx.Err())
					return
				}
			}
			if !yield(ev, nil) {
				return
			}
		}
		if n.err != nil {
			yield(messages.Event{}, n.err)
		}
	}
}

func (n *fakeNode) Stop(ctx context.Context, s messages.Stop) (messages.Stopped, error) {
	n.stops <- s
	if n.stopErr != nil {
		return messages.Stopped{}, n.stopErr
	}
	if s.After == n.hold {
		close(n.released)
		return messages.Stopped{Run: s.Run, Status: messages.StatusStopped}, nil
	}
	<-ctx.Done() // a milder stop takes effect later, here never
	return messages.Stopped{}, ctx.Err()
}

func (n *fakeNode) Sandbox() python.Description {
	return python.Description{Level: "local", Version: "CPython 3.14.6", Walls: []string{"landlock", "rlimits"},
		Missing: []python.Wall{{Name: "seccomp", Why: "the kernel has none", Advice: "use a newer kernel"}}}
}

func (n *fakeNode) Workspace(run string) string { return filepath.FromSlash("/of/node/" + run) }

func (n *fakeNode) Close(context.Context) error {
	n.closed++
	if n.closing != nil {
		n.closing <- struct{}{}
		<-n.closing
	}
	return nil
}

// bench is an app with fakes around it.
type bench struct {
	*app
	node     *fakeNode
	out, err *bytes.Buffer
	vars     map[string]string
	signals  chan os.Signal
	exited   chan int
	home     string // of the user, unless vars says otherwise
	opened   []nodeConfig
	openErr  error
	scripts  []string
	store    *fakePython
}

func setup(t *testing.T) *bench {
	t.Helper()
	b := &bench{
		out: &bytes.Buffer{}, err: &bytes.Buffer{}, vars: map[string]string{}, signals: make(chan os.Signal), exited: make(chan int, 1), home: t.TempDir(),
		store: &fakePython{},
		node: &fakeNode{
			events:  []messages.Event{last(messages.FinalAnswer, "42", messages.StatusAnswered)},
			started: make(chan struct{}), released: make(chan struct{}), stops: make(chan messages.Stop, 4),
		},
	}
	example, err := os.ReadFile("../../cluster.yaml")
	require.NoError(t, err)
	b.app = &app{
		stdin: strings.NewReader(""), stdout: b.out, stderr: b.err,
		env: func(name string) (string, bool) {
			if v, ok := b.vars[name]; ok || name != "HOME" {
				return v, ok
			}
			return b.home, true
		},
		signals: b.signals, exit: func(code int) { b.exited <- code }, grace: time.Minute,
		dir: t.TempDir(), example: string(example),
		newRunID: func() string { return "run-1" },
		open:     func(c nodeConfig) (runner, error) { b.opened = append(b.opened, c); return b.node, b.openErr },
		startScript: func(s []byte) (scriptedModel, error) {
			b.scripts = append(b.scripts, string(s))
			return fakeScript{}, nil
		},
		python:    b.store,
		buildInfo: func() (*debug.BuildInfo, bool) { return nil, false },
	}
	return b
}

type fakeScript struct{}

func (fakeScript) URL() string  { return "http://127.0.0.1:1/v1" }
func (fakeScript) Close() error { return nil }

// main runs a command line.
func (b *bench) main(args ...string) int { return b.app.main(context.Background(), args) }

// write puts a file into the app's folder.
func (b *bench) write(t *testing.T, name, text string) string {
	t.Helper()
	path := b.dir + "/" + name
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func last(kind messages.ProcessType, content string, status messages.Status) messages.Event {
	return messages.Event{Type: kind, Content: content, Status: status}
}

// golden compares text with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := "testdata/" + name
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}
