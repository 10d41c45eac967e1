package policy_test

import (
	"go/ast"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

// maxLines is the length of a file from which it holds a second thing.
const maxLines = 500

func byPackage(files []*goFile) map[string][]*goFile {
	packages := map[string][]*goFile{}
	for _, f := range files {
		packages[f.dir] = append(packages[f.dir], f)
	}
	return packages
}

// A package says once what it is for, one that holds only tests too.
func TestOneDocCommentAPackage(t *testing.T) {
	packages := byPackage(sources(t))
	for _, dir := range slices.Sorted(maps.Keys(packages)) {
		onlyTests := !slices.ContainsFunc(packages[dir], func(f *goFile) bool { return !f.test })
		var docs []string
		for _, f := range packages[dir] {
			if f.test == onlyTests && f.syntax.Doc != nil {
				docs = append(docs, f.path)
			}
		}
		assert.Lenf(t, docs, 1, "package %s must have exactly one doc comment", dir)
	}
}

// What a test starts, it ends.
func TestGoleakAPackage(t *testing.T) {
	packages := byPackage(sources(t))
	for _, dir := range slices.Sorted(maps.Keys(packages)) {
		tests, verified := false, false
		for _, f := range packages[dir] {
			if !f.test {
				continue
			}
			tests = true
			ast.Inspect(f.syntax, func(n ast.Node) bool {
				verified = verified || selectorCall(n) == "goleak.VerifyTestMain"
				return true
			})
		}
		assert.Truef(t, !tests || verified, "package %s has tests and no TestMain with goleak.VerifyTestMain", dir)
	}
}

func TestFilesAreShort(t *testing.T) {
	for _, f := range sources(t) {
		assert.LessOrEqualf(t, f.lines, maxLines, "%s: what is the second thing in it?", f.path)
	}
}
