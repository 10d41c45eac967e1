//go:build linux && integration

package escape

import (
	"fmt"
	"maps"
	"net"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/python"
)

// prelude gets past the guard of messages: to the real os and open, and to
// fresh copies of the C modules beneath them.
const prelude = `import random
os = random._os
sys = os.sys
open_ = sys.modules['builtins'].open
imp_ = sys.modules['builtins'].__import__
def imp(name): return imp_(name, fromlist=['x'])
_machinery, _create = imp('importlib.machinery'), imp('_imp')
def fresh(name):
    module = _create.create_builtin(_machinery.ModuleSpec(name, None))
    _create.exec_builtin(module)
    return module
posix, so, sig = fresh('posix'), fresh('_socket'), imp('_signal')
fcntl, res, mm, sel, term = imp('fcntl'), imp('resource'), imp('mmap'), imp('select'), imp('termios')
def port(address): return int(address.rpartition(':')[2])
def other_than(value, *usual):
    if value not in usual: return value
    raise OSError('as usual: %r' % (value,))
`

// surroundings tells attacks what there is to aim at. They may know it: that
// nothing can be done is not because it is hidden.
func (o *outside) surroundings() string {
	return fmt.Sprintf("TREE, CACHE, TCP, UDP, UNIX, ABSTRACT, PARENT, MARK = %q, %q, %q, %q, %q, %q, %d, %q\n",
		o.tree, o.cache, o.decoys.tcp, o.decoys.udp, o.decoys.unix, "\x00"+o.decoys.abstract, os.Getpid(), "/tmp/"+mark)
}

// broken are the exceptions of an attack that is wrong itself.
var broken = []string{"NameError", "AttributeError", "TypeError", "SyntaxError", "ModuleNotFoundError", "IndexError", "KeyError", "UnboundLocalError", "IndentationError"}

// testPython runs the attacks in Python: each has to end with an exception, or
// with its interpreter. Those that begin with "may:" may also find nothing
// wrong with what they do, as it touches only themselves.
func testPython(t *testing.T, l level, d python.Driver, o *outside) {
	for _, group := range slices.Sorted(maps.Keys(pythonAttacks)) {
		t.Run(group, func(t *testing.T) {
			o.watchAll(t)
			attacks := pythonAttacks[group]
			if !l.whole {
				attacks = attacks[:min(2, len(attacks))]
			}
			for i, attack := range attacks {
				t.Run(fmt.Sprint(i+1), func(t *testing.T) { tryPython(t, l, d, o, attack) })
			}
			requireWorks(t, d)
		})
	}
}

func tryPython(t *testing.T, l level, d python.Driver, o *outside, attack string) {
	o.watch(t)
	code, may := strings.CutPrefix(attack, "may:")
	b := begin(t, d)
	out := b.exec(t, prelude+o.surroundings()+code)
	requireObservation(t, out)
	require.NotContains(t, out.Output+string(out.Value)+out.Repr, secret)
	if out.Killed == "" && !may {
		require.NotNil(t, out.Err, "%s\nhas worked: output %q, value %s", code, out.Output, out.Value)
	}
	if l.native && out.Err != nil {
		require.NotContains(t, broken, out.Err.Type, "the attack itself is broken: %s\n%+v", code, out.Err)
	}
	if out.Killed == "" {
		require.Empty(t, children(b.pid()))
	}
	b.it.Close()
}

// requireObservation holds for every attack: its end can be told to a model.
func requireObservation(t *testing.T, out *python.Outcome) {
	require.Contains(t, []string{"", python.KilledTimeout, python.KilledMemory, python.KilledDied}, out.Killed)
	if out.Err != nil {
		require.NotEmpty(t, out.Err.Type)
		require.NotContains(t, out.Err.Message+out.Err.Traceback, secret)
	}
	require.LessOrEqual(t, len(out.Output), outputLimit+200)
}

func requireWorks(t *testing.T, d python.Driver) {
	b := begin(t, d)
	defer b.it.Close()
	require.Equal(t, "2", string(b.exec(t, "1 + 1").Value), "the node goes on")
}

// port gives an address's port.
func port(t testing.TB, address string) int {
	a, err := net.ResolveTCPAddr("tcp", address)
	require.NoError(t, err)
	return a.Port
}
