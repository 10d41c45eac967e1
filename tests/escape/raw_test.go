//go:build linux && integration

package escape

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/python"
)

// testRaw runs the raw attacks: no call may work. Those whose names begin with
// "may " touch only the program itself; those with "dies " end it.
func testRaw(t *testing.T, l level, o *outside) {
	d := openRaw(t)
	requireRaw(t, d, o)
	for _, group := range slices.Sorted(maps.Keys(rawAttacks)) {
		t.Run(group, func(t *testing.T) {
			o.watchAll(t)
			shared := beginRaw(t, d)
			for _, name := range slices.Sorted(maps.Keys(rawAttacks[group])) {
				t.Run(name, func(t *testing.T) {
					o.watch(t)
					b := shared
					if strings.HasPrefix(name, "dies ") || strings.HasPrefix(name, "may ") {
						b = beginRaw(t, d)
					}
					// Where a later exec isn't refused it leads to the same walls.
					strict := name == "may exec itself" && !slices.Contains(l.missing, "exec_once")
					out := tryRaw(t, b, o, group, name, strict)
					if name == "dies bomb" && slices.Contains(l.missing, "namespaces") {
						require.Equal(t, python.KilledMemory, out.Killed, "the threads are counted")
					}
				})
			}
			shared.it.Close()
			requireRaw(t, d, o)
		})
	}
	requireMissing(t, l, d)
}

func tryRaw(t *testing.T, b *bundle, o *outside, group, name string, strict bool) *python.Outcome {
	most := countThreads(b.pid())
	out := b.exec(t, o.probe(t, group, name))
	require.LessOrEqual(t, most(), threadMost)
	requireObservation(t, out)
	require.NotContains(t, out.Repr, secret)
	switch {
	case strings.HasPrefix(name, "dies "):
		require.NotEmpty(t, out.Killed, "%s", out.Value)
	case strict || !strings.HasPrefix(name, "may "):
		require.Empty(t, out.Killed)
		require.NotContains(t, out.Repr, worked)
	}
	if out.Killed == "" {
		require.Empty(t, children(b.pid()))
	}
	return out
}

// beginRaw starts the raw program, with the address space that Go wants.
func beginRaw(t testing.TB, d python.Driver) *bundle {
	return begin(t, d, func(s *python.Spec) { s.MemoryLimit = 1 << 40 })
}

func (o *outside) probe(t testing.TB, group, name string) string {
	code, err := json.Marshal(probe{Group: group, Name: name, Parent: os.Getpid(), Memory: uintptr(unsafe.Pointer(&o.memory[0])),
		Length: len(o.memory), Tree: o.tree, Port: port(t, o.decoys.tcp)})
	require.NoError(t, err)
	return string(code)
}

// requireRaw holds the raw program against a call that is allowed.
func requireRaw(t testing.TB, d python.Driver, o *outside) {
	b := beginRaw(t, d)
	defer b.it.Close()
	require.Equal(t, fmt.Sprintf("%q", worked), string(b.exec(t, o.probe(t, "threads", "may be one")).Value))
}
