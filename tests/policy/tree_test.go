package policy_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	root   = "../.."
	module = "github.com/troupe-go/troupe"
)

// goFile is one Go source file of the module.
type goFile struct {
	path   string // from the root, with slashes
	dir    string // its package's folder; "." for the root
	test   bool
	lines  int
	fset   *token.FileSet
	syntax *ast.File
}

func (f *goFile) imports() []string {
	var list []string
	for _, spec := range f.syntax.Imports {
		if path, err := strconv.Unquote(spec.Path.Value); err == nil {
			list = append(list, path)
		}
	}
	return list
}

// at gives "file:line" of a node.
func (f *goFile) at(n ast.Node) string {
	return f.path + ":" + strconv.Itoa(f.fset.Position(n.Pos()).Line)
}

// walk calls visit for every file of the clone that is ours: without .git,
// build output and test data, and without the modules inside this one.
func walk(visit func(path string, data []byte) error) error {
	skipped := []string{".git", "bin", ".troupe", "testdata", "vendor"}
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if _, err := os.Stat(filepath.Join(path, "go.mod")); rel != "." && err == nil || slices.Contains(skipped, d.Name()) {
				return filepath.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return visit(rel, data)
	})
}

// sources gives every Go file of the module, parsed once for all tests.
func sources(t *testing.T) []*goFile {
	t.Helper()
	files, err := parsed()
	require.NoError(t, err)
	require.NotEmpty(t, files)
	return files
}

var parsed = sync.OnceValues(func() (files []*goFile, err error) {
	err = walk(func(path string, data []byte) error {
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		fset := token.NewFileSet()
		syntax, err := parser.ParseFile(fset, path, data, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files = append(files, &goFile{
			path: path, dir: filepath.ToSlash(filepath.Dir(path)), test: strings.HasSuffix(path, "_test.go"),
			lines: strings.Count(string(data), "\n"), fset: fset, syntax: syntax,
		})
		return nil
	})
	return files, err
})

// within reports whether a package folder is one of the trees, or inside one.
func within(dir string, trees ...string) bool {
	return slices.ContainsFunc(trees, func(tree string) bool {
		return dir == tree || strings.HasPrefix(dir, tree+"/")
	})
}

// selectorCall gives the name of a call of the form name.Name(…), as
// "name.Name", or "".
func selectorCall(n ast.Node) string {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return ""
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	if x, ok := sel.X.(*ast.Ident); ok {
		return x.Name + "." + sel.Sel.Name
	}
	return ""
}
