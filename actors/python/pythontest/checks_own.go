package pythontest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/python"
)

// testOwnDamage: what a block does to its interpreter without ending it is
// gone in the next one, or the interpreter is.
func testOwnDamage(t *testing.T, d python.Driver) {
	const reachSys = "import random\nsys = random._os.sys\n"
	for name, code := range map[string]string{
		"tracing":               reachSys + "sys.settrace(5)",
		"tracing that raises":   reachSys + "def trace(*a): 1/0\nsys.settrace(trace)",
		"monitoring":            reachSys + "m = sys.monitoring\nm.use_tool_id(3, 'x')\nm.register_callback(3, m.events.PY_START, lambda *a: 1/0)\nm.set_events(3, m.events.PY_START)",
		"recursion limit":       reachSys + "sys.setrecursionlimit(10)",
		"digits":                reachSys + "sys.set_int_max_str_digits(640)",
		"json":                  "import json\njson.dumps = json.loads = None\njson.JSONEncoder.encode = json.decoder.JSONDecoder.decode = None",
		"builtins":              reachSys + "b = vars(sys.modules['builtins'])\nfor n in list(b):\n    if n != '__import__': del b[n]",
		"the block's builtins":  "__builtins__.clear()",
		"other modules' names":  reachSys + "sys.settrace = sys.monitoring = None\nimport time, binascii\ntime.monotonic = binascii.b2a_base64 = random._os.write = None",
		"what is loaded":        reachSys + "sys.modules.clear()",
		"stdout":                reachSys + "sys.stdout = sys.stderr = None",
		"tools and their names": "globals().clear()",
	} {
		t.Run(name, func(t *testing.T) {
			b := setup(t, d)
			b.ok(code)
			out := b.ok("print('goes on')\ndef f(n): return n and f(n - 1)\n[upper('x'), len(b'ab'), f(100), b'hi', len(str(10 ** 5000))]")
			require.Equal(t, "goes on\n", out.Output)
			require.Equal(t, `["X",2,0,{"$bytes":"aGk="},5001]`, string(out.Value))
			require.Equal(t, "ZeroDivisionError", b.fails("1/0").Type)
		})
	}
	t.Run("the driver itself", func(t *testing.T) {
		out := setup(t, d).exec("print('before')\nupper.__call__.__globals__['S'].out = None")
		require.Equal(t, python.KilledDied, out.Killed)
		require.Equal(t, "before\n", out.Output)
		require.Equal(t, "InterpreterError", out.Err.Type)
		require.Contains(t, out.Err.Message, "AttributeError")
	})
}

// burn starts a thread that computes.
const burn = "import random\nthreading = random._os.sys.modules['builtins'].__import__('threading')\ncount = 0\ndef burn():\n    global count\n    while True: count += 1\n" +
	"thread = threading.Thread(target=burn, daemon=True)\nthread.start()\n"

// testThreads: threads that a block leaves have no time of their own.
func testThreads(t *testing.T, d python.Driver) {
	if !featuresOf(d).threads {
		b := setup(t, d)
		require.Contains(t, b.fails(burn).Message, "can't start new thread")
		require.Contains(t, b.fails("import asyncio\nasyncio.run(asyncio.to_thread(len, 'x'))").Message, "this sandbox has no threads")
		require.Equal(t, "2", string(b.ok("1 + 1").Value))
		return
	}
	t.Run("compute behind a call", func(t *testing.T) {
		b := setup(t, d, func(s *python.Spec) { s.Timeout = fast })
		began := time.Now()
		require.Equal(t, python.KilledTimeout, b.exec(burn+"wait()").Killed)
		require.Less(t, time.Since(began), TimeLimit)
	})
	t.Run("can't be repeated", func(t *testing.T) {
		out := setup(t, d).ok("import asyncio\nasyncio.run(asyncio.to_thread(lambda: upper('x')))")
		require.Equal(t, `"X"`, string(out.Value))
		require.Equal(t, []string{python.UsedThreads}, out.Unrepeatable)
	})
	t.Run("stand still between blocks", func(t *testing.T) {
		b := setup(t, d)
		before := b.ok(burn + "print('x')").CPU
		require.Less(t, before, TimeLimit/2)
		begin := b.ok("count")
		timer := time.NewTimer(3 * fast)
		<-timer.C // time passes in which it could compute
		end := b.ok("count")
		require.Less(t, end.CPU, fast, "%s to %s", begin.Value, end.Value)
		require.Less(t, before+begin.CPU+end.CPU, 3*fast)
		b.it.Close() // ends what stands still
	})
}
