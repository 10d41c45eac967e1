package pythontest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/python"
)

// testValues: what a value looks like in tagged JSON, and that it comes back
// as it went.
func testValues(t *testing.T, d python.Driver) {
	cases := []struct{ name, code, want string }{
		{"none", "None", ""},
		{"bool", "True", "true"},
		{"big integer", "2**100", "1267650600228229401496703205376"},
		{"whole float", "2.0", "2.0"},
		{"nan", "float('nan')", `{"$float":"nan"}`},
		{"minus infinity", "-float('inf')", `{"$float":"-inf"}`},
		{"text", "'é 中 \"'", `"é 中 \""`},
		{"tuple", "(1, (2,))", `{"$tuple":[1,{"$tuple":[2]}]}`},
		{"set", "{1}", `{"$set":[1]}`},
		{"frozenset", "frozenset([1])", `{"$frozenset":[1]}`},
		{"bytes", "b'hi'", `{"$bytes":"aGk="}`},
		{"date", "import datetime\ndatetime.date(2024, 2, 28)", `{"$date":"2024-02-28"}`},
		{"datetime", "import datetime\ndatetime.datetime(2024, 2, 28, 1, 2, 3)", `{"$datetime":"2024-02-28T01:02:03"}`},
		{"tool", "[upper]", `[{"$tool":"upper"}]`},
		{"order of keys", "{'b': 1, 'a': 2}", `{"b":1,"a":2}`},
		{"other keys", "{1: 'a', (2, 3): 'b'}", `{"$dict":[[1,"a"],[{"$tuple":[2,3]},"b"]]}`},
		{"keys like tags", "{'$tuple': [1]}", `{"$dict":[["$tuple",[1]]]}`},
		{"subclasses", "from enum import IntEnum\nfrom collections import Counter\nclass E(IntEnum):\n    A = 3\n[E.A, Counter('aa')]", `[3,{"a":2}]`},
		{"anything else", "class C:\n    def __repr__(self): return 'C!'\nC()", `{"$repr":"C!","type":"C"}`},
		{"broken text form", "class B:\n    def __repr__(self): 1/0\nB()", `{"$repr":"<B object; its text form raised ZeroDivisionError>","type":"B"}`},
	}
	b := setup(t, d)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b.t = t
			require.Equal(t, c.want, string(b.ok(c.code).Value))
		})
	}
	t.Run("there and back", func(t *testing.T) {
		b.t = t
		b.ok("import datetime, math\nv = [None, True, 2**100, 2.0, 'x', (1, (2,)), {1}, frozenset([1]), b'hi', datetime.date(2024, 2, 28), " +
			"datetime.datetime(2024, 2, 28, 1), {1: 'a'}, {'$set': [1]}, {'a': {'b': []}}, upper]")
		require.Equal(t, "true", string(b.ok("w = echo(v)\nw == v and [type(x) for x in w] == [type(x) for x in v] and math.isnan(echo(float('nan')))").Value))
	})
	t.Run("too big", func(t *testing.T) {
		b := setup(t, d, patient)
		require.Contains(t, string(b.ok("x = list(range(2_000_000))\nx").Value), "$repr")
		require.Equal(t, "ValueError", b.fails("echo(x)").Type)
		b.ok("a = []\na.append(a)\na")
		b.ok("deep = []\nfor i in range(5000): deep = [deep]\necho(deep)")
	})
}

func testLastValue(t *testing.T, d python.Driver) {
	cases := []struct{ name, code, want string }{
		{"expression", "1\n2", "2"},
		{"assignment", "x = 5", "5"},
		{"several targets", "x = y = 6", "6"},
		{"unpacking", "a, b = 1, 2", `{"$tuple":[1,2]}`},
		{"augmented", "x = 1\nx += 2", "3"},
		{"annotated", "x: int = 7", "7"},
		{"loop", "for i in range(3):\n    i * 10", "20"},
		{"empty loop", "for i in []:\n    i", ""},
		{"branch", "if False:\n    1\nelse:\n    2", "2"},
		{"with", "import contextlib\nwith contextlib.nullcontext(4) as c:\n    c", "4"},
		{"try", "try:\n    1/0\nexcept ZeroDivisionError:\n    'caught'", `"caught"`},
		{"match", "match 3:\n    case 3: 'three'", `"three"`},
		{"definition", "1\ndef f(): pass", ""},
		{"nothing", "", ""},
		{"only a comment", "# x", ""},
	}
	b := setup(t, d)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b.t = t
			require.Equal(t, c.want, string(b.ok(c.code).Value))
		})
	}
}

func testOutput(t *testing.T, d python.Driver) {
	b := setup(t, d, patient)
	t.Run("empty", func(t *testing.T) {
		b.t = t
		require.Empty(t, b.ok("1").Output)
	})
	t.Run("characters that are cut at no byte", func(t *testing.T) {
		b.t = t
		require.Equal(t, strings.Repeat("中文", 5000), b.ok("print('中文' * 5000, end='')").Output)
	})
	t.Run("library output", func(t *testing.T) {
		b.t = t
		require.Equal(t, "{'a': 1}\n", b.ok("import pprint\npprint.pprint({'a': 1})").Output)
	})
	t.Run("redirected", func(t *testing.T) {
		b.t = t
		require.Equal(t, "after 'in\\n'\n", b.ok("import io, contextlib\ns = io.StringIO()\nwith contextlib.redirect_stdout(s):\n    print('in')\nprint('after', repr(s.getvalue()))").Output)
	})
	for name, code := range map[string]string{
		"many lines":   "for i in range(200_000): print('x' * 50)\nprint('the end')",
		"one line":     "print('y' * 20_000_000, end='')\nprint('the end')",
		"wide letters": "print('中' * 1_000_000)\nprint('the end')",
	} {
		t.Run(name, func(t *testing.T) {
			b.t = t
			out := b.ok("print('the beginning')\n" + code).Output
			require.LessOrEqual(t, len(out), outputLimit+200)
			require.True(t, strings.HasPrefix(out, "the beginning\n"))
			require.True(t, strings.HasSuffix(out, "the end\n"))
			require.Regexp(t, `… \d+ bytes of output left out …`, out)
			require.NotContains(t, out, "\uFFFD")
		})
	}
	t.Run("exactly the limit", func(t *testing.T) {
		b.t = t
		want := strings.Repeat("a", outputLimit-1) + "b"
		require.Equal(t, want, b.ok(fmt.Sprintf("print('a' * %d + 'b', end='')", outputLimit-1)).Output)
	})
}

func testCalls(t *testing.T, d python.Driver) {
	b := setup(t, d)
	t.Run("positional and keyword", func(t *testing.T) {
		b.t = t
		requireSame(t, []byte(`["A #1", "A #2"]`), b.ok("[r['title'] for r in exa_search(upper('a'), max_results=2)]").Value)
		calls := b.stubs.Calls()
		require.Len(t, calls, 2)
		require.Equal(t, []uint64{1, 2}, []uint64{calls[0].Ordinal, calls[1].Ordinal})
		require.JSONEq(t, `{"max_results":2}`, string(calls[1].Kwargs))
		require.Nil(t, calls[0].Kwargs)
	})
	t.Run("ordinals begin anew in each block", func(t *testing.T) {
		b.t = t
		b.ok("upper('x')")
		calls := b.stubs.Calls()
		require.Equal(t, uint64(1), calls[len(calls)-1].Ordinal)
	})
	for _, class := range []string{"ToolError", "ToolTimeout", "ToolPanicked", "ToolOutcomeUnknown", "ValueError", "KeyError"} {
		t.Run("raises "+class, func(t *testing.T) {
			b.t = t
			got := b.ok(fmt.Sprintf("try:\n    raise_named(%[1]q, 'why')\nexcept %[1]s as e:\n    r = [type(e).__name__, e.args[0]]\nr", class))
			requireSame(t, []byte(fmt.Sprintf(`[%q, "why"]`, class)), got.Value)
		})
	}
	t.Run("tool errors are one family", func(t *testing.T) {
		b.t = t
		b.ok("try:\n    raise_named('ToolTimeout', 'x')\nexcept ToolError:\n    pass")
	})
	t.Run("classes that don't exist or aren't exceptions", func(t *testing.T) {
		b.t = t
		for _, class := range []string{"NoSuch", "int", "SystemExit", "UnicodeDecodeError"} {
			require.Equal(t, "ToolError", b.fails(fmt.Sprintf("raise_named(%q, 'x')", class)).Type, class)
		}
	})
	t.Run("the error names the model's line", func(t *testing.T) {
		b.t = t
		e := b.fails("x = 1\nfailing_tool('quota')")
		require.Equal(t, 2, e.Line)
		require.Contains(t, e.Message, "quota")
		require.Contains(t, e.Traceback, "failing_tool('quota')")
		require.NotContains(t, e.Traceback, "_troupe")
	})
}
