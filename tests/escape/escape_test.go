//go:build linux && integration

package escape

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/actors/python/pythontest"
	"github.com/troupe-go/troupe/messages"
)

const (
	outputLimit = 64 << 10
	memoryLimit = 256 << 20
	timeLimit   = time.Second
	waitTime    = 5 * time.Second
	pollTime    = 5 * time.Millisecond
)

// bundle is one interpreter and its host.
type bundle struct {
	it    python.Interpreter
	stubs *pythontest.Stubs
}

func begin(t testing.TB, d python.Driver, change ...func(*python.Spec)) *bundle {
	spec := python.Spec{Tools: pythontest.ToolNames(), Imports: []string{"*"}, MemoryLimit: memoryLimit, Timeout: timeLimit, OutputLimit: outputLimit, Lang: messages.EN}
	for _, c := range change {
		c(&spec)
	}
	it, err := d.Start(t.Context(), spec)
	require.NoError(t, err)
	t.Cleanup(it.Close)
	return &bundle{it: it, stubs: pythontest.NewStubs()}
}

func (b *bundle) exec(t testing.TB, code string) *python.Outcome {
	out, err := b.it.Exec(t.Context(), python.Block{Code: code}, b.stubs)
	require.NoError(t, err)
	return out
}

// pid is 0 where there is no process.
func (b *bundle) pid() int {
	if p, ok := b.it.(interface{ PID() int }); ok {
		return p.PID()
	}
	return 0
}

// TestEscape runs every attack at every level, in each situation.
func TestEscape(t *testing.T) {
	for _, l := range levels {
		t.Run(l.Name, func(t *testing.T) {
			in(t, l.situation, func(t *testing.T) {
				d := l.open(t)
				requireWorks(t, d)
				requireMissing(t, l, d)
				o := newOutside(t)
				requireWorks(t, d)
				t.Run("programs", func(t *testing.T) {
					o.watchAll(t)
					same := func(testing.TB) python.Driver { return d }
					if l.contract {
						pythontest.Run(t, same)
					}
					if l.whole {
						pythontest.RunHostile(t, same, o.watch)
					}
				})
				t.Run("resources", func(t *testing.T) { testResources(t, l, d, o) })
				t.Run("python", func(t *testing.T) { testPython(t, l, d, o) })
				if l.native {
					t.Run("raw", func(t *testing.T) { testRaw(t, l, o) })
				}
			})
		})
	}
}

// requireMissing holds the walls against what the situation allows.
func requireMissing(t *testing.T, l level, d python.Driver) {
	missing := []string{}
	for _, w := range d.Describe().Missing {
		missing = append(missing, w.Name)
		require.NotEmpty(t, w.Why)
		require.NotEmpty(t, w.Advice)
	}
	require.ElementsMatch(t, l.missing, missing)
}
