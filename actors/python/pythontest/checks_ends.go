package pythontest

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/messages"
)

// fast is a time limit for code that is going to exceed it.
const fast = 100 * time.Millisecond

// testEnds: how interpreters end that don't end by themselves.
func testEnds(t *testing.T, d python.Driver) {
	t.Run("timeout", func(t *testing.T) {
		b := setup(t, d, func(s *python.Spec) { s.Timeout = fast })
		began := time.Now()
		out := b.exec("print('before')\n" + spin)
		require.Equal(t, "timeout", out.Killed)
		require.Equal(t, "before\n", out.Output)
		require.Less(t, time.Since(began), fast+time.Second)
		require.Positive(t, out.CPU)
		_, err := b.it.Exec(t.Context(), python.Block{Code: "1"}, b.stubs)
		require.ErrorIs(t, err, python.ErrGone)
	})
	t.Run("the clock stands while a call is out", func(t *testing.T) {
		b := setup(t, d, func(s *python.Spec) { s.Timeout = 300 * time.Millisecond })
		timer := time.AfterFunc(500*time.Millisecond, b.stubs.Release)
		defer timer.Stop()
		require.Equal(t, `"released"`, string(b.ok("wait()").Value))
	})
	t.Run("the ceiling of a block", func(t *testing.T) {
		b := setup(t, d)
		ctx, cancel := context.WithTimeout(t.Context(), fast)
		defer cancel()
		require.Equal(t, "timeout", b.execIn(ctx, "wait()").Killed)
	})
	t.Run("cancel in the middle of code", func(t *testing.T) {
		b := setup(t, d, func(s *python.Spec) { s.Timeout = time.Minute })
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		timer := time.AfterFunc(fast, cancel)
		defer timer.Stop()
		require.Equal(t, "cancelled", b.execIn(ctx, spin).Killed)
	})
	t.Run("cancel in the middle of a call", func(t *testing.T) {
		b := setup(t, d)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() {
			<-b.stubs.Waiting()
			cancel()
		}()
		require.Equal(t, "cancelled", b.execIn(ctx, "wait()").Killed)
	})
	t.Run("close in the middle of code", func(t *testing.T) {
		b := setup(t, d, func(s *python.Spec) { s.Timeout = time.Minute })
		go func() {
			<-b.stubs.Waiting()
			b.it.Close()
			b.it.Close()
		}()
		require.Equal(t, "cancelled", b.exec("try:\n    wait()\nexcept ToolTimeout: pass\n"+spin).Killed)
	})
	t.Run("death", func(t *testing.T) {
		b := setup(t, d)
		require.Equal(t, "died", b.exec("print('x')\nupper.__call__.__globals__['send'].__globals__['os']._exit(3)").Killed)
	})
	t.Run("memory", func(t *testing.T) { testMemory(t, d) })
	t.Run("start that is cancelled", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := d.Start(ctx, spec())
		require.Error(t, err)
	})
}

// testMemory drives the driver program's own handling: with an exception of
// ours in place of a real lack of memory, which needs walls.
func testMemory(t *testing.T, d python.Driver) {
	b := setup(t, d)
	e := b.fails("x = 1\nraise MemoryError()")
	require.Equal(t, "MemoryError", e.Type)
	require.Contains(t, e.Message, "out of memory")
	require.Equal(t, "1", string(b.ok("x").Value))
}

// testFaults are the cases of the same ids, as far as a driver goes.
func testFaults(t *testing.T, d python.Driver) {
	printed := map[string][2]string{
		"PY-01": {"def f(a,*r,k=7,**o):\n    return (r,k,o)\nprint(f(1,2,3,z=4))", "((2, 3), 7, {'z': 4})\n"},
		"PY-02": {"print(sum(x*y for x in [1,2] for y in [3,4]))", "21\n"},
		"PY-03": {"def g():\n    yield 1\n    yield 2\na,*b = list(g())+[3]\nif (n:=len(b))==2:\n    print(a,b,n)", "1 [2, 3] 2\n"},
	}
	for id, c := range printed {
		t.Run(id, func(t *testing.T) {
			require.Equal(t, c[1], setup(t, d).ok(c[0]).Output)
		})
	}
	t.Run("PY-06", func(t *testing.T) {
		b := setup(t, d)
		out := b.exec("print('found 3')\nx = 5\nraise ValueError('late')")
		require.Equal(t, "found 3\n", out.Output)
		require.Equal(t, 3, out.Err.Line)
		require.Equal(t, "5\n", b.ok("print(x)").Output)
	})
	t.Run("PY-08", func(t *testing.T) {
		began := time.Now()
		require.Equal(t, "timeout", setup(t, d).exec("while True: pass").Killed)
		require.Less(t, time.Since(began), 3*time.Second)
		require.Equal(t, "alive\n", setup(t, d).ok("print('alive')").Output)
	})
	t.Run("PY-09", func(t *testing.T) { testFlood(t, d) })
	t.Run("PY-10", func(t *testing.T) {
		e := setup(t, d).fails("raise KeyError('[/red] [bold]x[/] {0} %s')")
		require.Equal(t, &messages.PyError{Type: "KeyError", Message: "'[/red] [bold]x[/] {0} %s'", Line: 1, Traceback: e.Traceback}, e)
		require.Contains(t, e.Traceback, "[/red] [bold]x[/] {0} %s")
	})
	t.Run("PY-12", func(t *testing.T) {
		b := setup(t, d)
		require.Contains(t, b.fails("exa_search = exa_search(query='a')").Message, "'exa_search'")
		require.Contains(t, b.ok("print(exa_search(query='b'))").Output, "b #1")
		require.Contains(t, b.fails("final_answer = 3").Message, "'final_answer'")
	})
}

func testFlood(t *testing.T, d python.Driver) {
	b := setup(t, d, patient)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, code := range []string{"for i in range(200000): print('x'*50)", "print('y'*20_000_000, end='')"} {
		out := b.ok("print('first')\n" + code + "\nprint('last')").Output
		require.True(t, strings.HasPrefix(out, "first\n") && strings.HasSuffix(out, "last\n"))
		require.Contains(t, out, "bytes of output left out")
		require.LessOrEqual(t, len(out), outputLimit+200)
	}
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(40*outputLimit), "20 MB of output must not pass through the host")
}
