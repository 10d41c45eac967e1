package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The demo as it is: the wire, Python and the tools are real. The script is
// ours and harmless, so missing walls don't matter.
func TestTheDemoRuns(t *testing.T) {
	for lang, want := range map[string][]string{
		"en": {"Oslo sells the most", "over 39 orders", "1 had no readable amount (1023)", "ValueError", "city,total\n  Oslo,"},
		"zh": {"Oslo 的销售额最高", "共 39 单", "另有 1 单的金额无法读取（1023）", "ValueError", "city,total\n  Oslo,"},
	} {
		t.Run(lang, func(t *testing.T) {
			b := setup(t)
			b.open, b.startScript = openNode, startScript
			require.Equal(t, exitAnswered, b.main("demo", "--lang", lang), b.err)
			got := b.out.String()
			for _, w := range append(want, "→ list_directory(", "→ read_file(", "→ create_file(") {
				require.Contains(t, got, w)
			}
			require.Equal(t, 4, strings.Count(got, "\n── "), "four steps")
			require.NotContains(t, got, "✗")
		})
	}
}
