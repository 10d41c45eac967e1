package main

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/tests/scripted"
)

func TestDemoSaysWhatItIs(t *testing.T) {
	b := setup(t)
	b.vars["OPENAI_API_KEY"] = "sk-real"
	require.Equal(t, exitAnswered, b.main("demo"), b.err)
	got := b.out.String()
	require.True(t, strings.HasPrefix(got, "The model of this demo is scripted."), got)
	for _, part := range []string{"Sandbox: local, CPython 3.14.6", "walls: landlock, rlimits", "missing: seccomp: the kernel has none", "(use a newer kernel)", "orders.csv", "\n42\n", "OPENAI_API_KEY=…"} {
		at := strings.Index(got, part)
		require.GreaterOrEqual(t, at, 0, part)
		got = got[at:] // in this order
	}
	require.True(t, b.opened[0].allowMissingWalls)
	model := b.opened[0].defs.Models[0]
	require.Equal(t, "http://127.0.0.1:1/v1", model.URL)
	require.Equal(t, "scripted", model.APIKey.Reveal(), "a real key stays away from the demo")
	_, err := os.Stat(b.node.req.Overrides.Workspace)
	require.ErrorIs(t, err, os.ErrNotExist, "the workspace is removed")
}

func TestDemoInChinese(t *testing.T) {
	b := setup(t)
	require.Equal(t, exitAnswered, b.main("demo", "--lang", "zh"))
	require.Contains(t, b.out.String(), "本演示的模型是脚本")
	require.Equal(t, "zh", b.node.req.Lang)
	require.Contains(t, b.scripts[0], "思考：")
}

func TestDemoJSONKeepsStdoutForEvents(t *testing.T) {
	b := setup(t)
	require.Equal(t, exitAnswered, b.main("demo", "--json"))
	require.Equal(t, 1, strings.Count(b.out.String(), "\n"))
	require.Contains(t, b.err.String(), "The model of this demo is scripted.")
}

// The scripts are scripts, say the same in both languages, and hold no figure
// of the answer: those are computed.
func TestDemoScripts(t *testing.T) {
	data, err := demoFiles.ReadFile("demo/" + demoData)
	require.NoError(t, err)
	rows, err := csv.NewReader(strings.NewReader(string(data))).ReadAll()
	require.NoError(t, err)
	require.Greater(t, len(rows), 30)
	var codes [2]string
	for i, lang := range []string{"en", "zh"} {
		text, err := demoFiles.ReadFile(filepath.Join("demo", lang+".yaml"))
		require.NoError(t, err)
		script, err := scripted.Parse(text)
		require.NoError(t, err)
		require.Len(t, script.Turns, 4)
		for _, row := range rows[1:] {
			require.NotContains(t, string(text), row[1])
		}
		for _, turn := range script.Turns[:3] {
			_, code, found := strings.Cut(turn.Reply.Text, "<code>")
			require.True(t, found)
			codes[i] += code
		}
	}
	require.Equal(t, codes[0], codes[1])
}
