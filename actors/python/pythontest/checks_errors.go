package pythontest

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/messages"
)

func testErrors(t *testing.T, d python.Driver) {
	b := setup(t, d)
	t.Run("frames of the model only", func(t *testing.T) {
		b.t = t
		b.ok("def parse(s):\n    import json\n    return json.loads(s)")
		e := b.fails("x = 1\n\nparse('{')")
		require.Equal(t, "JSONDecodeError", e.Type)
		require.Equal(t, 3, e.Line)
		require.Len(t, regexp.MustCompile(`(?m)^  (block \d+, )?line`).FindAllString(e.Traceback, -1), 2, e.Traceback)
		require.Contains(t, e.Traceback, "return json.loads(s)")
	})
	t.Run("cause", func(t *testing.T) {
		b.t = t
		e := b.fails("try:\n    1/0\nexcept ZeroDivisionError as e:\n    raise ValueError('outer') from e")
		require.Equal(t, 4, e.Line)
		require.Contains(t, e.Traceback, "caused by ZeroDivisionError: division by zero (line 2)")
	})
	t.Run("endless recursion", func(t *testing.T) {
		b.t = t
		e := b.fails("def f(n): return f(n + 1)\nf(0)")
		require.Equal(t, "RecursionError", e.Type)
		require.Less(t, len(e.Traceback), 8<<10)
		require.Equal(t, "2", string(b.ok("1 + 1").Value))
	})
	t.Run("an exception whose text fails", func(t *testing.T) {
		b.t = t
		require.Equal(t, "E", b.fails("class E(Exception):\n    def __str__(self): raise RuntimeError('no')\nraise E()").Type)
	})
	for name, code := range map[string]string{
		"exit": "raise SystemExit(3)", "interrupt": "raise KeyboardInterrupt()", "base": "raise BaseException('x')",
	} {
		t.Run(name+" does not end the interpreter", func(t *testing.T) {
			b.t = t
			b.fails(code)
			b.ok("1")
		})
	}
	t.Run("syntax", func(t *testing.T) { testSyntax(t, b) })
	t.Run("a long chain", func(t *testing.T) { testLongChain(t, d) })
	t.Run("in Chinese", func(t *testing.T) {
		b := setup(t, d, func(s *python.Spec) { s.Lang = messages.ZH })
		require.Contains(t, b.fails("import socket").Message, "这里不允许导入 'socket'")
	})
}

func testSyntax(t *testing.T, b *bundle) {
	cases := []struct {
		name, code string
		line       int
		message    string
	}{
		{"cut", "x = 1\nprint(", 2, "never closed"},
		{"full-width comma", "x = 1\nf(1，2)", 2, "',' (U+FF0C)"},
		{"full-width quotes", "print(“hi”)", 1, "U+201C"},
		{"full-width bracket", "x = 1\n\nprint（1)", 3, "U+FF08"},
		{"indentation", "if True:\nx = 1", 2, "indent"},
		{"null byte", "x = 1\x00", 0, "null"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b.t = t
			e := b.fails(c.code)
			require.Contains(t, []string{"SyntaxError", "IndentationError"}, e.Type)
			require.Equal(t, c.line, e.Line, e.Message)
			require.Contains(t, strings.ReplaceAll(e.Message, "'，'", "','"), c.message)
		})
	}
	t.Run("full-width letters in strings are fine", func(t *testing.T) {
		b.t = t
		require.Equal(t, `"（，）"`, string(b.ok("# （注释）\n'（，）'").Value))
		require.NotContains(t, b.fails("s = '（，）'\nx = = 1").Message, "full-width")
	})
}

// testLongChain: a chain of operators is a deep tree, but no recursion.
func testLongChain(t *testing.T, d python.Driver) {
	b, length := setup(t, d), 2000
	if !featuresOf(d).deepC {
		require.Equal(t, "RecursionError", b.fails(strings.Repeat("1+", length-1)+"1").Type)
		length = 150
	}
	require.Equal(t, strconv.Itoa(length), string(b.ok(strings.Repeat("1+", length-1)+"1").Value))
}

func testFinal(t *testing.T, d python.Driver) {
	cases := []struct{ name, code, want, output string }{
		{"plain", "final_answer('x')", `"x"`, ""},
		{"keyword", "final_answer(answer=1)", "1", ""},
		{"nothing", "final_answer()", "", ""},
		{"in except Exception", "try:\n    final_answer(1)\nexcept Exception:\n    print('caught')", "1", ""},
		{"in except BaseException", "print('a')\ntry:\n    final_answer(1)\nexcept BaseException:\n    pass\nprint('b')\nfinal_answer(2)", "1", "a\n"},
		{"in a bare except in a loop", "for i in range(3):\n    try:\n        final_answer(i)\n    except:\n        continue", "0", ""},
		{"followed by an error", "try:\n    final_answer(1)\nfinally:\n    1/0", "1", ""},
		{"in a function", "def f():\n    final_answer({'a': (1,)})\nf()", `{"a":{"$tuple":[1]}}`, ""},
		{"in a coroutine", "import asyncio\nasync def f():\n    await asyncio.sleep(0)\n    final_answer(5)\nasyncio.run(f())", "5", ""},
		{"in a generator", "list(final_answer(i) for i in range(3))", "0", ""},
		{"with a broken text form", "class B:\n    def __str__(self): 1/0\n    __repr__ = __str__\nfinal_answer(B())", `{"$repr":"<B object; its text form raised ZeroDivisionError>","type":"B"}`, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b := setup(t, d)
			out := b.ok(c.code)
			require.True(t, out.IsFinal)
			require.Equal(t, c.want, string(out.Final))
			require.Equal(t, c.output, out.Output)
			require.Empty(t, out.Value)
			require.False(t, b.ok("1").IsFinal, "the flag belongs to its block")
		})
	}
	t.Run("that is followed by an endless loop", func(t *testing.T) {
		b := setup(t, d, func(s *python.Spec) { s.Timeout = fast })
		out := b.exec("try:\n    final_answer('kept')\nexcept BaseException:\n    pass\n" + spin)
		require.Equal(t, "timeout", out.Killed)
		require.True(t, out.IsFinal)
		require.Equal(t, "kept", out.FinalText)
	})
	t.Run("text form", func(t *testing.T) {
		b := setup(t, d)
		require.Equal(t, "{'a': 'ü'}", b.ok("final_answer({'a': 'ü'})").FinalText)
	})
}

func testNames(t *testing.T, d python.Driver) {
	refused := map[string]string{
		"assignment":    "upper = 1",
		"tuple":         "a, (upper, b) = 1, (2, 3)",
		"starred":       "a, *upper = [1, 2]",
		"for":           "for upper in []: pass",
		"with":          "import contextlib\nwith contextlib.nullcontext() as upper: pass",
		"except":        "try:\n    pass\nexcept ValueError as upper:\n    pass",
		"import":        "import math as upper",
		"from import":   "from math import sqrt as upper",
		"def":           "def upper(x): return x",
		"class":         "class upper: pass",
		"walrus":        "print(upper := 3)",
		"del":           "del upper",
		"match":         "match 1:\n    case upper: pass",
		"augmented":     "upper += 1",
		"annotated":     "upper: int = 3",
		"comprehension": "[0 for upper in range(3)]",
		"in a function": "def f():\n    upper = upper('x')",
		"its result":    "upper = upper(text='x')",
	}
	b := setup(t, d)
	for name, code := range refused {
		t.Run(name, func(t *testing.T) {
			b.t = t
			e := b.fails("print('never')\n" + code)
			require.Contains(t, e.Message, "'upper' is the name of a tool")
			require.Positive(t, e.Line)
			require.Equal(t, `"A"`, string(b.ok("upper('a')").Value))
		})
	}
	t.Run("final_answer", func(t *testing.T) {
		b.t = t
		require.Contains(t, b.fails("final_answer = 3").Message, "'final_answer'")
	})
	t.Run("nothing ran before", func(t *testing.T) {
		b.t = t
		out := b.exec("print('never')\nupper = 1")
		require.Empty(t, out.Output)
	})
	for name, code := range map[string]string{
		"parameter": "def f(upper): return upper\nf(1)", "attribute": "class C:\n    upper = 1\n    def echo(self): pass\nC.upper",
		"keyword": "dict(upper=1)['upper']", "string": "x = {'upper': 1}\nx['upper']",
	} {
		t.Run(name+" is no assignment", func(t *testing.T) {
			b.t = t
			require.Equal(t, "1", string(b.ok(code).Value))
		})
	}
	t.Run("put back after the block", func(t *testing.T) {
		b.t = t
		b.ok("globals()['upper'] = 1\nglobals().clear()")
		require.Equal(t, `"A"`, string(b.ok("upper('a')").Value))
		b.ok("__builtins__ = {}")
		require.Equal(t, "1", string(b.ok("len([1])").Value))
	})
}

func testImports(t *testing.T, d python.Driver) {
	b := setup(t, d)
	for _, code := range []string{
		"from tools import upper", "from smolagents import final_answer, upper", "import parallel_executor",
		"from x import upper as up\nupper = None if False else 1" /* refused for the assignment */, "if True:\n    from tools import upper\n",
	} {
		t.Run("of a tool/"+strings.SplitN(code, "\n", 2)[0], func(t *testing.T) {
			b.t = t
			if strings.Contains(code, "upper = ") {
				b.fails(code)
				return
			}
			require.Equal(t, `"A"`, string(b.ok(code+"\nupper('a')").Value))
		})
	}
	t.Run("of a tool under another name", func(t *testing.T) {
		b.t = t
		require.Equal(t, `"A"`, string(b.ok("from tools import upper as up, echo\nup('a')").Value))
	})
	for _, code := range []string{"import os", "import os.path", "from os import path", "import numpy as np", "import urllib.request", "from urllib import request", "from . import x", "__import__('os')"} {
		t.Run("refused/"+code, func(t *testing.T) {
			b.t = t
			e := b.fails(code)
			require.Equal(t, "ImportError", e.Type)
			require.Contains(t, e.Message, "Allowed modules: __future__, abc")
		})
	}
	for _, code := range []string{"import collections.abc", "from urllib import parse", "import urllib.parse", "from __future__ import annotations"} {
		t.Run("allowed/"+code, func(t *testing.T) {
			b.t = t
			b.ok(code)
		})
	}
	t.Run("every base module is there", func(t *testing.T) {
		b.t = t
		for _, name := range python.BaseImports() {
			b.ok("import " + name)
		}
	})
	t.Run("additional", func(t *testing.T) {
		b := setup(t, d, func(s *python.Spec) { s.Imports = []string{"shlex"} })
		require.Equal(t, `["a"]`, string(b.ok("import shlex\nshlex.split('a')").Value))
	})
	for _, code := range []string{"open('x')", "exec('1')", "eval('1')", "compile('1', '', 'eval')", "input()", "breakpoint()", "exit()"} {
		t.Run("builtin/"+code, func(t *testing.T) {
			b.t = t
			require.Equal(t, "PermissionError", b.fails(code).Type)
		})
	}
}
