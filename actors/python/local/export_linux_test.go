//go:build amd64 || arm64

package local

import "github.com/troupe-go/troupe/actors/python"

// UsageWithoutShare gives an interpreter's usage as where the kernel doesn't
// show the proportional size.
func UsageWithoutShare(it python.Interpreter) python.Usage {
	rollup, statm := it.(*interpreter).process.openUsage()
	defer files{rollup, statm}.close()
	return sizes(nil, statm)
}
