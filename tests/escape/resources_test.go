//go:build linux && integration

package escape

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/python"
)

// resourceAttacks use up what they can get. Each ends by one of what is given:
// a reason, or the class of an exception.
var resourceAttacks = map[string]struct {
	code string
	ends []string
}{
	"memory: bytes":               {"a = []\nwhile True: a.append(bytearray(1 << 20))", []string{"MemoryError", python.KilledMemory}},
	"memory: text":                {"'x' * (8 << 30)", []string{"MemoryError"}},
	"memory: maps":                {"a = []\nwhile True:\n    a.append(mm.mmap(-1, 1 << 24))\n    a[-1].write(b'x' * (1 << 24))", []string{"MemoryError", "OSError"}},
	"memory: one huge map":        {"mm.mmap(-1, 1 << 40)", []string{"MemoryError", "OSError"}},
	"memory: shared map":          {"a = []\nwhile True:\n    a.append(mm.mmap(-1, 1 << 24, flags=mm.MAP_SHARED | mm.MAP_ANONYMOUS))\n    a[-1].write(b'x' * (1 << 24))", []string{"MemoryError", "OSError"}},
	"memory: numbers":             {"x = 7\nwhile True: x = x * x", []string{"MemoryError", python.KilledTimeout}},
	"memory: recursion":           {"sys.setrecursionlimit(10 ** 8)\ndef f(n): return f(n + 1) + 1\nf(0)", []string{"MemoryError", "RecursionError", python.KilledMemory, python.KilledDied, python.KilledTimeout}},
	"memory: deep C stack":        {"x = []\nfor _ in range(10 ** 6): x = [x]\nrepr(x)", []string{"RecursionError", python.KilledDied, python.KilledMemory, python.KilledTimeout}},
	"memory: zip bomb":            {"z = imp('zlib')\nc = z.compressobj()\nbomb = b''.join(c.compress(bytes(1 << 24)) for _ in range(64)) + c.flush()\nz.decompress(bomb)", []string{"MemoryError", python.KilledTimeout}},
	"memory: many objects":        {"a = {}\nwhile True: a[len(a)] = object()", []string{"MemoryError", python.KilledMemory, python.KilledTimeout}},
	"memory: swallowed":           {"a = []\nwhile True:\n    try: a.append(bytearray(1 << 16))\n    except MemoryError: pass", []string{python.KilledTimeout, python.KilledMemory, "MemoryError"}},
	"time: a loop":                {"while True: pass", []string{python.KilledTimeout}},
	"time: swallowed":             {"while True:\n    try:\n        while True: pass\n    except BaseException: pass", []string{python.KilledTimeout}},
	"time: in C":                  {"7 ** 10 ** 8", []string{python.KilledTimeout, "MemoryError"}},
	"time: a pattern":             {"imp('re').match('(a+)+$', 'a' * 60 + 'b')", []string{python.KilledTimeout}},
	"time: a sum":                 {"sum(iter(int, 1))", []string{python.KilledTimeout}},
	"time: signals are handled":   {"for n in range(1, 65):\n    try: sig.signal(n, lambda *a: None)\n    except (OSError, ValueError): pass\nsig.pthread_sigmask(sig.SIG_BLOCK, range(1, 65))\nwhile True: pass", []string{python.KilledTimeout}},
	"time: an exit is handled":    {"imp('atexit').register(lambda: [0 for _ in iter(int, 1)])\nposix.close(4)\nwhile True: pass", []string{python.KilledTimeout, python.KilledDied}},
	"time: a sleep":               {"sel.select([], [], [], 100)", []string{python.KilledTimeout}},
	"time: a read of nothing":     {"r, w = posix.pipe()\nposix.read(r, 1)", []string{python.KilledTimeout}},
	"time: a trace":               {"def f(*a):\n    while True: pass\nsys.settrace(f)\n(lambda: 0)()", []string{python.KilledTimeout}},
	"output: printed":             {"while True: print('x' * 10000)", []string{python.KilledTimeout, python.KilledDied}},
	"output: written":             {"while True:\n    try: posix.write(1, b'x' * 65536)\n    except BlockingIOError: pass", []string{python.KilledTimeout}},
	"output: errors":              {"fcntl.fcntl(2, fcntl.F_SETFL, 0)\nwhile True: posix.write(2, b'x' * 65536)", []string{python.KilledTimeout}},
	"threads: small":              {"t = imp('_thread')\nlock = t.allocate_lock()\nlock.acquire()\nt.stack_size(65536)\nwhile True: t.start_new_thread(lock.acquire, ())", []string{"RuntimeError", "MemoryError", python.KilledMemory}},
	"threads: swallowed":          {"t = imp('_thread')\nlock = t.allocate_lock()\nlock.acquire()\nt.stack_size(65536)\nwhile True:\n    try: t.start_new_thread(lock.acquire, ())\n    except BaseException: pass", []string{python.KilledTimeout, python.KilledMemory}},
	"threads: that compute":       {"t = imp('_thread')\ndef f():\n    while True: pass\nfor _ in range(8): t.start_new_thread(f, ())\nwhile True: pass", []string{python.KilledTimeout}},
	"threads: that live on":       {"t = imp('_thread')\ndef f():\n    while True: posix.write(4, b'{}\\n')\nt.start_new_thread(f, ())\nwhile True: pass", []string{python.KilledTimeout, python.KilledDied}},
	"descriptors: swallowed":      {"a = []\nwhile True:\n    try: a.append(posix.pipe())\n    except OSError: pass", []string{python.KilledTimeout}},
	"interpreters of interpreter": {"i = imp('_interpreters')\na = []\nwhile True: a.append(i.create())", []string{"MemoryError", "RuntimeError", "InterpreterError", "ModuleNotFoundError", python.KilledTimeout, python.KilledMemory, python.KilledDied}},
}

// threadLimit is what the kernel lets an interpreter have where it can limit
// that; where it can't, some more start before they are counted.
const (
	threadLimit = 64
	threadMost  = 12_000
)

func testResources(t *testing.T, l level, d python.Driver, o *outside) {
	limited := !slices.Contains(l.missing, "namespaces")
	o.watchAll(t)
	for _, name := range slices.Sorted(maps.Keys(resourceAttacks)) {
		if !l.whole && !strings.HasPrefix(name, "threads") && name != "memory: bytes" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			o.watch(t)
			attack := resourceAttacks[name]
			b := begin(t, d)
			threads := countThreads(b.pid())
			began := time.Now()
			out := b.exec(t, prelude+o.surroundings()+attack.code)
			require.Less(t, time.Since(began), timeLimit+3*time.Second)
			most := threads()
			requireObservation(t, out)
			end := out.Killed
			if end == "" {
				require.NotNil(t, out.Err)
				end = out.Err.Type
			}
			require.Contains(t, attack.ends, end, "%+v", out.Err)
			if l.native && limited {
				require.LessOrEqual(t, most, threadLimit)
			}
			require.LessOrEqual(t, most, threadMost)
			b.it.Close()
			requireWorks(t, d)
		})
	}
}

// countThreads watches how many threads a process has, until the function it
// gives is called, which gives the most.
func countThreads(pid int) func() int {
	if pid == 0 {
		return func() int { return 0 }
	}
	done := make(chan struct{})
	most := 0
	var all sync.WaitGroup
	all.Go(func() {
		tick := time.NewTicker(pollTime)
		defer tick.Stop()
		for {
			if info, err := os.Stat(fmt.Sprintf("/proc/%d/task", pid)); err == nil {
				most = max(most, int(info.Sys().(*syscall.Stat_t).Nlink)-2)
			}
			select {
			case <-tick.C:
			case <-done:
				return
			}
		}
	})
	return func() int {
		close(done)
		all.Wait()
		return most
	}
}
