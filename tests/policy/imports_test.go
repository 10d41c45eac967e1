package policy_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// arrow says which packages of ours a tree may import, beside its own.
type arrow struct {
	from   string
	may    []string
	reason string
}

// arrows are the arrows of the house: the first that fits a package counts.
var arrows = []arrow{
	{"messages", nil, "the vocabulary imports nothing of ours"},
	{"actors/system", []string{"messages"}, "what every actor stands on knows no actor"},
	{"actors/agent/action", []string{"messages"}, "the parser is a pure function"},
	{"actors/agent/prompt", []string{"messages", "actors/agent/action"}, "prompts are pure functions"},
	{"actors/agent/window", []string{"messages"}, "the window is a plain data structure"},
	{"actors", []string{"messages", "actors"}, "actors declare the interfaces they need; bridges implement them"},
	{"supervisor", []string{"messages", "actors"}, "the supervisor knows the log and the network by interface"},
	{"bridge", []string{"messages", "actors"}, "a bridge speaks one foreign protocol, and knows no other bridge"},
	{"cmd", []string{".", "messages", "actors", "supervisor", "bridge", "tests/scripted"}, "the binary is a thin shell; the demo plays a script"},
	{"tests", []string{".", "messages", "actors", "supervisor", "bridge", "cmd", "tests"}, "tests see everything"},
	{".", []string{"messages", "actors", "supervisor", "bridge"}, "package troupe builds the tree"},
}

func TestImportArrows(t *testing.T) {
	for _, f := range sources(t) {
		if f.test {
			continue
		}
		rule := arrowOf(f.dir)
		for _, path := range f.imports() {
			target, ours := ourDir(path)
			if !ours || within(target, ownTree(f.dir, rule.from)) || allowed(target, rule.may) {
				continue
			}
			assert.Failf(t, "an import against the arrows", "%s imports %s: %s", f.path, target, rule.reason)
		}
	}
}

func arrowOf(dir string) arrow {
	for _, a := range arrows {
		if a.from != "." && within(dir, a.from) || a.from == dir {
			return a
		}
	}
	return arrow{from: dir, reason: "the package stands in no known tree: add it to the arrows"}
}

// ownTree is what counts as a package's own: of bridges each is its own tree.
func ownTree(dir, from string) string {
	if from != "bridge" {
		return from
	}
	parts := strings.SplitN(dir, "/", 3)
	return strings.Join(parts[:2], "/")
}

func ourDir(path string) (string, bool) {
	if path == module {
		return ".", true
	}
	return strings.CutPrefix(path, module+"/")
}

func allowed(target string, may []string) bool {
	for _, tree := range may {
		if tree == target || tree != "." && within(target, tree) {
			return true
		}
	}
	return false
}

// ban keeps a package of others out of a tree.
type ban struct {
	path   string   // the package, and all below it
	except []string // packages below path that are welcome, exactly
	only   []string // trees that may import it all the same
	reason string
}

var bans = []ban{
	{path: "github.com/asynkron/protoactor-go", except: []string{"github.com/asynkron/protoactor-go/actor", "github.com/asynkron/protoactor-go/eventstream"},
		reason: "its cluster is bound to gRPC and lets two owners live in split views; its remote and router have data races"},
	{path: "github.com/asynkron/protoactor-go", only: []string{".", "actors", "supervisor", "bridge", "tests"},
		reason: "messages and commands know no actor library"},
	{path: "github.com/nats-io", only: []string{"bridge", "tests"}, reason: "agents know no NATS"},
	{path: "github.com/sashabaranov/go-openai", only: []string{"bridge/openai", "tests"}, reason: "one bridge speaks the model's wire"},
	{path: "github.com/goccy/go-yaml", only: []string{"bridge/config", "tests", "messages"}, reason: "configuration is read in one place"},
	{path: "github.com/spf13", only: []string{"cmd", "tests"}, reason: "a library has no flags"},
	{path: "charm.land", only: []string{"cmd", "tests"}, reason: "a library has no terminal"},
	{path: "github.com/stretchr/testify", only: []string{"tests", "actors/system/worldtest", "actors/python/pythontest", "bridge/runlog/storetest"}, reason: "the binary holds no test library"},
	{path: "io/ioutil", reason: "os and io have it"},
	{path: "math/rand", except: []string{"math/rand/v2"}, reason: "its global source is seeded once for everybody; use math/rand/v2 from the World"},
	{path: "log", except: []string{"log/slog"}, reason: "logs go to the slog.Logger that a constructor got"},
	{path: "net/http/pprof", reason: "its init opens handlers on the default mux"},
}

func TestForbiddenImports(t *testing.T) {
	for _, f := range sources(t) {
		if f.test {
			continue
		}
		for _, path := range f.imports() {
			for _, b := range bans {
				if forbids(b, path) && !allowed(f.dir, b.only) {
					assert.Failf(t, "a forbidden import", "%s imports %s: %s", f.path, path, b.reason)
				}
			}
		}
	}
}

func forbids(b ban, path string) bool {
	return within(path, b.path) && !slices.Contains(b.except, path)
}
