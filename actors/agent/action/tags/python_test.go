package tags_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/agent/action/tags"
)

// TestPython marks each character: s in a string, # in a comment, . code.
func TestPython(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{`x = 'a'`, `.....ss`},
		{`''+""`, `.s..s`},
		{`"""a"b"""`, `.ssssssss`},
		{`x#y`, `..#`},
		{"'a\nb", ".ss."},
		{`'\''x`, `.sss.`},
		{`f"{a}b"`, `..s..ss`},
		{`f"{{a}}"`, `..ssssss`},
		{`f'{x:#>4}'`, `..s..sssss`},
		{`f"{d["k"]}"`, `..s...ss..s`},
		{`t'{(lambda: 1)}'`, `..s............s`},
		{`elf'{'`, `....ss`},
	} {
		t.Run(c.src, func(t *testing.T) {
			var p tags.Python
			got := make([]byte, 0, len(c.src))
			for i := range len(c.src) {
				switch b := c.src[i]; {
				case p.InString(b):
					got = append(got, 's')
				case p.InComment():
					got = append(got, '#')
				default:
					got = append(got, '.')
				}
				p.Feed(c.src[i])
			}
			require.Equal(t, c.want, string(got))
		})
	}
}

func TestPythonUnfinished(t *testing.T) {
	for src, want := range map[string]bool{
		"print(1)": false, "print(": true, "x = '''a": true, "x = 'a": true, "x = 'a\n": false, "": false,
		"x = ''": false, "d = {": true, "f'{a": true, ")": false, "# (": false,
	} {
		t.Run(src, func(t *testing.T) {
			var p tags.Python
			for i := range len(src) {
				p.Feed(src[i])
			}
			require.Equal(t, want, p.Unfinished())
		})
	}
}
