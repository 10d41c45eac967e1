package troupe_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe"
	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/messages"
)

// specs is a toy that tells what its interpreters are started with.
type specs struct {
	toy
	started chan python.Spec
}

func (d specs) Start(ctx context.Context, s python.Spec) (python.Interpreter, error) {
	d.started <- s
	return d.toy.Start(ctx, s)
}

// A run may have less than its node's limits, and never more.
func TestSandboxOfARun(t *testing.T) {
	driver := specs{started: make(chan python.Spec, 1)}
	s := setup(t, acts("final over"), func(c *troupe.Config) {
		c.Driver = driver
		c.Sandbox = messages.SandboxConfig{MemoryLimitMB: 100, TimeoutSeconds: 10, OutputLimit: 8 << 10}
	})
	for name, c := range map[string]struct {
		asked  *messages.SandboxConfig
		memory int64
		limit  time.Duration
		output int
	}{
		"nothing":      {nil, 100 << 20, 10 * time.Second, 8 << 10},
		"an empty one": {&messages.SandboxConfig{}, 100 << 20, 10 * time.Second, 8 << 10},
		"less of one":  {&messages.SandboxConfig{Level: "toy", MemoryLimitMB: 50}, 50 << 20, 10 * time.Second, 8 << 10},
		"more of all":  {&messages.SandboxConfig{MemoryLimitMB: 200, TimeoutSeconds: 20, OutputLimit: 1 << 20}, 100 << 20, 10 * time.Second, 8 << 10},
		"less of all":  {&messages.SandboxConfig{MemoryLimitMB: 64, TimeoutSeconds: 0.5, OutputLimit: 4 << 10}, 64 << 20, time.Second / 2, 4 << 10},
		"less than 0":  {&messages.SandboxConfig{MemoryLimitMB: -1, TimeoutSeconds: -1, OutputLimit: -1}, 100 << 20, 10 * time.Second, 8 << 10},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, "over", last(s.run(troupe.RunRequest{Overrides: messages.Overrides{Sandbox: c.asked}})).Content)
			got := <-driver.started
			require.Equal(t, []any{c.memory, c.limit, c.output}, []any{got.MemoryLimit, got.Timeout, got.OutputLimit})
		})
	}
	for want, asked := range map[string]messages.SandboxConfig{
		"sandbox_level":  {Level: messages.SandboxDocker},
		"sandbox_unsafe": {Unsafe: true},
	} {
		_, err := s.Start(s.ctx, troupe.RunRequest{Query: "x", Overrides: messages.Overrides{Sandbox: &asked}})
		require.Equal(t, want, code(t, err))
	}
	require.Empty(t, driver.started)
}

// Workspace tells where the files of a run are that names no folder.
func TestWorkspaceOfARun(t *testing.T) {
	s := setup(t, hangs)
	accepted, err := s.Start(s.ctx, troupe.RunRequest{Query: "Look.", Attachments: []messages.Attachment{{Name: "a.txt", Data: []byte("a")}}})
	require.NoError(t, err)
	require.FileExists(t, filepath.Join(s.Workspace(accepted.Run), "inputs", "001_a.txt"))
}

// The interpreter is unpacked where the caller says, not where the user's
// environment does.
func TestCacheDir(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv("HOME", "")
	cfg := config("http://127.0.0.1:1/v1")
	cfg.Driver, cfg.AllowMissingWalls = nil, true
	_, err := troupe.New(cfg)
	require.Equal(t, "cache_dir", code(t, err))

	file := filepath.Join(t.TempDir(), "file") // nothing can be unpacked into it
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	s := setup(t, acts("1"), func(c *troupe.Config) {
		c.Driver, c.AllowMissingWalls, c.CacheDir = nil, true, file
	})
	events := s.run(troupe.RunRequest{})
	last := events[len(events)-1]
	require.Equal(t, messages.StatusFailed, last.Status)
	require.Equal(t, "sandbox_cache", last.ErrorCode, "a person has to mend it: no further steps are spent")
}
