package pythontest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/messages"
)

// Limits of the suite's interpreters, as the cases give them.
const (
	TimeLimit   = 2 * time.Second
	MemoryLimit = 256 << 20
	outputLimit = 64 << 10
)

// Run runs everything that is harmless over a driver.
func Run(t *testing.T, newDriver func(testing.TB) python.Driver) {
	d := newDriver(t)
	runPrograms(t, d, "lang", "stdlib", "agent")
	t.Run("values", func(t *testing.T) { testValues(t, d) })
	t.Run("last value", func(t *testing.T) { testLastValue(t, d) })
	t.Run("output", func(t *testing.T) { testOutput(t, d) })
	t.Run("calls", func(t *testing.T) { testCalls(t, d) })
	t.Run("errors", func(t *testing.T) { testErrors(t, d) })
	t.Run("final answer", func(t *testing.T) { testFinal(t, d) })
	t.Run("names", func(t *testing.T) { testNames(t, d) })
	t.Run("imports", func(t *testing.T) { testImports(t, d) })
	t.Run("ends", func(t *testing.T) { testEnds(t, d) })
	t.Run("world", func(t *testing.T) { testWorld(t, d) })
	t.Run("state", func(t *testing.T) { testState(t, d) })
	t.Run("mark", func(t *testing.T) { testMark(t, d) })
	t.Run("own damage", func(t *testing.T) { testOwnDamage(t, d) })
	t.Run("threads", func(t *testing.T) { testThreads(t, d) })
	t.Run("faults", func(t *testing.T) { testFaults(t, d) })
}

// bundle is one interpreter and its host.
type bundle struct {
	t     testing.TB
	it    python.Interpreter
	stubs *Stubs
}

func spec() python.Spec {
	return python.Spec{Tools: ToolNames(), MemoryLimit: MemoryLimit, Timeout: TimeLimit, OutputLimit: outputLimit, Lang: messages.EN}
}

func setup(t testing.TB, d python.Driver, change ...func(*python.Spec)) *bundle {
	s := spec()
	for _, c := range change {
		c(&s)
	}
	it, err := d.Start(t.Context(), s)
	require.NoError(t, err)
	t.Cleanup(it.Close)
	return &bundle{t: t, it: it, stubs: NewStubs()}
}

// exec runs a block that has an outcome.
func (b *bundle) exec(code string) *python.Outcome {
	b.t.Helper()
	return b.execIn(b.t.Context(), code)
}

func (b *bundle) execIn(ctx context.Context, code string) *python.Outcome {
	b.t.Helper()
	out, err := b.it.Exec(ctx, python.Block{Code: code}, b.stubs)
	require.NoError(b.t, err)
	return out
}

// ok runs a block that ends without exception.
func (b *bundle) ok(code string) *python.Outcome {
	b.t.Helper()
	out := b.exec(code)
	require.Empty(b.t, out.Killed)
	require.Nil(b.t, out.Err, "%+v", out.Err)
	return out
}

// fails runs a block that ends with an exception.
func (b *bundle) fails(code string) *messages.PyError {
	b.t.Helper()
	out := b.exec(code)
	require.Empty(b.t, out.Killed)
	require.NotNil(b.t, out.Err, "output %q, value %s", out.Output, out.Value)
	return out.Err
}

// spin runs until it is stopped, and swallows what it can.
const spin = "while True:\n    try:\n        while True: pass\n    except BaseException:\n        pass"
