//go:build integration

package wasm_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/actors/python/pythontest"
	"github.com/troupe-go/troupe/actors/python/wasm"
	"github.com/troupe-go/troupe/messages"
)

// cacheDir is the user's, so that the interpreter is fetched and compiled once.
func cacheDir(t testing.TB) string {
	dir, err := os.UserCacheDir()
	require.NoError(t, err)
	return filepath.Join(dir, "troupe", "python-wasm")
}

func setup(t testing.TB) *wasm.Driver {
	npm, err := exec.LookPath("npm")
	require.NoError(t, err)
	_, err = wasm.Install(t.Context(), wasm.InstallOptions{CacheDir: cacheDir(t), NPM: npm})
	require.NoError(t, err)
	d, err := wasm.New(wasm.Config{CacheDir: cacheDir(t)})
	require.NoError(t, err)
	t.Cleanup(d.Close)
	require.NoError(t, d.Prepare(t.Context()))
	return d
}

func start(t testing.TB, d *wasm.Driver, change ...func(*python.Spec)) python.Interpreter {
	s := python.NewSpec(messages.SandboxConfig{}, pythontest.ToolNames(), nil, messages.EN)
	for _, c := range change {
		c(&s)
	}
	it, err := d.Start(t.Context(), s)
	require.NoError(t, err)
	t.Cleanup(it.Close)
	return it
}

func run(t testing.TB, it python.Interpreter, code string) *python.Outcome {
	out, err := it.Exec(t.Context(), python.Block{Code: code}, pythontest.NewStubs())
	require.NoError(t, err)
	return out
}

func TestPython(t *testing.T) {
	t.Run("wasm", func(t *testing.T) {
		pythontest.Run(t, func(t testing.TB) python.Driver { return setup(t) })
	})
}

func TestHostile(t *testing.T) {
	t.Run("wasm", func(t *testing.T) {
		pythontest.RunHostile(t, func(t testing.TB) python.Driver { return setup(t) })
	})
}

func TestDescribe(t *testing.T) {
	d := setup(t)
	out := run(t, start(t, d), "import random\nrandom._os.sys.version.split()[0]")
	desc := d.Describe()
	require.Equal(t, messages.SandboxWasm, desc.Level)
	require.Equal(t, "CPython "+out.Repr, desc.Version)
	require.Empty(t, desc.Missing)
}

const reach = "import random\nos = random._os\nsys = os.sys\nimp = sys.modules['builtins'].__import__\n"

// What is computed without Python's own loops ends when its time is over, too.
func TestDeadline(t *testing.T) {
	const limit = 250 * time.Millisecond
	d := setup(t)
	for name, code := range map[string]string{
		"a tight loop":          "while True: pass",
		"one that catches all":  "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
		"a power":               "7 ** 10 ** 8",
		"a sort":                "sorted(range(3_000_000), key=lambda n: -n)",
		"a regular expression":  "import re\nre.match('(a+)+b', 'a' * 40)",
		"a sum in C":            "sum(iter(int, 1))",
		"a sleep":               reach + "imp('time').sleep.__self__ if False else None\nimp('_thread').allocate_lock()\nimport time\ntime.sleep(100)",
		"a wait in the library": reach + "imp('select').poll().poll(100_000)",
		"random bytes":          reach + "while True: os.urandom(1_000_000)",
	} {
		t.Run(name, func(t *testing.T) {
			it := start(t, d, func(s *python.Spec) { s.Timeout = limit })
			began := time.Now()
			out := run(t, it, "print('before')\n"+code)
			late := time.Since(began) - limit
			require.Equal(t, python.KilledTimeout, out.Killed, "%+v", out.Err)
			require.Equal(t, "before\n", out.Output)
			require.Less(t, late, time.Second/2, "a busy machine; the benchmark measures")
		})
	}
}

// Go's collector stops all goroutines: a guest in a tight loop has to let it.
func TestCollectorGoesOn(t *testing.T) {
	it := start(t, setup(t), func(s *python.Spec) { s.Timeout = time.Minute })
	stubs := pythontest.NewStubs()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan *python.Outcome, 1)
	go func() {
		out, err := it.Exec(ctx, python.Block{Code: "try:\n    wait()\nexcept ToolTimeout: pass\nwhile True: pass"}, stubs)
		if err != nil {
			t.Error(err)
		}
		ended <- out
	}()
	<-stubs.Waiting()
	stubs.Release()
	for range 20 {
		began := time.Now()
		runtime.GC()
		require.Less(t, time.Since(began), time.Second)
	}
	cancel()
	require.Equal(t, python.KilledCancelled, (<-ended).Killed)
}

func TestMemoryLimit(t *testing.T) {
	d := setup(t)
	limited := func(s *python.Spec) { s.MemoryLimit, s.Timeout = 256<<20, time.Minute }
	t.Run("is an exception", func(t *testing.T) {
		it := start(t, d, limited)
		for _, code := range []string{"bytearray(260_000_000)", "'x' * 260_000_000", "[0] * 10**8", "a = []\nwhile True: a.append(bytes(1_000_000))"} {
			out := run(t, it, code)
			require.Empty(t, out.Killed)
			require.NotNil(t, out.Err, code)
			require.Equal(t, "MemoryError", out.Err.Type)
			require.Equal(t, "2", string(run(t, it, "a = None\n1 + 1").Value), "it goes on")
		}
	})
	t.Run("is each one's own", func(t *testing.T) {
		large := start(t, d, func(s *python.Spec) { s.MemoryLimit = 1 << 30 })
		require.Equal(t, "400000000", string(run(t, large, "len(bytearray(400_000_000))").Value))
	})
	t.Run("none at all", func(t *testing.T) {
		it := start(t, d, func(s *python.Spec) { s.MemoryLimit = 1 })
		out := run(t, it, "bytearray(20_000_000)")
		require.True(t, out.Killed == python.KilledMemory || out.Err != nil && out.Err.Type == "MemoryError", "%+v", out)
	})
	t.Run("ends what can't go on", func(t *testing.T) {
		out := run(t, start(t, d, limited), reach+"a = []\ntry:\n    while True: a.append(bytes(1_000_000))\nexcept MemoryError:\n    os.abort()")
		require.Equal(t, python.KilledMemory, out.Killed)
	})
}

// An instance that breaks down takes nothing with it.
func TestTraps(t *testing.T) {
	d := setup(t)
	for name, code := range map[string]string{
		"an exit":               reach + "os._exit(0)",
		"an exit with a status": reach + "os._exit(3)",
		"an abort":              reach + "os.abort()",
	} {
		t.Run(name, func(t *testing.T) {
			it := start(t, d)
			out := run(t, it, "print('before')\n"+code)
			require.Equal(t, python.KilledDied, out.Killed, "%+v", out.Err)
			require.Equal(t, "before\n", out.Output)
			require.Equal(t, "2", string(run(t, start(t, d), "1 + 1").Value))
		})
	}
}

// Recursion in C, which overran the module's own stack, is an exception.
func TestDeepRecursion(t *testing.T) {
	it := start(t, setup(t), func(s *python.Spec) { s.Timeout = time.Minute })
	for _, code := range []string{
		strings.Repeat("1+", 5000) + "1",
		strings.Repeat("-", 20_000) + "1",
		"import json\njson.loads('[' * 5000)",
		"import copy\nx = []\nfor i in range(5000): x = [x]\ncopy.deepcopy(x)",
		"x = {}\nfor i in range(100_000): x = {0: x}\nrepr(x)",
		"class A:\n    def __getattr__(s, n): return getattr(s, n)\nA().x",
		"import functools\n@functools.lru_cache(None)\ndef f(n): return f(n - 1) + 1\nf(1)",
	} {
		out := run(t, it, code)
		require.Empty(t, out.Killed, "%.60s", code)
		require.NotNil(t, out.Err, "%.60s", code)
		require.Contains(t, []string{"RecursionError", "MemoryError"}, out.Err.Type, "%.60s", code)
		require.Equal(t, "2", string(run(t, it, "1 + 1").Value))
	}
}

// Code that pretends to have ended stands still until the next block.
func TestFrozenBetweenBlocks(t *testing.T) {
	it := start(t, setup(t))
	forge := reach + "n = 0\nos.write(1, b'{\"t\":\"done\",\"b\":1}\\n')\nwhile n < 50_000_000: n += 1"
	require.Empty(t, run(t, it, forge).Err)
	used := it.(python.Measured).Usage().CPU
	timer := time.NewTimer(200 * time.Millisecond)
	<-timer.C // time passes in which it could compute
	require.Less(t, it.(python.Measured).Usage().CPU-used, 50*time.Millisecond)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	out, err := it.Exec(ctx, python.Block{Code: "1"}, pythontest.NewStubs())
	require.NoError(t, err)
	require.Equal(t, python.KilledTimeout, out.Killed, "it computes on in the next block's time")
}

// What a guest can reach of its surroundings.
func TestNothingIsThere(t *testing.T) {
	t.Setenv("CANARY", "leak-42")
	it := start(t, setup(t))
	const open = "def is_open(fd):\n    try: return os.fstat(fd) and True\n    except OSError: return False\n"
	for code, want := range map[string]string{
		"sorted(os.environ)": `["PYTHONHASHSEED"]`,
		"[os.path.exists(p) for p in ('/etc', '/proc', '/tmp', '/dev', '/home', '.')]": `[false,false,false,false,false,false]`,
		"sorted(os.listdir('/usr/local/lib'))":                                         `["python3.12","python312.zip"]`,
		"[fd for fd in range(1000) if is_open(fd)]":                                    `[0,1,2,3]`, // 3 is its library, which is in its memory
		"sys.argv": `["-c"]`,
	} {
		out := run(t, it, reach+open+code)
		require.Equal(t, want, string(out.Value), "%s: %+v", code, out.Err)
	}
}

func TestHashSeedIsConstant(t *testing.T) {
	d := setup(t)
	require.Equal(t, run(t, start(t, d), "hash('a')").Repr, run(t, start(t, d), "hash('a')").Repr)
}

func TestClose(t *testing.T) {
	d := setup(t)
	it := start(t, d)
	busy := start(t, d)
	stubs := pythontest.NewStubs()
	ended := make(chan *python.Outcome, 1)
	go func() {
		out, err := busy.Exec(t.Context(), python.Block{Code: "wait()"}, stubs)
		if err != nil {
			t.Error(err)
		}
		ended <- out
	}()
	<-stubs.Waiting()
	d.Close()
	d.Close()
	require.Equal(t, python.KilledCancelled, (<-ended).Killed)
	_, err := it.Exec(t.Context(), python.Block{Code: "1"}, stubs)
	require.ErrorIs(t, err, python.ErrGone)
	_, err = d.Start(t.Context(), python.Spec{})
	require.Equal(t, "sandbox_closed", messages.AsFault(err).Code)
	require.Equal(t, python.Usage{}, it.(python.Measured).Usage())
}

// A driver that is closed while it compiles ends.
func TestCloseAtOnce(t *testing.T) {
	setup(t)
	d, err := wasm.New(wasm.Config{CacheDir: cacheDir(t), Warm: 2})
	require.NoError(t, err)
	d.Close()
	require.Error(t, d.Prepare(t.Context()))
}

func TestParallelStarts(t *testing.T) {
	d := setup(t)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			it := start(t, d)
			code, _ := json.Marshal(i) // an int always encodes
			out, err := it.Exec(t.Context(), python.Block{Code: string(code)}, pythontest.NewStubs())
			if err != nil || string(out.Value) != string(code) {
				t.Errorf("%d: %v %+v", i, err, out)
			}
		})
	}
	all.Wait()
}

// What lies damaged in the cache folder is made again.
func TestDamageIsRepaired(t *testing.T) {
	good := cacheDir(t)
	setup(t)
	dir := filepath.Join(t.TempDir(), "cache")
	require.NoError(t, os.CopyFS(dir, os.DirFS(good)))
	require.NoError(t, os.Chmod(dir, 0o700))
	use := func() (string, error) {
		d, err := wasm.New(wasm.Config{CacheDir: dir})
		if err != nil {
			return "", err
		}
		defer d.Close()
		it, err := d.Start(t.Context(), python.NewSpec(messages.SandboxConfig{}, nil, nil, messages.EN))
		if err != nil {
			return "", err
		}
		return string(run(t, it, "1 + 1").Value), nil
	}
	damage := func(pattern string, how func(path string) error) {
		paths, err := filepath.Glob(filepath.Join(dir, pattern))
		require.NoError(t, err)
		require.NotEmpty(t, paths, pattern)
		for _, path := range paths {
			require.NoError(t, how(path))
		}
	}
	flip := func(path string) error {
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		data[len(data)/2] ^= 0xff
		return os.WriteFile(path, data, 0o600)
	}
	for name, do := range map[string]func(){
		"no driver program":   func() { damage("driver-*", os.RemoveAll) },
		"a bit of it":         func() { damage("driver-*/driver.bin", flip) },
		"a bit of the module": func() { damage("module-*/python.wasm", flip) },
		"half the machine code": func() {
			damage("compiled/*/*", func(path string) error { return os.Truncate(path, 1<<20) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			do()
			got, err := use()
			require.NoError(t, err)
			require.Equal(t, "2", got)
		})
	}
	damage("package-*/python.wasm", func(path string) error { return os.Truncate(path, 1000) })
	_, err := use()
	require.ErrorIs(t, err, wasm.ErrNotInstalled, "what must be fetched is")
	require.ErrorContains(t, err, "troupe python install")
}
