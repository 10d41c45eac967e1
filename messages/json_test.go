package messages_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/troupe-go/troupe/messages"
)

func TestAppendJSONString(t *testing.T) {
	for in, want := range map[string]string{
		"":                       `""`,
		"plain":                  `"plain"`,
		"say \"hi\" \\ bye":      `"say \"hi\" \\ bye"`,
		"a\nb\tc\rd":             `"a\nb\tc\rd"`,
		"\x00\x1f\x7f":           "\"\\u0000\\u001f\x7f\"",
		"<a> & </b>":             `"<a> & </b>"`,
		"步骤 1 🛠️":                `"步骤 1 🛠️"`,
		"\u2028\u2029":           "\"\u2028\u2029\"",
		"bad \xff, cut \xe6\xad": "\"bad \uFFFD, cut \uFFFD\uFFFD\"",
		"\uFFFD itself":          "\"\uFFFD itself\"",
	} {
		require.Equal(t, "before "+want, string(messages.AppendJSONString([]byte("before "), in)), "%q", in)
	}
}

// encoding/json is the oracle: what it reads from our text and from its own is
// the same, bad bytes included.
func TestAppendJSONStringIsLikeTheStandardLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) + rapid.String().Draw(t, "text")
		theirs, err := json.Marshal(in)
		require.NoError(t, err)
		var want, got string
		require.NoError(t, json.Unmarshal(theirs, &want))
		require.NoError(t, json.Unmarshal(messages.AppendJSONString(nil, in), &got))
		require.Equal(t, want, got)
	})
}

func BenchmarkAppendJSONString(b *testing.B) {
	for name, text := range map[string]string{
		"ascii":   strings.Repeat("The quick brown fox. ", 50),
		"chinese": strings.Repeat("敏捷的棕色狐狸跳过懒狗。", 30),
		"code":    strings.Repeat("\tprint(\"x\")\n", 80),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			var buf []byte
			for b.Loop() {
				buf = messages.AppendJSONString(buf[:0], text)
			}
		})
	}
}
