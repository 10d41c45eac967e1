package troupe_test

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe"
	"github.com/troupe-go/troupe/actors/tool"
	"github.com/troupe-go/troupe/messages"
)

// Leaving the loop stops nothing; watching again goes on from a position, and
// an ended run is watched as well.
func TestLeavingTheLoopStopsNothing(t *testing.T) {
	s := setup(t, acts("greet {}"), func(c *troupe.Config) {
		c.GoTools, c.Agents[0].Tools = []tool.Tool{greet(t)}, []string{"greet"}
	})
	var run string
	for ev, err := range s.Run(s.ctx, troupe.RunRequest{Query: "Greet."}) {
		require.NoError(t, err)
		run = ev.RunID
		break
	}
	all := s.watch(run)
	require.Equal(t, "Done.", last(all).Content)
	require.Len(t, of(all, messages.Tool), 1)
	require.Equal(t, "\"hello\"\n", of(all, messages.ExecutionLogs)[0].Content)
	require.Equal(t, all, s.watch(run), "again, the same")

	var rest []troupe.Event
	for ev, err := range s.Watch(s.ctx, run, all[2].Seq) {
		require.NoError(t, err)
		rest = append(rest, ev)
	}
	require.Equal(t, all[3:], rest)

	gone, cancel := context.WithCancel(s.ctx)
	cancel()
	for _, err := range s.Run(gone, troupe.RunRequest{Query: "x"}) {
		require.ErrorIs(t, err, context.Canceled)
	}
	for _, err := range s.Watch(s.ctx, "nobody", 0) {
		require.Equal(t, "unknown_run", code(t, err))
	}
}

func TestStop(t *testing.T) {
	s := setup(t, hangs)
	accepted, err := s.Start(s.ctx, troupe.RunRequest{Query: "x", User: "ann"})
	require.NoError(t, err)
	s.asked(1)
	_, err = s.Stop(s.ctx, messages.Stop{Run: accepted.Run, User: "bob"})
	require.Equal(t, "forbidden", code(t, err))
	_, err = s.Stop(s.ctx, messages.Stop{Run: "nobody"})
	require.Equal(t, "unknown_run", code(t, err))

	stopped, err := s.Stop(s.ctx, messages.Stop{Run: accepted.Run, After: messages.StopNow})
	require.NoError(t, err)
	require.Equal(t, messages.StatusStopped, stopped.Status)
	require.NotEmpty(t, stopped.Parts)
	require.Equal(t, messages.UserBreak, last(s.watch(accepted.Run)).Content)
	again, err := s.Stop(s.ctx, messages.Stop{Run: accepted.Run})
	require.NoError(t, err)
	require.Equal(t, messages.StatusStopped, again.Status)
}

// Close stops what runs; whoever watches sees the end; then nothing begins.
func TestClose(t *testing.T) {
	s := setup(t, hangs)
	accepted, err := s.Start(s.ctx, troupe.RunRequest{Query: "x"})
	require.NoError(t, err)
	s.asked(1)
	watched := make(chan []troupe.Event, 1)
	go func() {
		var events []troupe.Event
		for ev, err := range s.Watch(s.ctx, accepted.Run, 0) {
			if err != nil {
				break
			}
			events = append(events, ev)
		}
		watched <- events
	}()
	var closers sync.WaitGroup
	for range 3 {
		closers.Go(func() { require.NoError(t, s.Close(s.ctx)) })
	}
	closers.Wait()
	select {
	case events := <-watched:
		require.Equal(t, messages.StatusStopped, last(events).Status)
	case <-s.ctx.Done():
		require.FailNow(t, "the watcher was left waiting")
	}
	require.NoError(t, s.Close(s.ctx), "again")

	require.Equal(t, messages.UserBreak, last(s.watch(accepted.Run)).Content, "what has ended can still be watched")
	_, err = s.Start(s.ctx, troupe.RunRequest{Query: "x"})
	require.ErrorIs(t, err, messages.ErrShutdown)
	_, err = s.Stop(s.ctx, messages.Stop{Run: accepted.Run})
	require.ErrorIs(t, err, messages.ErrShutdown)
	for _, err := range s.Run(s.ctx, troupe.RunRequest{Query: "x"}) {
		require.ErrorIs(t, err, messages.ErrShutdown)
	}
}

// A Close without patience cuts off what runs.
func TestCloseWithoutPatience(t *testing.T) {
	cfg := config(serve(t, hangs).URL())
	cfg.DataDir = t.TempDir()
	node, err := troupe.New(cfg)
	require.NoError(t, err)
	_, err = node.Start(t.Context(), troupe.RunRequest{Query: "x", Overrides: messages.Overrides{Models: []messages.ModelConfig{{CiteName: "own", ModelName: "own", URL: cfg.Models[0].URL}}}})
	require.NoError(t, err)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, node.Close(gone), context.Canceled)
}

// Starts that race with Close end: with a run, or with shutting_down.
func TestStartWhileClosing(t *testing.T) {
	s := setup(t, says("Hello."))
	var starters sync.WaitGroup
	for range 8 {
		starters.Go(func() {
			for {
				if _, err := s.Start(s.ctx, troupe.RunRequest{Query: "x"}); err != nil {
					require.ErrorIs(t, err, messages.ErrShutdown)
					return
				}
			}
		})
	}
	s.asked(8)
	require.NoError(t, s.Close(s.ctx))
	starters.Wait()
}

// A temporary data folder is the node's own, a given one is not.
func TestDataDir(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	s := setup(t, says("Hello."), func(c *troupe.Config) { c.DataDir = "" })
	made, err := os.ReadDir(tmp)
	require.NoError(t, err)
	require.Len(t, made, 1)
	require.Equal(t, "Hello.", last(s.run(troupe.RunRequest{})).Content)
	require.NoError(t, s.Close(s.ctx))
	made, err = os.ReadDir(tmp)
	require.NoError(t, err)
	require.Empty(t, made)
}

// A run's folder goes with the run, unless its answer handed files over; it
// then stays as long as the run is known, and when the node ends. A folder of the caller's is his.
func TestWorkspace(t *testing.T) {
	files := func(c *troupe.Config) {
		c.Tools = []messages.ToolConfig{{Name: "create_file", ClassName: "CreateFileTool"}}
		c.Agents[0].Tools = []string{"create_file"}
		c.Limits.KeepRuns = 1
	}
	const write = `create_file {"file_path":"a.txt","content":"hi"}`

	t.Run("no files", func(t *testing.T) {
		s := setup(t, says("Hello."))
		run := last(s.run(troupe.RunRequest{Attachments: []messages.Attachment{{Name: "in.txt", Data: []byte("in")}}})).RunID
		gone(t, s.Workspace(run))
	})
	t.Run("files", func(t *testing.T) {
		s := setup(t, acts(write), files)
		events := s.run(troupe.RunRequest{})
		require.Len(t, of(events, messages.FileArtifact), 1)
		dir := s.Workspace(last(events).RunID)
		data, err := os.ReadFile(filepath.Join(dir, "a.txt"))
		require.NoError(t, err)
		require.Equal(t, "hi", string(data))
		second := s.run(troupe.RunRequest{}) // only one run is kept
		gone(t, dir)
		require.NoError(t, s.Close(s.ctx))
		require.FileExists(t, filepath.Join(s.cfg.DataDir, "runs", last(second).RunID, "a.txt"), "a data folder that was given outlives the node")
	})
	t.Run("the caller's", func(t *testing.T) {
		s := setup(t, acts(write), files)
		dir := t.TempDir()
		t.Chdir(filepath.Dir(dir))
		s.run(troupe.RunRequest{Overrides: messages.Overrides{Workspace: filepath.Base(dir)}})
		require.NoError(t, s.Close(s.ctx))
		require.FileExists(t, filepath.Join(dir, "a.txt"))
	})
}

// gone waits until a folder is away: it is removed after the last event.
func gone(t *testing.T, dir string) {
	t.Helper()
	require.Eventually(t, func() bool {
		_, err := os.Stat(dir)
		return os.IsNotExist(err)
	}, patience, tick)
}

// A request is refused for a reason, and leaves nothing.
func TestStartRefuses(t *testing.T) {
	s := setup(t, says("Hello."))
	for name, c := range map[string]struct {
		code string
		req  troupe.RunRequest
	}{
		"no query":          {"empty_query", troupe.RunRequest{Query: " \n"}},
		"unknown agent":     {"unknown_agent", troupe.RunRequest{Query: "x", Agent: "nobody"}},
		"unknown model":     {"unknown_model", troupe.RunRequest{Query: "x", Overrides: messages.Overrides{Model: "other"}}},
		"an id that climbs": {"run_id", troupe.RunRequest{Query: "x", Run: "../../etc"}},
		"metadata":          {"metadata_invalid", troupe.RunRequest{Query: "x", Metadata: map[string]any{"f": func() {}}, Overrides: messages.Overrides{Definition: &messages.AgentConfig{Name: "own", ModelName: "main", AllowChatMetadata: true}}}},
		"an own model":      {"model_invalid_config", troupe.RunRequest{Query: "x", Overrides: messages.Overrides{Models: []messages.ModelConfig{{CiteName: "own", URL: "::"}}}}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := s.Start(s.ctx, c.req)
			require.Equal(t, c.code, code(t, err))
		})
	}
	require.NoDirExists(t, filepath.Join(s.cfg.DataDir, "etc"))
	left, err := filepath.Glob(filepath.Join(s.cfg.DataDir, "runs", "*"))
	require.NoError(t, err)
	require.Empty(t, left)

	s.run(troupe.RunRequest{Run: "mine"})
	_, err = s.Start(s.ctx, troupe.RunRequest{Run: "mine", Query: "x"})
	require.Equal(t, "run_exists", code(t, err))
}

func TestIdempotency(t *testing.T) {
	s := setup(t, says("Hello."))
	first, err := s.Start(s.ctx, troupe.RunRequest{Query: "x", IdempotencyKey: "k"})
	require.NoError(t, err)
	require.False(t, first.Existing)
	second, err := s.Start(s.ctx, troupe.RunRequest{Query: "x", IdempotencyKey: "k"})
	require.NoError(t, err)
	require.Equal(t, first.Run, second.Run)
	require.True(t, second.Existing)
	require.Equal(t, "Hello.", last(s.run(troupe.RunRequest{Query: "x", IdempotencyKey: "k"})).Content)
	_, err = s.Start(s.ctx, troupe.RunRequest{Query: "y", IdempotencyKey: "k"})
	require.Equal(t, "idempotency_conflict", code(t, err))
	require.Len(t, s.model.Requests(), 1)
}

func TestQueue(t *testing.T) {
	s := setup(t, hangs, func(c *troupe.Config) { c.Limits.MaxRuns, c.Limits.QueueSize = 1, 1 })
	var runs []*messages.RunAccepted
	for range 2 {
		a, err := s.Start(s.ctx, troupe.RunRequest{Query: "x"})
		require.NoError(t, err)
		runs = append(runs, a)
	}
	require.False(t, runs[0].Queued)
	require.True(t, runs[1].Queued)
	_, err := s.Start(s.ctx, troupe.RunRequest{Query: "x"})
	require.Equal(t, "busy", code(t, err))
	s.asked(1)
	_, err = s.Stop(s.ctx, messages.Stop{Run: runs[0].Run, After: messages.StopNow})
	require.NoError(t, err)
	s.asked(2)
}
