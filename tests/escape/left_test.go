//go:build linux && integration

package escape

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/actors/python/local"
	"github.com/troupe-go/troupe/messages"
)

// TestNothingIsLeftOfCancelledStarts cancels starts at every moment.
func TestNothingIsLeftOfCancelledStarts(t *testing.T) {
	d, err := local.New(local.Config{CacheDir: cacheFolder(t)})
	require.NoError(t, err)
	defer d.Close()
	requireWorks(t, d)
	before := outsideOf(t)
	failed := 0
	for wait := time.Duration(0); wait < 60*time.Millisecond; wait += 2 * time.Millisecond {
		ctx, cancel := context.WithTimeout(t.Context(), wait)
		it, err := d.Start(ctx, python.NewSpec(messages.SandboxConfig{}, nil, nil, messages.EN))
		if err != nil {
			failed++
		} else {
			it.Close()
		}
		cancel()
		require.Eventually(t, func() bool { return len(children(os.Getpid())) == 0 }, waitTime, pollTime)
	}
	require.Positive(t, failed)
	require.Equal(t, before, outsideOf(t))
	requireWorks(t, d)
}

// TestChildrenEndWithTheirParent kills a node's process, which can do nothing
// about it: its interpreters end, in whatever they are.
func TestChildrenEndWithTheirParent(t *testing.T) {
	for _, s := range []situation{{Name: "parent-root"}, {Name: "parent-user", User: ordinary}, {Name: "parent-root-no-namespaces", NoNamespaces: true}} {
		t.Run(s.Name, func(t *testing.T) {
			if inside := os.Getenv(insideVar); inside != "" {
				if inside == s.Name {
					beParent(t)
				}
				return
			}
			cmd := s.command(t, pattern(t), 1)
			out, err := cmd.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			defer cmd.Wait() // it was killed
			lines := bufio.NewScanner(out)
			var pids []int
			for lines.Scan() {
				list, ok := strings.CutPrefix(lines.Text(), "interpreters ")
				for _, field := range strings.Fields(list) {
					if pid, err := strconv.Atoi(field); ok && err == nil {
						pids = append(pids, pid)
					}
				}
				if ok {
					break
				}
			}
			require.Len(t, pids, 3)
			for _, pid := range pids {
				require.True(t, lives(pid))
			}
			require.NoError(t, unix.Kill(cmd.Process.Pid, unix.SIGKILL))
			for _, pid := range pids {
				require.Eventually(t, func() bool { return !lives(pid) }, waitTime, pollTime)
			}
		})
	}
}

// beParent has an interpreter that computes, one that swallows all it can and
// one that has nothing to do, until it is killed.
func beParent(t *testing.T) {
	d := openLocal(t)
	long := func(s *python.Spec) { s.Timeout = time.Minute }
	var pids []any
	for _, code := range []string{"while True: pass", "upper('x')\nwhile True:\n    try:\n        while True: pass\n    except BaseException: pass", ""} {
		b := begin(t, d, long)
		pids = append(pids, b.pid())
		if code != "" {
			go b.it.Exec(context.Background(), python.Block{Code: code}, b.stubs) // there is nobody left to tell
		}
	}
	fmt.Println(append([]any{"interpreters"}, pids...)...)
	<-t.Context().Done()
}

// lives reports whether a process runs; one that nobody has reaped doesn't.
func lives(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	state := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))[0]
	return state != "Z" && state != "X"
}
