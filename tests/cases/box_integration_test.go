//go:build integration && linux

package cases

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe"
	"github.com/troupe-go/troupe/messages"
)

// boxCases are the cases of the walls around code, in whole runs.
func boxCases() cases {
	return cases{
		"BOX-01": boxEnvironment,
		"BOX-02": boxFormats,
		"BOX-06": boxProcesses,
		"BOX-08": boxLeftovers,
	}
}

// canary is in the environment of the node, and must be in nothing that a run
// gives.
const canary = "leak-42"

// walled is a node whose walls all stand, with no interpreter but its runs'.
func walled(cfg *troupe.Config) {
	none := 0
	cfg.Sandbox = messages.SandboxConfig{WarmInterpreters: &none}
	cfg.Agents[0].MaxSteps = 20
}

// requireNoCanary looks for the canary in all that watchers and models read.
func (s *stage) requireNoCanary(tr trace) {
	s.t.Helper()
	for i := range tr {
		require.NotContains(s.t, string(tr[i].AppendJSON(nil)), canary)
	}
	for _, r := range s.model.Requests() {
		require.NotContains(s.t, string(r.Body), canary)
	}
}

// boxEnvironment walks past the filters to the environment: there is none.
func boxEnvironment(t *testing.T) {
	t.Setenv("CANARY", canary)
	tries := []string{
		"import os\nprint(os.environ)",
		"print(__import__('o'+'s').environ)",
		"from os import environ as e\nprint(e)",
		"w = [c for c in ().__class__.__base__.__subclasses__() if c.__name__ == '_wrap_close'][0]\nprint(w.__init__.__globals__['environ'])\nw.__init__.__globals__['system']('env')",
		"import random\nprint(random._os.environ)\nfor p in random._os.listdir('/proc'):\n    print(random._os.sys.modules['builtins'].open('/proc/' + p + '/environ').read())",
	}
	s := play(t, steps(append(tries, "print('goes on')\nfinal_answer('here')")...), walled)
	tr := s.perform()
	tr.answered(t, "here")
	s.requireNoCanary(tr)
	for i := range tries {
		require.Contains(t, s.observation(i+1), "Error in line", "try %d", i+1)
	}
	require.Contains(t, tr.text(messages.ExecutionLogs), "goes on")
}

// boxFormats prints what formats and bound methods reach: it is the guest's.
func boxFormats(t *testing.T) {
	t.Setenv("CANARY", canary)
	s := play(t, steps("print('{0.__class__.__mro__}'.format(1)); print(type(1).mro())",
		"print('{0._os.environ}'.format(__import__('random')))", "print('goes on')\nfinal_answer('here')"), walled)
	tr := s.perform()
	tr.answered(t, "here")
	s.requireNoCanary(tr)
	require.Contains(t, s.observation(1), "<class 'int'>")
	require.Contains(t, s.observation(2), "PYTHONHOME", "the environment is the guest's")
}

// boxProcesses tries to start processes: the interpreter never has a child.
func boxProcesses(t *testing.T) {
	tries := []string{
		"from os import system as f\nf('id')",
		"import random\nos = random._os\ngetattr(os,'sys'+'tem')('id')",
		"import random\nos = random._os\nos.posix_spawn('/bin/id',['id'],{})",
		"import pty\npty.spawn('id')",
		"import asyncio\nasyncio.run(asyncio.create_subprocess_shell('id'))",
		"!id", "%system id", "%%bash\nid",
	}
	s := play(t, steps(append(tries, "final_answer('here')")...), walled)
	most := countDescendants(t)
	tr := s.perform()
	interpreters, theirs := most()
	tr.answered(t, "here")
	require.Equal(t, 1, interpreters, "the count sees processes")
	require.Zero(t, theirs, "an interpreter has started a process")
	for i := range tries {
		require.Contains(t, s.observation(i+1), "Error", "try %d", i+1)
		require.NotContains(t, s.observation(i+1), "uid=")
	}
}

// countDescendants counts this process's children, and theirs, until the
// function that it gives is called, which gives the most of both.
func countDescendants(t *testing.T) func() (own, theirs int) {
	done := make(chan struct{})
	var all sync.WaitGroup
	own, theirs := 0, 0
	all.Go(func() {
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for {
			list := children(t)
			own = max(own, len(list))
			for _, pid := range list {
				tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid)) // the pattern is well formed
				for _, task := range tasks {
					if text, err := os.ReadFile(task); err == nil { // else it has ended
						theirs = max(theirs, len(strings.Fields(string(text))))
					}
				}
			}
			select {
			case <-tick.C:
			case <-done:
				return
			}
		}
	})
	return func() (int, int) {
		close(done)
		all.Wait()
		return own, theirs
	}
}

// boxLeftovers runs to a good end, to an exception and to a stop in the middle
// of a step: nothing stays, and no answer waits for the cleaning.
func boxLeftovers(t *testing.T) {
	began := make(chan struct{}, 1)
	mark := goTool(t, "mark", func(context.Context, struct{}) (string, error) { began <- struct{}{}; return "", nil })
	const good, bad, stuck = "mark()\nfinal_answer('good')", "mark()\nraise ValueError('bad')", "mark()\nimport time\ntime.sleep(60)"
	var kinds, texts []string
	for range 5 {
		kinds = append(kinds, good, bad, good, stuck)
		texts = append(texts, code(good), code(bad), "done", code(good), code(stuck))
	}
	s := play(t, says(texts...), walled, goTools(mark))
	listening := sockets(t)
	for _, kind := range kinds {
		asked := time.Now()
		run := s.start(troupe.RunRequest{Query: "Play your part."})
		<-began
		if kind == stuck {
			s.stopNow(run, 2*time.Second)
			continue
		}
		tr := s.watch(run, 0)
		require.Equal(t, messages.StatusAnswered, tr.last().Status)
		require.Less(t, time.Since(asked), 10*time.Second, "cleaning blocks the answer")
	}
	require.Eventually(t, func() bool {
		folders, err := os.ReadDir(filepath.Join(s.config.DataDir, "runs"))
		return (err == nil || errors.Is(err, os.ErrNotExist)) && len(folders) == 0 && len(children(t)) == 0
	}, 5*time.Second, 10*time.Millisecond)
	require.Equal(t, listening, sockets(t))
}

// sockets gives the addresses that somebody in this network listens on, those
// of this process.
func sockets(t *testing.T) []string {
	mine := map[string]bool{}
	entries, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	for _, e := range entries {
		if to, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil { // else it was the folder itself
			mine[to] = true
		}
	}
	var list []string
	for _, file := range []string{"/proc/self/net/tcp", "/proc/self/net/tcp6", "/proc/self/net/udp", "/proc/self/net/udp6"} {
		text, err := os.ReadFile(file)
		if errors.Is(err, os.ErrNotExist) { // no such family
			continue
		}
		require.NoError(t, err)
		for _, line := range strings.Split(string(text), "\n") {
			const stateListens, stateOpen = "0A", "07"
			f := strings.Fields(line)
			if len(f) > 9 && (f[3] == stateListens || f[3] == stateOpen) && mine["socket:["+f[9]+"]"] {
				list = append(list, f[1])
			}
		}
	}
	slices.Sort(list)
	return list
}
