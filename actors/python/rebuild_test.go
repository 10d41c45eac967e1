//go:build (linux || darwin) && (amd64 || arm64)

package python_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/messages"
	"github.com/troupe-go/troupe/messages/fact"
)

// life is a run's executor, with what its agent would know of it.
type life struct {
	*bundle
	past  []messages.PastBlock
	step  int
	made  []messages.RecordedCall // calls of the last block, as they were answered
	clock time.Time
}

func begin(t *testing.T, d python.Driver, change ...func(*python.Config)) *life {
	seed := func(c *python.Config) { c.Spec.Seed, c.Spec.Timeout = "seed", time.Minute }
	return &life{bundle: setup(t, d, append(change, seed)...), clock: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
}

// block runs code as the next block and answers its calls.
func (l *life) block(code string) *messages.Executed {
	l.step++
	l.clock = l.clock.Add(time.Minute)
	start := l.clock
	out := l.resume(code, nil)
	if out.Killed == "" {
		p := messages.PastBlock{Step: l.step, Code: code, Clock: start, Calls: l.made,
			OutputHash: fact.HashOf([]byte(out.Output)), State: out.State, CPU: out.CPU, Unrepeatable: out.Unrepeatable, Snapshot: out.Snapshot}
		if out.Err != nil {
			p.Err = out.Err.Type
		}
		l.past = append(l.past, p)
	}
	return out
}

// resume runs code as the block of this step, of which calls are known.
func (l *life) resume(code string, recorded []messages.RecordedCall) *messages.Executed {
	id := uint64(l.step)
	l.send(&messages.Execute{ID: id, Step: l.step, Code: code, Clock: l.clock, Past: l.past, Recorded: recorded})
	return l.answered()
}

// answer is the tool of these tests: it counts what it is given, and fails
// for every third.
func answer(m *messages.CallTool) *messages.ToolReturned {
	out := &messages.ToolReturned{Block: m.Block, Call: m.Call, Tool: m.Tool}
	size := 0
	for _, arg := range m.Args {
		size += len(arg)
	}
	if size%3 == 0 {
		out.Err = &messages.ToolError{Type: "ValueError", Message: fmt.Sprintf("size %d", size)}
	} else {
		out.Value = json.RawMessage(fmt.Sprint(size))
	}
	return out
}

// digest shows the variables that a program has.
const digest = "print(sorted((k, repr(v)) for k, v in list(globals().items()) if k[0] != '_' and type(v) in (int, float, str, list, dict, set, tuple, bool)))"

// statements are what programs are made of; %[1]s and %[2]s are variables,
// %[3]d is a number.
var statements = []string{
	"%[1]s = %[3]d", "%[1]s = [%[3]d, 'x' * %[3]d]", "%[1]s = {'k': %[3]d}", "%[1]s = str(%[2]s)", "%[1]s = (%[2]s, %[3]d)",
	"%[1]s = tool('%[3]d', str(%[2]s))", "%[1]s = [tool(i) for i in range(%[3]d %% 4 + 1) if i]",
	"try:\n    %[1]s = tool('ab', %[3]d)\nexcept ValueError as e:\n    %[1]s = str(e)",
	"import random\n%[1]s = random.randint(0, 10**%[3]d)", "import uuid\n%[1]s = str(uuid.uuid4())", "import secrets\n%[1]s = secrets.token_hex(4)",
	"import time\n%[1]s = time.time()", "from datetime import datetime\n%[1]s = str(datetime.now())", "import time\ntime.sleep(%[3]d / 10000)",
	"%[1]s = list({'a', 'b', str(%[2]s), 'c%[3]d'})", "def f%[3]d(n): return [n, %[3]d, str(%[2]s)]\n%[1]s = f%[3]d(%[3]d)",
	"def late(): return %[2]s\n%[1]s = late()", "class C%[3]d:\n    def __init__(self, n): self.n = n\n%[1]s = C%[3]d(%[3]d).n",
	"print(%[1]s, %[3]d)", "for i in range(%[3]d): %[1]s = [i, %[3]d]", "if len(str(%[2]s)) %% 2:\n    %[1]s = tool(%[3]d, '12')",
	"%[1]s = sum(len(str(x)) for x in (%[2]s, %[3]d))", "assert %[3]d %% 5, 'five'", "1 / (%[3]d %% 4)",
	"import asyncio\nasync def g():\n    await asyncio.sleep(0.001)\n    return tool('async', %[3]d)\n%[1]s = asyncio.run(g())",
}

// wild statements need not do twice what they did once.
var wild = []string{
	"%[1]s = id(object()) %% %[3]d", "print(object())", "%[1]s = [o.n for o in {type('T', (), {'n': i})() for i in range(%[3]d)}]",
	"%[1]s = tool(str(object()))", "import time\n%[1]s = time.process_time()", "if id(object()) // 16 %% 2: tool(%[3]d)",
}

func program(t *rapid.T, from []string) string {
	variable := rapid.SampledFrom([]string{"a", "b", "c", "d"})
	n := rapid.IntRange(1, 5).Draw(t, "statements")
	lines := make([]string, n)
	for i := range lines {
		s := rapid.SampledFrom(from).Draw(t, "statement")
		lines[i] = fmt.Sprintf(s+"%[4]s", variable.Draw(t, "to"), variable.Draw(t, "from"), rapid.IntRange(1, 9).Draw(t, "number"), "")
	}
	return strings.Join(lines, "\n")
}

// blocks draws programs, the first of which gives every variable a value.
func programs(t *rapid.T, from []string) []string {
	list := []string{"a, b, c, d = 1, 'two', [3], {'4': 4}"}
	for range rapid.IntRange(1, 5).Draw(t, "blocks") {
		list = append(list, program(t, from))
	}
	return list
}

// properties are what holds at every level.
var properties = []struct {
	name string
	test func(*testing.T, python.Driver)
}{
	{"the same", rebuildIsTheSame},
	{"or it is said", rebuildSaysWhatDiffers},
	{"resumed", resumeIsTheSame},
}

// TestPythonRebuild holds the levels to them.
func TestPythonRebuild(t *testing.T) {
	d := openLocal(t)
	for _, p := range properties {
		t.Run("local/"+p.name, func(t *testing.T) { p.test(t, d) })
	}
}

// rebuildIsTheSame: programs that ask for nothing but what the world gives
// have their variables back in another interpreter, and call nothing.
func rebuildIsTheSame(t *testing.T, d python.Driver) {
	rapid.Check(t, func(rt *rapid.T) {
		l := begin(t, d)
		defer l.stop()
		for _, code := range programs(rt, statements) {
			l.block(code)
		}
		want := l.block(digest)
		again := begin(t, d)
		defer again.stop()
		again.step, again.clock, again.past = l.step, l.clock, l.past[:len(l.past)-1]
		got := again.resume(digest, nil)
		require.Nil(rt, got.Lost, "%+v", got.Lost)
		require.Equal(rt, want.Output, got.Output)
		require.Empty(rt, again.made, "nothing is called")
	})
}

// rebuildSaysWhatDiffers: whatever programs do, their variables are what
// they were, or it is said that they are not; and nothing is called.
func rebuildSaysWhatDiffers(t *testing.T, d python.Driver) {
	said := 0
	rapid.Check(t, func(rt *rapid.T) {
		l := begin(t, d)
		defer l.stop()
		for _, code := range programs(rt, append(wild, statements[:8]...)) {
			l.block(code)
		}
		want := l.block(digest)
		again := begin(t, d)
		defer again.stop()
		again.step, again.clock, again.past = l.step, l.clock, l.past[:len(l.past)-1]
		got := again.resume(digest, nil)
		if got.Lost != nil {
			said++
			require.NotEmpty(rt, got.Lost.Reason)
		} else {
			require.Equal(rt, want.Output, got.Output)
		}
		require.Empty(rt, again.made, "nothing is called")
	})
	require.Positive(t, said, "no program differed: the wild ones are tame")
}

// resumeIsTheSame: a block that was cut off anywhere ends as it would have,
// with only those calls made that were not made before.
func resumeIsTheSame(t *testing.T, d python.Driver) {
	rapid.Check(t, func(rt *rapid.T) {
		l := begin(t, d)
		defer l.stop()
		codes := programs(rt, statements)
		for _, code := range codes[:len(codes)-1] {
			l.block(code)
		}
		past, clock := l.past, l.clock
		last := codes[len(codes)-1] + "\n" + digest
		want := l.block(last)
		calls := l.made
		known := rapid.IntRange(0, len(calls)).Draw(rt, "known")
		again := begin(t, d)
		defer again.stop()
		again.step, again.past = l.step, past
		again.clock = clock.Add(time.Minute + time.Duration(known)*time.Second)
		again.send(&messages.Execute{ID: uint64(again.step), Step: again.step, Code: last, Clock: clock.Add(time.Minute), Past: past, Recorded: calls[:known]})
		got := again.answered()
		require.Nil(rt, got.Lost, "%+v", got.Lost)
		require.Empty(rt, got.Interrupted)
		require.Equal(rt, want.Output, got.Output)
		require.Equal(rt, want.Err, got.Err)
		require.Equal(rt, calls[known:], again.made)
	})
}

// answered answers the calls of the block that was sent, to its end.
func (l *life) answered() *messages.Executed {
	l.made = []messages.RecordedCall{}
	for {
		switch m := next[any](l.bundle).(type) {
		case *messages.CallTool:
			l.clock = l.clock.Add(time.Second)
			r := answer(m)
			r.At = l.clock
			l.made = append(l.made, messages.RecordedCall{Call: m.Call, Tool: m.Tool, Hash: fact.CallHash(m.Tool, m.Args, m.Kwargs), Value: r.Value, Err: r.Err, At: r.At})
			l.send(r)
		case *messages.Executed:
			return m
		}
	}
}
