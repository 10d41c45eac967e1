package cases

import (
	"bytes"
	"context"
	"log/slog"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe"
	"github.com/troupe-go/troupe/messages"
)

// pyCases are the cases of model-written Python.
func pyCases() cases {
	return cases{
		"PY-01": pyPrints("def f(a,*r,k=7,**o):\n    return (r,k,o)\nprint(f(1,2,3,z=4))", "((2, 3), 7, {'z': 4})"),
		"PY-02": pyPrints("print(sum(x*y for x in [1,2] for y in [3,4]))", "21"),
		"PY-03": pyPrints("def g():\n    yield 1\n    yield 2\na,*b = list(g())+[3]\nif (n:=len(b))==2:\n    print(a,b,n)", "1 [2, 3] 2"),
		"PY-06": pyOutputBeforeError,
		"PY-08": pyEndless,
		"PY-09": pyFlood,
		"PY-10": pyMarkup,
		"PY-12": pyToolNames,
	}
}

// pyPrints is a block that prints one line.
func pyPrints(code, want string) func(*testing.T) {
	return func(t *testing.T) {
		s := play(t, steps(code))
		tr := s.perform()
		tr.answered(t, "done")
		require.Equal(t, want+"\n", tr.text(messages.ExecutionLogs))
		require.Equal(t, "Execution logs:\n"+want+"\n", s.observation(1))
		require.Empty(t, tr.of(messages.Warning))
	}
}

// pyOutputBeforeError keeps what was printed, and the variables, of a block
// that fails late.
func pyOutputBeforeError(t *testing.T) {
	s := play(t, steps("print('found 3')\nx = 5\nraise ValueError('late')", "print(x)"))
	tr := s.perform()
	tr.answered(t, "done")
	require.Equal(t, "Execution logs:\nfound 3\nError in line 3: ValueError: late", s.observation(1))
	require.Equal(t, "Execution logs:\n5\n", s.observation(2))
	require.Equal(t, "found 3\n5\n", tr.text(messages.ExecutionLogs))
	require.Equal(t, "ValueError: late", tr.text(messages.Warning))
}

// pyEndless ends a block that computes for ever; its process goes with it.
func pyEndless(t *testing.T) {
	seen := make(chan []int, 2)
	look := goTool(t, "look", func(context.Context, struct{}) (int, error) {
		list := children(t)
		seen <- list
		return len(list), nil
	})
	s := play(t, steps("look()\nwhile True: pass", "look()\nprint('alive')"), goTools(look),
		func(cfg *troupe.Config) { cfg.Sandbox.TimeoutSeconds = 2 })
	tr := s.perform()
	tr.answered(t, "done")

	begun, ended := tr.of(messages.Parse)[0].Time, tr.of(messages.Warning)[0]
	require.Equal(t, "executor_timeout", ended.ErrorCode)
	require.GreaterOrEqual(t, ended.Time.Sub(begun), 2*time.Second)
	require.Less(t, ended.Time.Sub(begun), 10*time.Second, "some 3 s of a processor of its own, and other tests run too")
	require.Contains(t, s.observation(1), "it took longer than it may")
	require.Contains(t, s.observation(2), "Execution logs:\nalive\n")
	require.Contains(t, s.observation(1), "What it changed in variables is undone")

	first, second := <-seen, <-seen
	require.Len(t, first, 1)
	require.Len(t, second, 1, "the busy process is gone when the next step runs")
	require.NotEqual(t, first, second)
	require.Eventually(t, func() bool { return len(children(t)) == 0 }, 5*time.Second, 10*time.Millisecond)
}

// pyFlood bounds what a block prints, in the observation, the events and the
// node's memory, and says how much is left out.
func pyFlood(t *testing.T) {
	const observationLimit, outputLimit, busLimit = 20 << 10, 1 << 20, 1 << 20
	for name, c := range map[string]struct {
		code, head, tail string
		printed          int
	}{
		"lines":    {"for i in range(200000): print('x'*50)", strings.Repeat("x", 50) + "\n", strings.Repeat("x", 50) + "\n", 200000 * 51},
		"one line": {"print('y'*20_000_000, end='')", "yyyy", "yyyy", 20_000_000},
		"numbered": {"for i in range(100000): print(f'{i:09}')", "000000000\n000000001\n", "000099998\n000099999\n", 100000 * 10},
		"twice":    {"print('a'*700_000, end='')\nprint('b'*700_000, end='')", "aaaa", "bbbb", 1_400_000},
	} {
		t.Run(name, func(t *testing.T) {
			s := play(t, steps(c.code))
			before := resident()
			tr := s.perform()
			grown := resident() - before
			tr.answered(t, "done")
			require.Less(t, grown, int64(2*outputLimit+8<<20), "memory of the node")

			logs, ok := strings.CutPrefix(s.observation(1), "Execution logs:\n")
			require.True(t, ok)
			for what, text := range map[string]string{"observation": logs, "event": tr.text(messages.ExecutionLogs)} {
				require.LessOrEqual(t, len(text), observationLimit, what)
				require.True(t, strings.HasPrefix(text, c.head), "%s: the head is kept: %.80q", what, text)
				require.True(t, strings.HasSuffix(text, c.tail), "%s: the tail is kept: %q", what, text[len(text)-80:])
				mark := leftOut.FindStringSubmatch(text)
				require.Len(t, mark, 3, "%s: a note says how much is left out", what)
				kept := len(text) - len(mark[0])
				require.Equal(t, strconv.Itoa(c.printed-kept), mark[1], "%s: bytes left out", what)
				require.Equal(t, strconv.Itoa(c.printed), mark[2], "%s: bytes printed", what)
			}
			for i := range tr {
				require.Less(t, len(tr[i].AppendJSON(nil)), busLimit)
			}
			requests := s.model.Requests()
			require.Less(t, len(requests[1].Body)-len(requests[0].Body), observationLimit+4<<10, "the next request")
		})
	}
}

var leftOut = regexp.MustCompile(`\n\[… (\d+) of (\d+) bytes left out here …\]\n`)

// resident is the memory that the Go runtime holds now, in bytes.
func resident() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys - m.HeapReleased)
}

// pyMarkup gives an error's text back byte for byte.
func pyMarkup(t *testing.T) {
	const text = `[/red] [bold]x[/] {0} %s`
	var log syncBuffer
	s := play(t, steps("raise KeyError('"+text+"')"), func(cfg *troupe.Config) {
		cfg.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	tr := s.perform()
	tr.answered(t, "done")
	require.Equal(t, "Execution logs:\nError in line 1: KeyError: '"+text+"'", s.observation(1))
	warnings := tr.of(messages.Warning)
	require.Len(t, warnings, 1)
	require.Equal(t, "KeyError: '"+text+"'", warnings[0].Content)
	require.Equal(t, "code_error", warnings[0].ErrorCode)
	require.NotContains(t, log.String(), "%!", "no logger tries to format it")
	require.NotContains(t, log.String(), "panic")
}

// syncBuffer is a buffer that several goroutines write to.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// pyToolNames refuses code that gives a tool's name to something else, before
// any of it runs.
func pyToolNames(t *testing.T) {
	type args struct {
		Query string `json:"query"`
	}
	var asked []string
	search := goTool(t, "search", func(_ context.Context, a args) (string, error) {
		asked = append(asked, a.Query) // calls of one block come one after the other
		return "found " + a.Query, nil
	})
	s := play(t, steps("search = search(query='a')", "print(search(query='b'))", "final_answer = 3", "final_answer('still there')"), goTools(search))
	s.perform().answered(t, "still there")
	require.Contains(t, s.observation(1), "'search' is the name of a tool and can't be assigned")
	require.Equal(t, "Execution logs:\nfound b\n", s.observation(2))
	require.Contains(t, s.observation(3), "'final_answer' is the name of a tool and can't be assigned")
	require.Equal(t, []string{"b"}, asked, "nothing of a refused block runs")
}
