package troupe_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe"
	"github.com/troupe-go/troupe/messages"
)

// What comes from Go is held to the bounds of a configuration file.
func TestValuesAreChecked(t *testing.T) {
	for name, change := range map[string]func(*troupe.Config){
		"lang":            func(c *troupe.Config) { c.Lang = "fr" },
		"agent's lang":    func(c *troupe.Config) { c.Agents[0].Lang = "fr" },
		"output protocol": func(c *troupe.Config) { c.Agents[0].OutputProtocol = "weird" },
		"max steps":       func(c *troupe.Config) { c.Agents[0].MaxSteps = -1 },
		"max executors":   func(c *troupe.Config) { c.Limits.MaxExecutors = -1 },
		"max runs":        func(c *troupe.Config) { c.Limits.MaxRuns = -1 },
	} {
		t.Run("node: "+name, func(t *testing.T) {
			cfg := config("http://127.0.0.1:1/v1")
			change(&cfg)
			_, err := troupe.New(cfg)
			require.Equal(t, "invalid_value", code(t, err))
		})
	}
	s := setup(t, says("Hello."))
	for name, req := range map[string]troupe.RunRequest{
		"lang":       {Lang: "fr"},
		"max steps":  {Overrides: messages.Overrides{MaxSteps: -1}},
		"definition": {Overrides: messages.Overrides{Definition: &messages.AgentConfig{Name: "a", ModelName: "main", OutputProtocol: "weird"}}},
	} {
		t.Run("run: "+name, func(t *testing.T) {
			req.Query = "Hello?"
			_, err := s.Start(s.ctx, req)
			require.Equal(t, "invalid_value", code(t, err))
		})
	}
	t.Run("stop", func(t *testing.T) {
		s := setup(t, hangs)
		accepted, err := s.Start(s.ctx, troupe.RunRequest{Query: "Hello?"})
		require.NoError(t, err)
		_, err = s.Stop(s.ctx, messages.Stop{Run: accepted.Run, After: "weird"})
		require.Equal(t, "stop_after", code(t, err))
	})
}

// A folder of an earlier process is neither worked in nor removed.
func TestFolderFromBefore(t *testing.T) {
	s := setup(t, says("Hello."))
	dir := s.Workspace("mine")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	report := filepath.Join(dir, "report.txt")
	require.NoError(t, os.WriteFile(report, []byte("kept"), 0o600))
	_, err := s.Start(s.ctx, troupe.RunRequest{Run: "mine", Query: "Hello?"})
	require.Equal(t, "run_exists", code(t, err))
	require.FileExists(t, report)
}

// A node that is cut off ends those who watch.
func TestWatchEndsWithItsNode(t *testing.T) {
	node, err := troupe.New(config(serve(t, hangs).URL()))
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	accepted, err := node.Start(ctx, troupe.RunRequest{Query: "Hello?"})
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() {
		var last error
		for _, err := range node.Watch(context.Background(), accepted.Run, 0) {
			last = err
		}
		ended <- last
	}()
	now, cut := context.WithCancel(ctx)
	cut()
	require.Error(t, node.Close(now))
	select {
	case <-ended: // with the run's end, or with the node's
	case <-ctx.Done():
		require.Fail(t, "a watcher hangs")
	}
}

// In a caller's workspace a run removes what it put there, and nothing else.
func TestCallersWorkspaceIsTheCallers(t *testing.T) {
	dir := t.TempDir()
	thesis := filepath.Join(dir, "inputs-2024", "thesis.txt")
	require.NoError(t, os.MkdirAll(filepath.Dir(thesis), 0o700))
	require.NoError(t, os.WriteFile(thesis, []byte("years of work"), 0o600))
	s := setup(t, says("Hello."))
	in := messages.Overrides{Workspace: dir}
	s.run(troupe.RunRequest{Run: "2024", Query: "Hello?", Overrides: in})
	require.FileExists(t, thesis)
	attached := []messages.Attachment{{Name: "thesis.txt", Data: []byte("x")}}
	_, err := s.Start(s.ctx, troupe.RunRequest{Run: "2024b", Query: "Hello?", Overrides: in, Attachments: attached,
		Metadata: map[string]any{"x": func() {}}})
	if err == nil { // metadata is looked at where an agent may see it
		s.watch("2024b")
	}
	gone(t, filepath.Join(dir, "inputs-2024b"))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "inputs-2025"), 0o700))
	_, err = s.Start(s.ctx, troupe.RunRequest{Run: "2025", Query: "Hello?", Overrides: in, Attachments: attached})
	require.Equal(t, "run_exists", code(t, err))
	require.FileExists(t, thesis)
}
