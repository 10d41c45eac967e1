package pythontest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/python"
)

// testMark: Outcome.State tells variables apart, and only by what they hold.
func testMark(t *testing.T, d python.Driver) {
	one, two := setup(t, d), setup(t, d)
	mark := func(t *testing.T, b *bundle, code string) string {
		b.t = t
		b.ok("globals().clear()")
		return b.ok(code).State
	}
	for name, pair := range map[string][2]string{
		"values":          {"x = 1", "x = 2"},
		"kinds":           {"x = 1", "x = 1.0"},
		"true and one":    {"x = 1", "x = True"},
		"names":           {"x = 1", "y = 1"},
		"deep":            {"x = {'a': [1, (2, {'b': 3})]}", "x = {'a': [1, (2, {'b': 4})]}"},
		"keys":            {"x = {'a': 1}", "x = {'b': 1}"},
		"order":           {"x = [1, 2]", "x = [2, 1]"},
		"members":         {"x = {1, 2}", "x = {1, 3}"},
		"lengths":         {"x = 'a' * 100_000", "x = 'a' * 100_001"},
		"ends":            {"x = 'a' * 100_000 + 'b'", "x = 'a' * 100_000 + 'c'"},
		"long integers":   {"x = 7 ** 100_000", "x = 7 ** 100_000 + 1"},
		"bytes and text":  {"x = b'a'", "x = 'a'"},
		"attributes":      {"class C: pass\nx = C()\nx.n = 1", "class C: pass\nx = C()\nx.n = 2"},
		"data classes":    {"from dataclasses import dataclass\n@dataclass\nclass P:\n    n: int\nx = P(1)", "from dataclasses import dataclass\n@dataclass\nclass P:\n    n: int\nx = P(2)"},
		"defaults":        {"def x(n=1): pass", "def x(n=2): pass"},
		"closures":        {"def f(n): return lambda: n\nx = f(1)", "def f(n): return lambda: n\nx = f(2)"},
		"queues":          {"from collections import deque\nx = deque([1])", "from collections import deque\nx = deque([2])"},
		"counters":        {"from collections import Counter\nx = Counter('aab')", "from collections import Counter\nx = Counter('abb')"},
		"none and absent": {"x = None", ""},
	} {
		t.Run("differs/"+name, func(t *testing.T) {
			require.NotEqual(t, mark(t, one, pair[0]), mark(t, two, pair[1]))
		})
	}
	for name, pair := range map[string][2]string{
		"same":                {"x = [1, 'a', None, 2.5, {'k': (1,)}]", "x = [1, 'a', None, 2.5, {'k': (1,)}]"},
		"addresses":           {"x = object()", "y = object()\nx = object()\ndel y"},
		"how a set was built": {"x = set(range(0, 1000, 8))", "x = set(range(992, -1, -8))"},
		"shared or not":       {"a = [1]\nx = [a, a]", "a = [1]\nx = [[1], [1]]"},
		"what is no variable": {"x = 1", "x = 1\nupper('y')"},
		"cycles":              {"x = []\nx.append(x)", "x = []\nx.append(x)"},
		"very many":           {"x = list(range(50_000))", "x = list(range(50_000))"},
		"nan":                 {"x = float('nan')", "x = float('inf') - float('inf')"},
	} {
		t.Run("same/"+name, func(t *testing.T) {
			require.Equal(t, mark(t, one, pair[0]), mark(t, two, pair[1]))
			require.Len(t, mark(t, one, pair[0]), 16)
		})
	}
}
