package pythontest

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/python"
)

// intrusion is what the hostile programs try to write.
const intrusion = "/tmp/pwned_by_agent"

// canary is in the environment of the process that runs the suite.
const canary = "leak-42"

// RunHostile runs the programs that try to get out, or to use up the machine,
// and watches from outside. The driver must stand behind its walls. Each watch
// is called before each program, to compare the world when that test ends.
func RunHostile(t *testing.T, newDriver func(testing.TB) python.Driver, watch ...func(testing.TB)) {
	t.Setenv("CANARY", canary)
	d := newDriver(t)
	f := featuresOf(d)
	begin := func(t *testing.T) *bundle {
		for _, w := range watch {
			w(t)
		}
		return setup(t, d)
	}
	for _, p := range load(t, "hostile", "bypass") {
		code := strings.Join(p.Code, "\n")
		t.Run(p.Name, func(t *testing.T) {
			b := begin(t)
			began := time.Now()
			p.Expect.checkHostile(t, f, b.exec(code))
			require.Less(t, time.Since(began), TimeLimit+2*time.Second)
			requireNothingOutside(t, b)
			require.Equal(t, "2", string(setup(t, d).ok("1 + 1").Value))
		})
		t.Run(p.Name+" unguarded", func(t *testing.T) {
			b := begin(t)
			b.ok(reach + unguard)
			began := time.Now()
			p.Expect.checkUnguarded(t, f, b.exec(code))
			require.Less(t, time.Since(began), TimeLimit+2*time.Second)
			requireNothingOutside(t, b)
			require.Equal(t, "2", string(setup(t, d).ok("1 + 1").Value))
		})
	}
	t.Run("BOX-01", func(t *testing.T) {
		for _, code := range []string{
			"import os\nprint(os.environ)",
			"print(__import__('o' + 's').environ)",
			"from os import environ as e\nprint(e)",
			reach + "print(os.environ)\nprint(open_('/proc/self/environ').read())\nos.execv('/usr/bin/env', ['env'])",
			reach + "for p in os.listdir('/proc'):\n    print(open_('/proc/' + p + '/environ').read())",
			reach + "print(open_('/proc/%d/environ' % os.getppid()).read())",
		} {
			b := setup(t, d)
			b.fails(code)
			require.NotContains(t, b.ok("print('goes on')").Output, canary)
			requireNothingOutside(t, b)
		}
	})
	t.Run("BOX-02", func(t *testing.T) {
		b := setup(t, d)
		require.NotContains(t, b.ok("print('{0.__class__.__mro__}'.format(1)); print(type(1).mro())").Output, canary)
	})
	t.Run("BOX-06", func(t *testing.T) {
		for _, code := range []string{
			"from os import system as f\nf('id')", reach + "getattr(os, 'sys' + 'tem')('id')", reach + "os.posix_spawn('/bin/id', ['id'], {})",
			"import pty\npty.spawn('id')", "import asyncio\nasyncio.run(asyncio.create_subprocess_shell('id'))", "!id", "%system id", "%%bash\nid",
			reach + "original('fork_exec')", reach + "imp('subprocess').run(['/bin/id'])", reach + "imp('multiprocessing').Process(target=print).start()",
		} {
			b := setup(t, d)
			b.fails(code)
			requireNothingOutside(t, b)
		}
	})
	t.Run("native", func(t *testing.T) { testNative(t, d) })
}

// reach gets at what the driver program hides for clear messages: the real
// os, open and import. Any of the bypasses would do.
const reach = `import random
os = random._os
imp = os.sys.modules['builtins'].__import__
open_ = os.sys.modules['builtins'].open
def fresh():
    machinery, create = imp('importlib.machinery').machinery, imp('_imp')
    posix = create.create_builtin(machinery.ModuleSpec('posix', None))
    create.exec_builtin(posix)
    return posix
def original(name):
    p = imp('_posixsubprocess')
    r, w = os.pipe()
    return p.fork_exec([b'/bin/id'], [b'/bin/id'], True, (w,), None, None, -1, -1, -1, -1, -1, -1, r, w, False, False, -1, None, None, None, -1, None)
`

// unguard puts back what the driver program refuses for clear messages: what is
// left then is the walls.
const unguard = `for module in (os, os.sys.modules['posix']):
    for name, value in vars(fresh()).items():
        if callable(value): setattr(module, name, value)
for names in (imp('_troupe.state', fromlist=['S']).S.offered, imp('_troupe.state', fromlist=['S']).S.builtins):
    names.update({name: value for name, value in vars(os.sys.modules['builtins']).items() if name in ('__import__', 'open', 'exec', 'eval', 'compile')})
`

// checkUnguarded is checkHostile where no message is made for a model: what
// isn't an endless use of something may also end well, having done nothing.
func (e *expect) checkUnguarded(t *testing.T, f features, out *python.Outcome) {
	if e.Refused {
		require.Empty(t, out.Killed)
		if out.Err != nil {
			require.NotContains(t, out.Err.Message, "is not allowed here", "the guard is off")
		}
		return
	}
	e.checkHostile(t, f, out)
}

func (e *expect) checkHostile(t *testing.T, f features, out *python.Outcome) {
	switch {
	case e.Timeout:
		require.Equal(t, python.KilledTimeout, out.Killed)
	case e.Memory:
		if out.Killed != "" {
			require.Equal(t, python.KilledMemory, out.Killed)
			return
		}
		if !f.wide && out.Err.Type == "OverflowError" {
			return // so large that its size can't be said
		}
		require.Equal(t, "MemoryError", out.Err.Type)
	case e.Refused:
		require.Empty(t, out.Killed)
		require.NotNil(t, out.Err, "output %q value %s", out.Output, out.Value)
	case e.TimeoutOrRefused:
		require.True(t, out.Killed == python.KilledTimeout || out.Err != nil)
		require.LessOrEqual(t, len(out.Output), outputLimit+200)
	case e.Harmless:
		require.Empty(t, out.Killed)
	default:
		require.Fail(t, "nothing is expected")
	}
}

// requireNothingOutside looks for what a program may have left.
func requireNothingOutside(t testing.TB, b *bundle) {
	_, err := os.Stat(intrusion)
	require.ErrorIs(t, err, os.ErrNotExist)
	if p, ok := b.it.(interface{ PID() int }); ok {
		require.Empty(t, children(p.PID()))
	}
}

// children gives the processes that a process has started, on Linux.
func children(pid int) []string {
	var found []string
	tasks, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/children") // the pattern is well formed
	for _, task := range tasks {
		text, err := os.ReadFile(task)
		if err == nil { // else it has ended
			found = append(found, strings.Fields(string(text))...)
		}
	}
	return found
}
