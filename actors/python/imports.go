package python

import "slices"

// baseImports are the modules that code may import everywhere: the default of
// the seeds (nexent-core §3.3), the base modules of its interpreter, and what
// is of the same kind: no files, no processes, no network.
var baseImports = []string{
	// nexent-core §3.3
	"math", "cmath", "statistics", "decimal", "fractions", "random", "collections", "itertools",
	"functools", "heapq", "bisect", "array", "copy", "re", "string", "textwrap", "unicodedata",
	"datetime", "time", "calendar", "base64", "hashlib", "hmac", "json", "csv", "uuid", "pprint",
	"operator", "typing",
	// the interpreter's base modules
	"queue", "stat",
	// of the same kind
	"__future__", "abc", "asyncio", "binascii", "contextlib", "dataclasses", "difflib", "enum",
	"graphlib", "html", "io", "numbers", "secrets", "struct", "types", "urllib.parse", "zlib", "zoneinfo",
}

// BaseImports gives the modules that code may import at every level, sorted.
// Spec.Imports comes on top. The list makes messages clear; it is no wall.
func BaseImports() []string {
	return slices.Sorted(slices.Values(baseImports))
}
