package policy_test

import (
	"go/ast"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// call is a call that files of one sort may not make.
type call struct {
	names  []string
	tests  bool     // in tests; else in what is not a test
	trees  []string // where; nil: everywhere
	except []string // trees that may, each with its reason beside it
	reason string
}

var calls = []call{
	{names: []string{"time.Sleep"}, tests: true, reason: "a test waits for a fact: a channel, a reply, a counter"},
	{names: []string{"t.Skip", "t.Skipf", "t.SkipNow", "b.Skip", "b.Skipf", "b.SkipNow", "testing.Short"}, tests: true,
		reason: "a skipped test looks green; what needs more than Go carries a build tag"},
	{names: []string{"time.Sleep"}, reason: "nothing can cancel it"},
	{names: []string{"time.Now", "time.Since", "time.After", "time.AfterFunc"}, trees: []string{"messages", "actors", "supervisor", "bridge"},
		except: []string{
			"actors/system",            // it is the seam
			"actors/python/wire",       // the time of a child process is real, whatever the world's clock says
			"actors/python/local",      // so is that of a lock between processes
			"actors/python/wasm",       // and that of an interpreter in this one
			"actors/python/pythontest", // and that of the processes a driver is held to
		},
		reason: "time comes from the World"},
	{names: []string{"os.Exit", "log.Fatal"}, except: []string{"cmd", "actors/python/local"}, reason: "a library doesn't end the program"},
}

func TestForbiddenCalls(t *testing.T) {
	for _, f := range sources(t) {
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			name := selectorCall(n)
			if name == "" {
				return true
			}
			for _, c := range calls {
				if c.tests != f.test || !slices.Contains(c.names, name) || within(f.dir, c.except...) {
					continue
				}
				if c.trees == nil || within(f.dir, c.trees...) {
					assert.Failf(t, "a forbidden call", "%s calls %s: %s", f.at(n), name, c.reason)
				}
			}
			return true
		})
	}
}

// words may stand in no file of ours. They are put together here, so that this
// file doesn't hold them.
var words = []struct{ pattern, reason string }{
	{`\b(` + `TO` + `DO|FIX` + `ME|XX` + `X)\b`, "it is done, or it is an issue"},
	{`(?i)\bnot (yet )?impl` + `emented\b`, "what isn't there isn't offered"},
	{`/(ro` + `ot|wo` + `rk)/`, "a path of one machine"},
	{`[^a-z]` + `proxy\.` + `golang\.org|regis` + `try\.npmjs|py` + `pi\.org`, "an address of a registry"},
	{`(?i)-----BEGIN [A-Z ]*PRIV` + `ATE KEY`, "a secret"},
}

func TestForbiddenWords(t *testing.T) {
	compiled := make([]*regexp.Regexp, len(words))
	for i, w := range words {
		compiled[i] = regexp.MustCompile(w.pattern)
	}
	require.NoError(t, walk(func(path string, data []byte) error {
		if !utf8.Valid(data) {
			return nil // a binary
		}
		for n, line := range strings.Split(string(data), "\n") {
			for i, re := range compiled {
				if re.MatchString(line) {
					assert.Failf(t, "a forbidden word", "%s:%d holds %q: %s", path, n+1, re.FindString(line), words[i].reason)
				}
			}
		}
		return nil
	}))
}
