package tool

import (
	"slices"
	"strings"
)

// maxName is the longest name of a tool or an input, in bytes.
const maxName = 64

var pythonKeywords = strings.Fields(`False None True and as assert async await break class
continue def del elif else except finally for from global if import in is lambda nonlocal not
or pass raise return try while with yield`)

// pythonBuiltins are the lower-case names of CPython 3.14's builtins, which a
// tool must not hide from the code that models write, and the executor's own
// final_answer.
var pythonBuiltins = strings.Fields(`abs aiter all anext any ascii bin bool breakpoint bytearray
bytes callable chr classmethod compile complex copyright credits delattr dict dir divmod
enumerate eval exec exit filter float format frozenset getattr globals hasattr hash help hex id
input int isinstance issubclass iter len license list locals map max memoryview min next object
oct open ord pow print property quit range repr reversed round set setattr slice sorted
staticmethod str sum super tuple type vars zip
final_answer`)

// checkName says why name can't be what code calls a tool; nil when it can.
func checkName(name string) error {
	switch {
	case !identifier(name):
		return specFault("tool name %.80q is not a Python identifier of at most 64 ASCII letters, digits and underscores; choose one like read_file",
			"工具名 %.80q 不是合法的 Python 标识符（至多 64 个 ASCII 字母、数字或下划线）；请使用类似 read_file 的名称", name)
	case slices.Contains(pythonKeywords, name):
		return specFault("tool name %q is a Python keyword; choose another", "工具名 %q 是 Python 关键字；请换一个名称", name)
	case slices.Contains(pythonBuiltins, name):
		return specFault("tool name %q would hide a function that every program has; choose another",
			"工具名 %q 会遮蔽程序自带的函数；请换一个名称", name)
	}
	return nil
}

func identifier(s string) bool {
	if s == "" || len(s) > maxName {
		return false
	}
	for i := range len(s) {
		c := s[i]
		letter := c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return true
}
