package pythontest

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/python"
)

// start is when the suite's worlds begin.
var start = time.Date(2026, 3, 4, 5, 6, 7, 8000, time.UTC)

// twice are programs that ask for time or chance. A second run, in another
// interpreter, with the same seed and clock has to give the same.
var twice = []struct{ name, code string }{
	{"time", "import time\n[time.time(), time.time_ns(), time.monotonic(), time.monotonic_ns(), time.perf_counter(), time.perf_counter_ns()]"},
	{"time as text", "import time\n[time.ctime(), time.asctime(), time.strftime('%Y %H:%M:%S'), list(time.localtime()), list(time.gmtime())]"},
	{"clocks by number", "import time\n[time.clock_gettime(time.CLOCK_REALTIME), time.clock_gettime_ns(time.CLOCK_MONOTONIC)]"},
	{"readings", "import time\na = [time.time_ns() for i in range(1000)]\nall(x < y for x, y in zip(a, a[1:])) and a[-1]"},
	{"busy wait", "import time\nend = time.time() + 0.02\nn = 0\nwhile time.time() < end: n += 1\nn"},
	{"sleep", "import time\na = time.time_ns()\ntime.sleep(0.05)\ntime.time_ns() - a"},
	{"dates", "from datetime import datetime, date, timezone, timedelta\n[str(f) for f in (datetime.now(), datetime.now(timezone.utc), datetime.utcnow(), datetime.today(), date.today(), datetime.now() - timedelta(days=1))]"},
	{"random", "import random\nr = random.Random()\n[random.random(), random.randint(1, 10**9), random.sample(range(100), 5), r.random(), random.SystemRandom().random()]"},
	{"seeded anew", "import random\nrandom.seed(5)\na = random.random()\nrandom.seed()\n[a, random.random()]"},
	{"uuid", "import uuid\n[str(uuid.uuid1()), str(uuid.uuid4())]"},
	{"secrets", "import secrets\n[secrets.token_hex(8), secrets.token_urlsafe(8), secrets.randbelow(10**6)]"},
	{"sets", "[list({'a', 'bb', 'ccc', 'dddd'}), hash('x'), list(set('hello world'))]"},
	{"asyncio sleep", "import asyncio, time\nasync def f(n):\n    await asyncio.sleep(n / 100)\n    return n, time.time_ns()\nasync def main():\n    return await asyncio.gather(f(3), f(1), f(2))\nasyncio.run(main())"},
	{"asyncio time-out", "import asyncio\nasync def main():\n    try:\n        await asyncio.wait_for(asyncio.Event().wait(), 0.03)\n    except asyncio.TimeoutError:\n        return asyncio.get_running_loop().time()\nasyncio.run(main())"},
	{"asyncio queue", "import asyncio\nasync def main():\n    q = asyncio.Queue(1)\n    async def put():\n        for i in range(5):\n            await q.put(i)\n            await asyncio.sleep(0.001)\n    t = asyncio.create_task(put())\n    r = [await q.get() for i in range(5)]\n    await t\n    return r\nasyncio.run(main())"},
	{"queue time-out", "import queue, time\ntry:\n    queue.Queue().get(timeout=0.03)\nexcept queue.Empty:\n    r = time.time_ns()\nr"},
	{"simple queue time-out", "import queue, time\ntry:\n    queue.SimpleQueue().get(timeout=0.03)\nexcept queue.Empty:\n    r = time.time_ns()\nr"},
	{"lock time-out", threadingModule + "import time\nl = threading.Lock()\nl.acquire()\n[l.acquire(timeout=0.03), l.acquire(False), time.time_ns()]"},
	{"event time-out", threadingModule + "import time\n[threading.Event().wait(0.03), threading.Semaphore(0).acquire(timeout=0.01), time.time_ns()]"},
	{"condition time-out", threadingModule + "import time\nc = threading.Condition()\nwith c:\n    r = [c.wait(0.03), c.wait_for(lambda: False, 0.01)]\nr + [time.time_ns()]"},
	{"a call's time", "import time\na = time.time_ns()\nupper('x')\ntime.time_ns() - a"},
}

// threadingModule imports what the list of allowed modules doesn't have.
const threadingModule = "import random\nthreading = random._os.sys.modules['builtins'].__import__('threading')\n"

// late answers as Stubs does; each call takes an hour.
type late struct {
	*Stubs
	now time.Time
}

func (l *late) Call(ctx context.Context, c python.Call) python.Result {
	r := l.Stubs.Call(ctx, c)
	l.now = l.now.Add(time.Hour)
	r.At = l.now
	return r
}

// testWorld: what a program sees of time and chance is the seed's and the
// clock's, whatever the machine's are.
func testWorld(t *testing.T, d python.Driver) {
	seed := func(s string) func(*python.Spec) { return func(spec *python.Spec) { spec.Seed = s } }
	run := func(t *testing.T, b *bundle, code string, replay bool) *python.Outcome {
		out, err := b.it.Exec(t.Context(), python.Block{Code: code, Clock: start, Replay: replay}, &late{b.stubs, start})
		require.NoError(t, err)
		require.Empty(t, out.Killed)
		require.Nil(t, out.Err, "%+v", out.Err)
		return out
	}
	first, second, other := setup(t, d, seed("a")), setup(t, d, seed("a")), setup(t, d, seed("b"))
	for _, p := range twice {
		t.Run(p.name, func(t *testing.T) {
			live, again := run(t, first, p.code, false), run(t, second, p.code, true)
			require.NotEmpty(t, live.Value)
			require.Equal(t, string(live.Value), string(again.Value))
			require.Empty(t, live.Unrepeatable)
		})
	}
	t.Run("order of completion", func(t *testing.T) { // the tasks' first turns come in the order of their addresses
		code := "import asyncio\nasync def f(n):\n    await asyncio.sleep(n / 100)\n    return n\nasync def main():\n    return [await c for c in asyncio.as_completed([f(3), f(1), f(2)])]\nasyncio.run(main())"
		require.Equal(t, "[1,2,3]", string(run(t, setup(t, d), code, false).Value))
		require.Equal(t, "[1,2,3]", string(run(t, setup(t, d), code, true).Value))
	})
	t.Run("another seed", func(t *testing.T) {
		code := "import random, uuid, secrets\n[random.random(), str(uuid.uuid4()), secrets.token_hex()]"
		var one, two []any
		require.NoError(t, json.Unmarshal(run(t, first, code, false).Value, &one))
		require.NoError(t, json.Unmarshal(run(t, other, code, false).Value, &two))
		for i := range one {
			require.NotEqual(t, one[i], two[i])
		}
	})
	t.Run("the clock", func(t *testing.T) {
		b := setup(t, d)
		want := start.Add(time.Microsecond).UnixNano()
		require.Equal(t, want, number(t, run(t, b, "import time\ntime.time_ns()", false).Value))
		out, err := b.it.Exec(t.Context(), python.Block{Code: "time.time_ns()", Clock: start.Add(-time.Hour)}, b.stubs)
		require.NoError(t, err)
		require.Equal(t, want+1000, number(t, out.Value), "it never goes back")
		require.Contains(t, run(t, b, "from datetime import datetime\nrepr(datetime.now())", false).Repr, "datetime.datetime(2026, 3, 4, ")
	})
	t.Run("a second run waits for nothing", func(t *testing.T) {
		b := setup(t, d)
		began := time.Now()
		run(t, b, "import time, asyncio, queue\ntime.sleep(3600)\nasyncio.run(asyncio.sleep(3600))\ntry:\n    queue.Queue().get(timeout=3600)\nexcept queue.Empty:\n    pass", true)
		require.Less(t, time.Since(began), TimeLimit)
	})
	t.Run("the first one waits", func(t *testing.T) {
		b := setup(t, d)
		began := time.Now()
		run(t, b, "import time, asyncio\ntime.sleep(0.05)\nasyncio.run(asyncio.sleep(0.05))", false)
		require.GreaterOrEqual(t, time.Since(began), 100*time.Millisecond)
	})
	t.Run("processor time", func(t *testing.T) {
		b := setup(t, d)
		require.Equal(t, []string{python.UsedCPUTime}, run(t, b, "import time\ntime.process_time() >= 0", false).Unrepeatable)
		require.Empty(t, run(t, b, "1", false).Unrepeatable)
	})
	t.Run("what the loop has not", func(t *testing.T) {
		b := setup(t, d)
		for _, code := range []string{"await asyncio.create_subprocess_shell('id')", "await asyncio.open_connection('127.0.0.1', 80)", "asyncio.get_running_loop().add_signal_handler(2, print)"} {
			e := b.fails("import asyncio\nasync def main():\n    " + code + "\nasyncio.run(main())")
			require.Equal(t, "PermissionError", e.Type)
			require.Contains(t, e.Message, "no network, processes, files or signals")
		}
	})
	t.Run("numbers of blocks", func(t *testing.T) {
		b := setup(t, d)
		for i, code := range []string{"def f(): 1/0", "1"} {
			_, err := b.it.Exec(t.Context(), python.Block{Code: code, Number: 3 + i}, b.stubs)
			require.NoError(t, err)
		}
		out, err := b.it.Exec(t.Context(), python.Block{Code: "f()", Number: 9}, b.stubs)
		require.NoError(t, err)
		require.Contains(t, out.Err.Traceback, "block 3, line 1")
		require.Equal(t, 1, out.Err.Line)
	})
}

func number(t *testing.T, raw json.RawMessage) int64 {
	var n int64
	require.NoError(t, json.Unmarshal(raw, &n))
	return n
}
