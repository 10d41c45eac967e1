package cases

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe"
	"github.com/troupe-go/troupe/messages"
)

// fileCases are the cases of paths and files, as model-written code meets
// them. The tools are tested one by one in actors/tool/file.
func fileCases() cases {
	return cases{
		"FILE-01": fileSibling,
		"FILE-02": fileLinks,
		"FILE-04": fileOddPaths,
		"FILE-07": fileEncodings,
		"FILE-08": fileLinkedRoot,
	}
}

// denied is the note that a tool's exception carries.
const denied = "Permission denied: file operations are restricted to the workspace directory"

// tryAll is code that gives each path to each file tool and prints, a line
// each, what came of it.
func tryAll(paths ...string) string {
	list, err := json.Marshal(paths) // a list of JSON strings is one of Python's
	if err != nil {
		panic(err) // strings always encode
	}
	return `
for path in ` + string(list) + `:
    for name, call in (("read", lambda: read_file(path)), ("create", lambda: create_file(path, "mine")), ("list", lambda: list_directory(path))):
        try:
            call()
            print(name, ascii(path[:40]), "ok")
        except Exception as e:
            print(name, ascii(path[:40]), type(e).__name__, e)
`
}

// folder is a folder of the test with files in it; a name that ends in a slash
// is a folder, contents that begin with -> are links.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	for name, content := range files {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		if target, ok := strings.CutPrefix(content, "->"); ok {
			require.NoError(t, os.Symlink(target, path))
			continue
		}
		require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
	}
	return dir
}

// contents gives every file below dir by its path; links are not followed.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if d.Type()&os.ModeSymlink != 0 {
			target, err := os.Readlink(path)
			found[rel] = "->" + target
			return err
		}
		raw, err := os.ReadFile(path)
		found[rel] = string(raw)
		return err
	}))
	return found
}

// in runs the script with a workspace.
func (s *stage) in(workspace string) trace {
	s.t.Helper()
	return s.run(troupe.RunRequest{Query: "Look after the files.", Overrides: messages.Overrides{Workspace: workspace}})
}

// fileSibling denies a folder whose name begins with the workspace's.
func fileSibling(t *testing.T) {
	dir := folder(t, map[string]string{"nexent/a.txt": "a", "nexent-backup/db.txt": "secret", "nexent2/x": "secret"})
	before := contents(t, dir)
	s := play(t, steps(tryAll("../nexent-backup/db.txt", "../nexent-backup", dir+"/nexent2/x", dir+"/nexent2", dir+"/nexent/../nexent2/x", dir+"/nexent-backup/new.txt")), fileTools)
	tr := s.in(filepath.Join(dir, "nexent"))
	tr.answered(t, "done")
	lines := strings.Split(strings.TrimSpace(tr.text(messages.ExecutionLogs)), "\n")
	require.Len(t, lines, 6*3)
	for _, line := range lines {
		require.Contains(t, line, denied+" '"+dir+"/nexent'")
	}
	require.Contains(t, s.observation(1), denied)
	require.Equal(t, before, contents(t, dir), "nothing is touched")
	require.Empty(t, tr.of(messages.FileArtifact))
}

// fileLinks denies links that lead out, wherever they stand in a path.
func fileLinks(t *testing.T) {
	dir := folder(t, map[string]string{
		"etc/hostname": "secret", "root/link": "->../etc", "root/absolute": "->/etc", "root/file": "->../etc/hostname", "root/dangling": "->../etc/new.txt",
		"root/in/a.txt": "a", "root/inside": "->in",
	})
	before := contents(t, dir)
	s := play(t, steps(tryAll("link/hostname", "link", "absolute/hostname", "absolute", "file", "dangling", "link/new/x.txt"), `print(read_file("inside/a.txt"))`), fileTools)
	tr := s.in(filepath.Join(dir, "root"))
	tr.answered(t, "done")
	logs := tr.of(messages.ExecutionLogs)
	require.Len(t, logs, 2)
	lines := strings.Split(strings.TrimSpace(logs[0].Content), "\n")
	require.Len(t, lines, 7*3)
	for _, line := range lines {
		require.Contains(t, line, denied)
	}
	require.Contains(t, logs[1].Content, `"content":"a"`, "a link that stays inside is followed")
	require.Equal(t, before, contents(t, dir))
}

// fileOddPaths gives each odd path a clear error and makes no file outside.
func fileOddPaths(t *testing.T) {
	dir := folder(t, map[string]string{"y": "secret", "w/dir/b.txt": "b"})
	long := strings.Repeat("n", 300)
	paths := map[string]map[string]string{
		"":              {"read": "File path cannot be empty", "create": "File path cannot be empty", "list": "ok"},
		".":             {"read": "Path is not a file", "create": "Path is not a file", "list": "ok"},
		"..":            {"read": denied, "create": denied, "list": denied},
		"a\x00b":        {"read": "it holds a NUL character", "create": "it holds a NUL character", "list": "it holds a NUL character"},
		"x/../../y":     {"read": denied, "create": denied, "list": denied},
		"/etc/hostname": {"read": denied, "create": denied, "list": denied},
		"dir/":          {"read": "Path is not a file", "create": "Path is not a file", "list": "ok"},
		long:            {"read": "a name in it is longer than 255 bytes", "create": "a name in it is longer than 255 bytes", "list": "a name in it is longer than 255 bytes"},
	}
	before := contents(t, dir)
	for path, want := range paths {
		t.Run(path, func(t *testing.T) {
			s := play(t, steps(tryAll(path)), fileTools)
			tr := s.in(filepath.Join(dir, "w"))
			tr.answered(t, "done")
			lines := strings.Split(strings.TrimSpace(s.observation(1)), "\n")
			require.Len(t, lines, 4, "%q", lines)
			for _, line := range lines[1:] {
				name, _, _ := strings.Cut(line, " ")
				require.Contains(t, line, want[name], name)
				require.Less(t, len(line), 600)
			}
			for _, warning := range tr.of(messages.Warning) {
				require.NotEqual(t, "tool_restarted", warning.ErrorCode, "a panic")
			}
		})
	}
	require.Equal(t, before, contents(t, dir))
}

// fileEncodings helps with the wrong encoding, and cuts what is large.
func fileEncodings(t *testing.T) {
	const huge = 200 << 20
	dir := folder(t, map[string]string{
		"gbk.txt": "\xd6\xd0\xce\xc4", "binary.dat": "\x7fELF\x00\x01\x02\x00", "huge.txt": strings.Repeat("0123456789abcde\n", 11<<16),
	})
	require.NoError(t, os.Truncate(filepath.Join(dir, "huge.txt"), huge)) // the rest takes no room on disk
	s := play(t, steps(
		`read_file("gbk.txt")`,
		`import json
print(json.loads(read_file("gbk.txt", encoding="gbk"))["content"])`,
		`read_file("binary.dat")`,
		`r = json.loads(read_file("huge.txt"))
print(r["content"][:16], len(r["content"]), r["content"][-70:], r["message"], r["truncated"])`,
	), fileTools)
	before := resident()
	tr := s.in(dir)
	grown := resident() - before
	tr.answered(t, "done")
	require.Contains(t, s.observation(1), "Cannot read file with utf-8 encoding. Try a different encoding: its bytes are valid with encoding='gbk'")
	require.Equal(t, "Execution logs:\n中文\n", s.observation(2))
	require.Contains(t, s.observation(3), "the file is binary (8 bytes), read_file reads text only")
	require.Contains(t, s.observation(4), "0123456789abcde")
	require.Contains(t, s.observation(4), "[… cut: only the first 10485760 of 209715200 bytes are shown]")
	require.Contains(t, tr.text(messages.Other), "Large file warning: 209715200 bytes")
	require.Less(t, grown, int64(huge), "memory of the node")
}

// fileLinkedRoot takes a workspace that is itself reached through a link.
func fileLinkedRoot(t *testing.T) {
	dir := folder(t, map[string]string{"data/r/keep": "", "r": "->data/r"})
	s := play(t, steps(`create_file("a.txt", "one")
print(read_file("`+dir+`/r/a.txt"))
print(list_directory())`), fileTools)
	tr := s.in(filepath.Join(dir, "r"))
	tr.answered(t, "done")
	require.Contains(t, tr.text(messages.ExecutionLogs), `"content":"one"`)
	require.Contains(t, tr.text(messages.ExecutionLogs), "a.txt")
	require.Equal(t, "one", contents(t, dir)["data/r/a.txt"])
	require.Len(t, tr.of(messages.FileArtifact), 1)

	t.Run("data_dir", func(t *testing.T) {
		s := play(t, steps(`create_file("a.txt", "two")`), fileTools, func(cfg *troupe.Config) { cfg.DataDir = filepath.Join(dir, "r") })
		s.perform().answered(t, "done")
	})
}
