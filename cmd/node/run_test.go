package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/tool"
	"github.com/troupe-go/troupe/messages"
)

func stripANSI(s string) string { return ansi.Strip(s) }

const twoModels = `
models:
  - {cite_name: main, model_name: m1, url: "http://localhost:1/v1", api_key: config-key, extra_headers: {X-Key: header-key}}
  - {cite_name: other, model_name: m2, url: "http://localhost:2/v1"}
agents:
  - {name: assistant, model_name: main, lang: zh}
  - {name: helper, model_name: other}
`

func TestRunAnswers(t *testing.T) {
	b := setup(t)
	b.vars["OPENAI_API_KEY"] = "sk-1"
	require.Equal(t, exitAnswered, b.main("run", "what?"), b.err)
	require.Contains(t, b.out.String(), "Answer")
	require.Contains(t, b.out.String(), "\n42\n")
	require.Empty(t, b.err.String())
	require.Equal(t, "what?", b.node.req.Query)
	require.Equal(t, "run-1", b.node.req.Run)
	require.Equal(t, "assistant", b.node.req.Agent)
	require.Equal(t, "en", b.node.req.Lang)
	require.Equal(t, "sk-1", b.opened[0].defs.Models[0].APIKey.Reveal())
	require.False(t, b.opened[0].allowMissingWalls)
	require.Equal(t, 1, b.node.closed)
}

func TestRunJSON(t *testing.T) {
	b := setup(t)
	b.vars["OPENAI_API_KEY"] = "sk-1"
	b.node.events = append([]messages.Event{{Type: messages.StepCount, Content: "\n**Step 1** \n<&>中", Step: 1}}, b.node.events...)
	require.Equal(t, exitAnswered, b.main("run", "--json", "what?"))
	lines := strings.Split(strings.TrimSuffix(b.out.String(), "\n"), "\n")
	require.Len(t, lines, 2)
	require.Contains(t, lines[0], `<&>中`)
	var ev messages.Event
	require.NoError(t, json.Unmarshal([]byte(lines[1]), &ev))
	require.Equal(t, messages.StatusAnswered, ev.Status)
}

func TestExitCodes(t *testing.T) {
	for name, tc := range map[string]struct {
		event messages.Event
		err   error
		want  int
		says  string
	}{
		"answered":  {event: last(messages.FinalAnswer, "x", messages.StatusAnswered), want: exitAnswered},
		"failed":    {event: last(messages.Error, "x", messages.StatusFailed), want: exitNoAnswer},
		"blocked":   {event: last(messages.FinalAnswer, "x", messages.StatusBlocked), want: exitNoAnswer},
		"max steps": {event: last(messages.FinalAnswer, "x", messages.StatusMaxSteps), want: exitNoAnswer},
		"budget":    {event: last(messages.FinalAnswer, "x", messages.StatusBudget), want: exitNoAnswer},
		"stopped":   {event: last(messages.FinalAnswer, "x", messages.StatusStopped), want: exitNoAnswer},
		"refused":   {err: messages.ErrBusy, want: exitNoAnswer, says: "error: " + messages.ErrBusy.EN},
		"no end":    {want: exitNoAnswer, says: "without a last one"},
	} {
		t.Run(name, func(t *testing.T) {
			b := setup(t)
			b.vars["OPENAI_API_KEY"] = "sk-1"
			b.node.events, b.node.err = nil, tc.err
			if tc.event.Status != "" {
				b.node.events = []messages.Event{tc.event}
			}
			require.Equal(t, tc.want, b.main("run", "q"))
			require.Contains(t, b.err.String(), tc.says)
			require.Equal(t, 1, b.node.closed)
		})
	}
}

func TestASlowReaderIsToldAndGoesOn(t *testing.T) {
	b := setup(t)
	b.vars["OPENAI_API_KEY"] = "sk-1"
	b.node.events, b.node.err = nil, &messages.Missed{From: 1, To: 2}
	require.Equal(t, exitNoAnswer, b.main("run", "q"))
	require.Contains(t, b.out.String(), "some events were lost")
}

func TestAReaderThatGoesAwayEndsTheRun(t *testing.T) {
	b := setup(t)
	b.vars["OPENAI_API_KEY"] = "sk-1"
	b.stdout = goneReader{}
	require.Equal(t, exitNoAnswer, b.main("run", "--json", "q"))
	require.Empty(t, b.err.String())
	require.Equal(t, 1, b.node.closed)
}

type goneReader struct{}

func (goneReader) Write([]byte) (int, error) {
	return 0, &os.PathError{Op: "write", Err: syscall.EPIPE}
}

func TestUsageErrors(t *testing.T) {
	key := map[string]string{"OPENAI_API_KEY": "sk-1"}
	big := filepath.Join(t.TempDir(), "big.bin")
	require.NoError(t, os.WriteFile(big, nil, 0o600))
	require.NoError(t, os.Truncate(big, maxFile+1))
	for name, tc := range map[string]struct {
		env   map[string]string
		files map[string]string
		args  []string
		stdin string
		want  []string
	}{
		"no model":         {args: []string{"run", "q"}, want: []string{"cluster.yaml", "OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL", "--model"}},
		"no model, zh":     {args: []string{"run", "q", "--lang", "zh"}, want: []string{"尚未配置模型", "三种方式", "--model"}},
		"example, no key":  {files: map[string]string{"cluster.yaml": "example"}, args: []string{"run", "q"}, want: []string{"no model is configured"}},
		"no query":         {env: key, args: []string{"run"}, want: []string{"takes one query"}},
		"two queries":      {env: key, args: []string{"run", "a", "b"}, want: []string{"put it in quotes"}},
		"blank query":      {env: key, args: []string{"run", " "}, want: []string{"the query is empty"}},
		"empty stdin":      {env: key, args: []string{"run", "-"}, want: []string{"the query is empty"}},
		"long stdin":       {env: key, args: []string{"run", "-"}, stdin: strings.Repeat("x", maxQuery+1), want: []string{"longer than 1024 KiB"}},
		"unknown agent":    {env: key, args: []string{"run", "--agent", "x", "q"}, want: []string{`no agent "x"`, "assistant"}},
		"unknown flag":     {env: key, args: []string{"run", "--agnt", "x", "q"}, want: []string{"--agnt", "troupe run --help"}},
		"unknown command":  {args: []string{"rnu"}, want: []string{`no command "rnu"`}},
		"bad lang":         {env: key, args: []string{"run", "q", "--lang", "fr"}, want: []string{`got "fr"`}},
		"bad log level":    {env: key, args: []string{"run", "q", "--log-level", "loud"}, want: []string{`got "loud"`}},
		"missing config":   {args: []string{"run", "q", "--config", "no.yaml"}, want: []string{"no.yaml: expected a configuration file, got no such file"}},
		"wrong config":     {files: map[string]string{"cluster.yaml": "modles: []\n"}, args: []string{"run", "q"}, want: []string{"cluster.yaml:1:1: modles", "did you mean models?", "3 faults"}},
		"missing file":     {env: key, args: []string{"run", "q", "--file", "/no/such"}, want: []string{"there is no file /no/such"}},
		"folder":           {env: key, args: []string{"run", "q", "--file", "/"}, want: []string{"no regular file"}},
		"device":           {env: key, args: []string{"run", "q", "--file", "/dev/zero"}, want: []string{"no regular file"}},
		"large file":       {env: key, args: []string{"run", "q", "--file", big}, want: []string{"larger than 32 MiB"}},
		"history, no list": {env: key, files: map[string]string{"h.json": `{"role":"user"}`}, args: []string{"run", "q", "--history", "DIR/h.json"}, want: []string{"no JSON list"}},
		"history, role":    {env: key, files: map[string]string{"h.json": `[{"role":"system","content":"x"}]`}, args: []string{"run", "q", "--history", "DIR/h.json"}, want: []string{`the role of message 0 is "system"`}},
		"history, empty":   {env: key, files: map[string]string{"h.json": `[{"role":"user"}]`}, args: []string{"run", "q", "--history", "DIR/h.json"}, want: []string{"message 0 has no content"}},
		"history, key":     {env: key, files: map[string]string{"h.json": `[{"role":"user","text":"x"}]`}, args: []string{"run", "q", "--history", "DIR/h.json"}, want: []string{"unknown field"}},
		"demo with args":   {args: []string{"demo", "x"}, want: []string{"takes no arguments"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := setup(t)
			for k, v := range tc.env {
				b.vars[k] = v
			}
			for file, text := range tc.files {
				if text == "example" {
					text = b.example
				}
				b.write(t, file, text)
			}
			b.stdin = strings.NewReader(tc.stdin)
			for i := range tc.args {
				tc.args[i] = strings.ReplaceAll(tc.args[i], "DIR", b.dir)
			}
			require.Equal(t, exitUsage, b.main(tc.args...))
			for _, w := range tc.want {
				require.Contains(t, b.err.String(), w)
			}
			require.Empty(t, b.opened)
			require.Empty(t, b.out.String())
		})
	}
}

func TestWhatARunIsGiven(t *testing.T) {
	b := setup(t)
	b.write(t, "cluster.yaml", twoModels)
	a := b.write(t, "a.txt", "attached")
	h := b.write(t, "h.json", `[{"role":"user","content":"hi"},{"role":"assistant","content":"hello"}]`)
	b.stdin = strings.NewReader("from stdin\n")
	require.Equal(t, exitAnswered, b.main("run", "--file", a, "--history", h, "--agent", "helper", "-"), b.err)
	require.Equal(t, "from stdin", b.node.req.Query)
	require.Equal(t, []messages.Attachment{{Name: "a.txt", Data: []byte("attached")}}, b.node.req.Attachments)
	require.Equal(t, []messages.Turn{{Role: "user", Content: "hi"}, {Role: "assistant", Content: "hello"}}, b.node.req.History)
	require.Equal(t, "helper", b.node.req.Agent)
	require.Empty(t, b.node.req.Lang, "the agent's own")
}

func TestWhichModel(t *testing.T) {
	for name, tc := range map[string]struct {
		env   map[string]string
		model string
		own   *messages.ModelConfig // as it comes out; nil: no model of the run's own
		key   string
		refer string
	}{
		"none":                           {},
		"a cite name":                    {model: "other", refer: "other"},
		"a name of the agent's provider": {model: "m9", own: &messages.ModelConfig{URL: "http://localhost:1/v1"}, key: "config-key", refer: "m9"},
		"of another provider": {
			env: map[string]string{"OPENAI_BASE_URL": "http://localhost:3/v1", "OPENAI_API_KEY": "env-key"}, model: "m9",
			own: &messages.ModelConfig{URL: "http://localhost:3/v1"}, key: "env-key", refer: "m9",
		},
		"of another provider without a key": {
			env: map[string]string{"OPENAI_BASE_URL": "http://localhost:3/v1"}, model: "m9",
			own: &messages.ModelConfig{URL: "http://localhost:3/v1"}, key: "", refer: "m9",
		},
		"the key of the environment stays away from the agent's provider": {
			env: map[string]string{"OPENAI_API_KEY": "env-key"}, model: "m9",
			own: &messages.ModelConfig{URL: "http://localhost:1/v1"}, key: "config-key", refer: "m9",
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := setup(t)
			b.write(t, "cluster.yaml", twoModels)
			b.vars = tc.env
			require.Equal(t, exitAnswered, b.main("run", "--model", tc.model, "q"), b.err)
			got := b.node.req.Overrides
			require.Equal(t, tc.refer, got.Model)
			if tc.own == nil {
				require.Empty(t, got.Models)
				return
			}
			require.Len(t, got.Models, 1)
			require.Equal(t, tc.model, got.Models[0].ModelName)
			require.Equal(t, tc.own.URL, got.Models[0].URL)
			require.Equal(t, tc.key, got.Models[0].APIKey.Reveal())
			if tc.own.URL != "http://localhost:1/v1" {
				require.Empty(t, got.Models[0].ExtraHeaders, "headers may hold keys")
			}
		})
	}
}

func TestTheExampleServesALocalProviderWithoutAKey(t *testing.T) {
	b := setup(t)
	b.vars["OPENAI_BASE_URL"] = "http://localhost:11434/v1"
	require.Equal(t, exitAnswered, b.main("run", "--model", "llama", "q"), b.err)
	require.Equal(t, "http://localhost:11434/v1", b.node.req.Overrides.Models[0].URL)
}

func TestANodeThatCannotBeOpened(t *testing.T) {
	b := setup(t)
	b.vars["OPENAI_API_KEY"] = "sk-1"
	b.openErr = (&messages.Fault{Code: "x", EN: "a wall is missing", ZH: "缺少隔离墙"}).With(errors.New("landlock: no"))
	require.Equal(t, exitUsage, b.main("run", "q"))
	require.Equal(t, "error: a wall is missing: landlock: no\n", b.err.String())
	b.err.Reset()
	require.Equal(t, exitUsage, b.main("run", "q", "--lang=zh"))
	require.Equal(t, "错误：缺少隔离墙: landlock: no\n", b.err.String())
}

func TestConfigCheck(t *testing.T) {
	b := setup(t)
	path := b.write(t, "cluster.yaml", twoModels)
	require.Equal(t, exitAnswered, b.main("config", "check"), b.err)
	require.Contains(t, b.out.String(), "cluster.yaml is right (models: 2, tools: 0, agents: 2)")
	require.Equal(t, 1, b.node.closed)

	b.write(t, "cluster.yaml", twoModels+"lang: fr\nlimts: {}\n")
	require.Equal(t, exitUsage, b.main("config", "check", path))
	require.Equal(t, path+":8:7: lang: expected one of zh, en, got \"fr\"\n"+
		path+":9:1: limts: expected a known key, got an unknown one; did you mean limits?\n2 faults\n", b.err.String())

	b.err.Reset()
	b.write(t, "cluster.yaml", twoModels+"tools:\n  - {name: a, class_name: A}\n  - {name: b, class_name: B}\n")
	b.openErr = &tool.CreateError{Tool: "b", Class: "B", Err: &messages.Fault{Code: "tool_config", EN: "no class B"}}
	require.Equal(t, exitUsage, b.main("config", "check"))
	require.Contains(t, b.err.String(), "cluster.yaml:10:5: tools[1]: Error in creating tool: no class B")
	require.Equal(t, exitUsage, b.main("config", "check", "a", "b"))
}

func TestConfigExample(t *testing.T) {
	b := setup(t)
	require.Equal(t, exitAnswered, b.main("config", "example"))
	require.Equal(t, b.example, b.out.String())
}

func TestVersion(t *testing.T) {
	b := setup(t)
	require.Equal(t, exitAnswered, b.main("version"))
	require.Regexp(t, `^troupe \(devel\) go\S+ \w+/\w+\n$`, b.out.String())
	b.out.Reset()
	b.buildInfo = func() (*debug.BuildInfo, bool) {
		return &debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}, Settings: []debug.BuildSetting{
			{Key: "vcs.revision", Value: "0123456789abcdef"}, {Key: "vcs.modified", Value: "true"}}}, true
	}
	require.Equal(t, exitAnswered, b.main("version", "--lang=en"))
	require.Contains(t, b.out.String(), "troupe v1.2.3 (0123456789ab, modified) go")
	b.out.Reset()
	require.Equal(t, exitAnswered, b.main("version", "--json"))
	var v version
	require.NoError(t, json.Unmarshal(b.out.Bytes(), &v))
	require.Equal(t, "0123456789abcdef", v.Commit)
}

func TestHelpIsInTheReadersLanguage(t *testing.T) {
	for name, tc := range map[string]struct {
		env  map[string]string
		args []string
		want string
	}{
		"default":        {want: "Usage:"},
		"locale":         {env: map[string]string{"LANG": "zh_CN.UTF-8"}, want: "用法："},
		"LC_ALL is over": {env: map[string]string{"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}, want: "Usage:"},
		"flag is over":   {env: map[string]string{"LANG": "en_US"}, args: []string{"--lang", "zh"}, want: "用法："},
	} {
		t.Run(name, func(t *testing.T) {
			b := setup(t)
			b.vars = tc.env
			for _, cmd := range [][]string{{}, {"run", "--help"}, {"demo", "--help"}, {"config", "check", "--help"}, {"version", "-h"}} {
				b.out.Reset()
				require.Equal(t, exitAnswered, b.main(append(cmd, tc.args...)...), b.err)
				require.Contains(t, b.out.String(), tc.want)
				require.Contains(t, b.out.String(), "  troupe ")
			}
		})
	}
}

func TestCompletion(t *testing.T) {
	b := setup(t)
	require.Equal(t, exitAnswered, b.main("completion", "bash"))
	require.Contains(t, b.out.String(), "__start_troupe")
}

// TestWorkspace says where the files of a run lie: in the folder that was
// named, else under data_dir, else with the user's data.
func TestWorkspace(t *testing.T) {
	artifact := messages.Event{Type: messages.FileArtifact, Object: []byte(`{"artifacts":[{"name":"a.txt","path":"out/a.txt","size":3,"sha256":"x"}]}`)}
	answer := last(messages.FinalAnswer, "Done.", messages.StatusAnswered)
	t.Run("default", func(t *testing.T) {
		b := setup(t)
		b.vars["OPENAI_API_KEY"] = "sk-1"
		b.node.events = []messages.Event{artifact, answer}
		require.Equal(t, exitAnswered, b.main("run", "x"), b.err)
		data := filepath.Join(b.home, ".local", "share", "troupe")
		require.Equal(t, data, b.opened[0].defs.DataDir)
		require.Contains(t, b.out.String(), filepath.FromSlash("/of/node/run-1/out/a.txt"))
	})
	t.Run("XDG_DATA_HOME", func(t *testing.T) {
		b := setup(t)
		b.vars["OPENAI_API_KEY"], b.vars["XDG_DATA_HOME"] = "sk-1", "/data"
		require.Equal(t, exitAnswered, b.main("run", "x"), b.err)
		require.Equal(t, filepath.FromSlash("/data/troupe"), b.opened[0].defs.DataDir)
	})
	t.Run("named", func(t *testing.T) {
		b := setup(t)
		b.vars["OPENAI_API_KEY"] = "sk-1"
		b.node.events = []messages.Event{artifact, answer}
		require.Equal(t, exitAnswered, b.main("run", "--workspace", b.dir, "x"), b.err)
		require.Equal(t, b.dir, b.node.req.Overrides.Workspace)
		require.Contains(t, b.out.String(), filepath.Join(b.dir, "out", "a.txt"))
	})
	t.Run("not there", func(t *testing.T) {
		b := setup(t)
		b.vars["OPENAI_API_KEY"] = "sk-1"
		require.Equal(t, exitUsage, b.main("run", "--workspace", filepath.Join(b.dir, "none"), "x"))
		require.Contains(t, b.err.String(), "--workspace")
	})
	t.Run("no home", func(t *testing.T) {
		b := setup(t)
		b.vars["OPENAI_API_KEY"], b.vars["HOME"] = "sk-1", ""
		require.Equal(t, exitUsage, b.main("run", "x"))
		require.Contains(t, b.err.String(), "data_dir")
	})
}
