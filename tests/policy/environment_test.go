package policy_test

import (
	"go/ast"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// environment are the names, called or passed on, by which a program learns
// from its environment what nobody gave it.
var environment = []string{
	"os.Getenv", "os.LookupEnv", "os.Environ", "os.ExpandEnv", "syscall.Getenv", "syscall.Environ",
	"os.UserCacheDir", "os.UserConfigDir", "os.UserHomeDir", "os.TempDir", "exec.LookPath",
	"http.ProxyFromEnvironment", "http.DefaultClient", "http.DefaultTransport", // whose proxies are the environment's
}

// defaults are the names that package troupe may use: a default that its
// Config documents comes from there.
var defaults = []string{"os.UserCacheDir"}

// Configuration reaches a component through its constructor: below package
// troupe nothing reads the environment.
func TestNothingReadsTheEnvironment(t *testing.T) {
	for _, f := range sources(t) {
		if f.test || within(f.dir, "cmd", "tests") {
			continue
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			name := environmental(n)
			if name != "" && !(f.dir == "." && slices.Contains(defaults, name)) {
				assert.Failf(t, "the environment is read", "%s uses %s: what a component needs to know, its constructor is given", f.at(n), name)
			}
			return true
		})
	}
}

// environmental gives the name by which a node reads the environment, or "".
func environmental(n ast.Node) string {
	sel, ok := n.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	x, ok := sel.X.(*ast.Ident)
	if !ok {
		return ""
	}
	if name := x.Name + "." + sel.Sel.Name; slices.Contains(environment, name) {
		return name
	}
	return ""
}

// An empty folder means the environment's temporary one; below package troupe
// a folder is given.
func TestTemporaryFilesHaveAFolder(t *testing.T) {
	for _, f := range sources(t) {
		if f.test || !within(f.dir, "messages", "actors", "supervisor", "bridge") {
			continue
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			name := selectorCall(n)
			if name != "os.MkdirTemp" && name != "os.CreateTemp" {
				return true
			}
			dir, ok := n.(*ast.CallExpr).Args[0].(*ast.BasicLit)
			assert.Falsef(t, ok && strings.Trim(dir.Value, "\"`") == "", "%s calls %s without a folder", f.at(n), name)
			return true
		})
	}
}
