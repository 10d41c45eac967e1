//go:build (linux || darwin) && (amd64 || arm64)

package supervisor_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/python/local"
	"github.com/troupe-go/troupe/messages"
)

// TestTakeoverOfRealPython loses the agent in mid-block, while an outside
// effect runs, and again between two blocks: each time the next owner's
// interpreter has what the blocks before computed, chance included.
func TestTakeoverOfRealPython(t *testing.T) {
	cache, err := os.UserCacheDir()
	require.NoError(t, err)
	d, err := local.New(local.Config{CacheDir: filepath.Join(cache, "troupe", "python"), Sandbox: messages.SandboxConfig{Unsafe: true}})
	require.NoError(t, err)
	defer d.Close()
	require.NoError(t, d.Prepare(t.Context()))
	h := setup(t, messages.Limits{})
	h.driver = d
	run := h.start(messages.RunAgent{})

	h.next().answer <- code("import random\nx = [random.random(), 40]\ndef f(n): return n + 2\nprint(x[0])")
	q := h.next()
	drawn := strings.TrimSpace(strings.TrimPrefix(strings.SplitN(q.last, "Last output", 2)[0], "Execution logs:\n"))
	require.NotEmpty(t, drawn)

	q.answer <- code("try:\n    work()\n    r = 'worked'\nexcept ToolOutcomeUnknown:\n    r = 'unknown'\nprint(r, f(x[1]), x[0])")
	h.begun()
	h.system.Root().Stop(h.agent())
	q = h.next()
	require.Contains(t, q.last, "unknown 42 "+drawn)

	h.system.Root().Send(h.agent(), (*messages.Thought)(nil)) // the agent panics
	q = h.next()
	q.answer <- code("print(r, f(x[1]), x[0], random.random() != x[0])")
	q = h.next()
	require.Contains(t, q.last, "unknown 42 "+drawn+" True")
	require.NotContains(t, q.last, "The interpreter was replaced")
	q.answer <- "Done."
	events := h.watch(run)
	require.Equal(t, messages.StatusAnswered, events[len(events)-1].Status)
	require.EqualValues(t, 1, h.tool.calls.Load(), "an effect begins at most once")
}
