package pythontest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/messages"
)

// stateLimit is more than any state of the suite needs, in bytes.
const stateLimit = 4 << 20

// carry takes a snapshot of one interpreter into another.
func carry(t *testing.T, d python.Driver, from *bundle) (*bundle, []string) {
	t.Helper()
	state, err := from.it.Snapshot(t.Context(), stateLimit)
	require.NoError(t, err)
	to := setup(t, d)
	require.NoError(t, to.it.Restore(t.Context(), state.Data))
	return to, state.Missing
}

// testState: variables as bytes, and back.
func testState(t *testing.T, d python.Driver) {
	kept := []struct{ name, code, look, want string }{
		{"values", "a = [1, 2.5, 'x', b'y', None, (1, {2}), frozenset([3]), 2**100, {'k': [1]}]", "a", ""},
		{"shared parts", "a = [1]\nb = [a, a]\nc = {'a': a}", "b[0].append(2) or [a is b[1], a is c['a'], a]", `[true,true,[1,2]]`},
		{"cycles", "a = []\na.append(a)", "a[0] is a", "true"},
		{"functions", "def f(n, *r, k=3, **o):\n    return n * k\ng = lambda x: f(x) + 1", "[g(2), f(1, k=5), f.__name__]", `[7,5,"f"]`},
		{"functions that call each other", "def even(n): return n == 0 or odd(n - 1)\ndef odd(n): return n > 0 and even(n - 1)", "[even(10), odd(10)]", "[true,false]"},
		{"closures", "def counter():\n    n = 0\n    def up():\n        nonlocal n\n        n += 1\n        return n\n    return up\nc = counter()\nc()", "[c(), c()]", "[2,3]"},
		{"inner recursion", "def make():\n    def fac(n): return n * fac(n - 1) if n else 1\n    return fac\nf = make()", "f(5)", "120"},
		{"decorators", "import functools\ndef twice(f):\n    @functools.wraps(f)\n    def g(*a): return f(*a) * 2\n    return g\n@twice\ndef h(x):\n    'doc'\n    return x", "[h(3), h.__doc__, h.__name__]", `[6,"doc","h"]`},
		{"classes", "class A:\n    n = 1\n    def __init__(self, x): self.x = x\n    def get(self): return self.x + self.n\n    @property\n    def p(self): return self.x\n    @classmethod\n    def c(cls): return cls.n\n    @staticmethod\n    def s(): return 9\nclass B(A):\n    def get(self): return super().get() * 10\nb = B(4)", "[b.get(), b.p, b.c(), B.s(), isinstance(b, A), type(b) is B]", "[50,4,1,9,true,true]"},
		{"nested classes", "class A:\n    class B: pass\ndef f():\n    class L: pass\n    return L\nl = f()", "[repr(A.B), repr(l)]", `["<class '__main__.A.B'>","<class '__main__.f.<locals>.L'>"]`},
		{"partials and methods", "import functools\nclass A:\n    def m(self): return 1\nm = A().m\np = functools.partial(divmod, 7)", "[m(), p(2)]", `[1,{"$tuple":[3,1]}]`},
		{"typed tuples", "from typing import NamedTuple\nclass N(NamedTuple):\n    a: int = 3\nn = N(1)", "[repr(n), N().a]", `["N(a=1)",3]`},
		{"slots", "class S:\n    __slots__ = ('x', 'y')\n    def __init__(self): self.x = 1\ns = S()", "s.y = 2\n[s.x, s.y, hasattr(s, '__dict__')]", "[1,2,false]"},
		{"data classes", "from dataclasses import dataclass, field, replace\n@dataclass(order=True)\nclass P:\n    x: int\n    y: list = field(default_factory=list)\np = P(1, [2])", "from dataclasses import asdict\nq = replace(p, x=5)\n[repr(p), p < q, asdict(q), P(7).y, p == P(1, [2])]", `["P(x=1, y=[2])",true,{"x":5,"y":[2]},[],true]`},
		{"abstract classes", "from abc import ABC, abstractmethod\nclass Q(ABC):\n    @abstractmethod\n    def f(self): ...\nclass R(Q):\n    def f(self): return 3\nr = R()", "try:\n    Q()\nexcept TypeError:\n    v = [r.f()]\nv", "[3]"},
		{"named tuples", "from collections import namedtuple\nN = namedtuple('N', 'a b')\nn = N(1, 2)", "[n.a, n._replace(b=5).b, N(3, 4).b, repr(n)]", `[1,5,4,"N(a=1, b=2)"]`},
		{"containers of the library", "from collections import deque, Counter, defaultdict, OrderedDict\nfrom decimal import Decimal\nfrom fractions import Fraction\nimport datetime, re\nd = defaultdict(list)\nd['a'].append(1)\nv = [deque([1], 2), Counter('aab'), OrderedDict(a=1), Decimal('1.5'), Fraction(1, 3), datetime.date(2026, 1, 2), re.compile('a+')]", "d['b'].append(2)\n[dict(d), v[0].maxlen, v[1]['a'], str(v[3] + v[3]), str(v[4]), v[5].isoformat(), v[6].pattern]", `[{"a":[1],"b":[2]},2,2,"3.0","1/3","2026-01-02","a+"]`},
		{"modules", "import math, json as j", "[math.floor(2.5), j.dumps([1])]", `[2,"[1]"]`},
		{"exceptions", "class E(ValueError): pass\ne = E('why')", "try:\n    raise e\nexcept ValueError as x:\n    r = [type(x) is E, str(x)]\nr", `[true,"why"]`},
		{"tools", "t = upper\nu = [echo]", "[t('a'), u[0](1), t is upper]", `["A",1,true]`},
		{"random numbers", "import random\nrandom.seed(3)\nrandom.random()\nr = random.Random(4)", "[random.random(), r.random()]", ""},
		{"decimal context", "import decimal\ndecimal.getcontext().prec = 5", "str(decimal.Decimal(1) / 3)", `"0.33333"`},
		{"chance", "import uuid\nuuid.uuid4()", "str(uuid.uuid4())", ""},
		{"the clock", "import time\ntime.sleep(0)", "time.time_ns() // 10**9", ""},
	}
	for _, c := range kept {
		t.Run("kept/"+c.name, func(t *testing.T) {
			from := setup(t, d)
			from.ok(c.code)
			to, missing := carry(t, d, from)
			require.Empty(t, missing)
			one, two := from.ok(c.look), to.ok(c.look)
			require.Equal(t, string(one.Value), string(two.Value))
			require.Equal(t, one.State, two.State)
			require.NotEmpty(t, one.State)
			if c.want != "" {
				require.Equal(t, c.want, string(two.Value))
			}
		})
	}
	for name, code := range map[string]string{
		"generator": "x = (i for i in range(3))\nnext(x)", "enum": "import enum\nclass x(enum.Enum):\n    A = 1",
		"lock": threadingModule + "x = threading.Lock()\ndel threading, random", "holds one": "x = {'g': (i for i in [1])}",
		"cache": "import functools\n@functools.cache\ndef x(n): return n", "type variable": "import typing\nx = typing.TypeVar('x')",
		"new type": "import typing\nx = typing.NewType('x', int)", "generic class": "class x[T]: pass", "alias": "type x = list[int]",
		"registered":    "from abc import ABC\nclass x(ABC): pass\nx.register(int)",
		"subclass hook": "class B:\n    def __init_subclass__(cls, k): pass\nclass x(B, k=1): pass\nB = 0",
		"odd exception": "class E(Exception):\n    def __init__(self, a, b): super().__init__(a)\nx = E(1, 2)",
		"refuses":       "class C:\n    def __reduce__(self): raise RuntimeError('no')\nx = C()",
		"answers":       "class C:\n    def __reduce__(self): final_answer(1)\nx = C()",
	} {
		t.Run("named/"+name, func(t *testing.T) {
			from := setup(t, d)
			from.ok("y = [1]\n" + code)
			state, err := from.it.Snapshot(t.Context(), stateLimit)
			if name == "answers" {
				require.ErrorIs(t, err, python.ErrNoSnapshot)
			} else {
				require.NoError(t, err)
				require.Equal(t, []string{"x"}, state.Missing)
				to := setup(t, d)
				require.NoError(t, to.it.Restore(t.Context(), state.Data))
				require.Equal(t, "[1]", string(to.ok("y").Value))
				require.Equal(t, "NameError", to.fails("x").Type)
			}
			require.Equal(t, "[1]", string(from.ok("y").Value), "taking a snapshot changes nothing")
		})
	}
	t.Run("too large", func(t *testing.T) {
		b := setup(t, d)
		b.ok("x = 'x' * 1_000_000\ny = 2")
		state, err := b.it.Snapshot(t.Context(), 100_000)
		require.NoError(t, err)
		require.Equal(t, []string{"x"}, state.Missing)
		b.ok("for i in range(20_000): globals()['v%d' % i] = 'y' * 100")
		_, err = b.it.Snapshot(t.Context(), 100_000)
		require.ErrorIs(t, err, python.ErrNoSnapshot)
		require.Equal(t, "2", string(b.ok("y").Value))
	})
	t.Run("no calls are made", func(t *testing.T) {
		b := setup(t, d)
		b.ok("class C:\n    def __reduce__(self): return str, (upper('x'),)\nx = C()")
		state, err := b.it.Snapshot(t.Context(), stateLimit)
		require.NoError(t, err)
		require.Equal(t, []string{"x"}, state.Missing)
		require.Empty(t, b.stubs.Calls())
	})
	t.Run("that doesn't end", func(t *testing.T) {
		b := setup(t, d, func(s *python.Spec) { s.Timeout = fast })
		b.ok("class C:\n    def __reduce__(self):\n        while True: pass\nx = C()")
		_, err := b.it.Snapshot(t.Context(), stateLimit)
		require.ErrorIs(t, err, python.ErrNoSnapshot)
		_, err = b.it.Exec(t.Context(), python.Block{Code: "1"}, b.stubs)
		require.ErrorIs(t, err, python.ErrGone)
	})
	t.Run("cancelled", func(t *testing.T) {
		b := setup(t, d)
		b.ok("class C:\n    def __reduce__(self):\n        while True: pass\nx = C()")
		ctx, cancel := context.WithTimeout(t.Context(), fast)
		defer cancel()
		_, err := b.it.Snapshot(ctx, stateLimit)
		require.ErrorIs(t, err, python.ErrNoSnapshot)
	})
	t.Run("damaged", func(t *testing.T) {
		require.Error(t, setup(t, d).it.Restore(t.Context(), []byte("no pickle")))
	})
	t.Run("errors name the blocks of before", func(t *testing.T) {
		from := setup(t, d)
		from.ok("def f():\n    1/0")
		to, _ := carry(t, d, from)
		out, err := to.it.Exec(t.Context(), python.Block{Code: "f()", Number: 2}, to.stubs)
		require.NoError(t, err)
		require.Contains(t, out.Err.Traceback, "block 1, line 2, in f\n    1/0")
		require.Equal(t, &messages.PyError{Type: "ZeroDivisionError", Message: "division by zero", Line: 1, Traceback: out.Err.Traceback}, out.Err)
	})
}
