package file_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/tool"
	"github.com/troupe-go/troupe/actors/tool/file"
	"github.com/troupe-go/troupe/messages"
)

func TestCreateFile(t *testing.T) {
	d := setup(t, "w")
	got, err := d.call("create_file", map[string]any{"file_path": "docs/2026/a b.txt", "content": "héllo <b>\n"})
	require.NoError(t, err)
	require.Equal(t, map[string]any{
		"status": "success", "file_path": "docs/2026/a b.txt", "absolute_path": d.dir + "/docs/2026/a b.txt", "content_length": 10.0,
		"file_size_bytes": 11.0, "encoding": "utf-8", "message": "File created successfully at docs/2026/a b.txt",
	}, got)
	require.Equal(t, []messages.Event{{Type: messages.Card, Content: `[{"icon":"file-plus","text":"Creating docs/2026/a b.txt"}]`}}, d.events)
	sum := sha256.Sum256([]byte("héllo <b>\n"))
	require.Equal(t, []messages.Artifact{{
		Name: "a b.txt", Path: "docs/2026/a b.txt", MediaType: "text/plain; charset=utf-8", Size: 11, Hash: hex.EncodeToString(sum[:]),
	}}, d.changed)

	got, err = d.call("create_file", map[string]any{"file_path": "empty.txt", "content": nil, "encoding": nil})
	require.NoError(t, err)
	require.Equal(t, 0.0, got["content_length"])
	require.Equal(t, "utf-8", got["encoding"])
}

func TestCreateFileOverwrites(t *testing.T) {
	for lang, want := range map[string]string{messages.EN: "File already exists, will overwrite: ", messages.ZH: "文件已存在，将覆盖: "} {
		t.Run(lang, func(t *testing.T) {
			d := setup(t, "w")
			d.lang = lang
			full := d.put("a.sh", "old and longer")
			require.NoError(t, os.Chmod(full, 0o750))
			_, err := d.create("a.sh")
			require.NoError(t, err)
			require.Equal(t, messages.Event{Type: messages.Other, Content: want + full}, d.events[1])
			raw, err := os.ReadFile(full)
			require.NoError(t, err)
			require.Equal(t, "mine", string(raw))
			info, err := os.Stat(full)
			require.NoError(t, err)
			require.EqualValues(t, 0o750, info.Mode().Perm(), "mode is kept")
			entries, err := os.ReadDir(d.dir)
			require.NoError(t, err)
			require.Len(t, entries, 1, "nothing is left beside it")
		})
	}
}

func TestCreateFileRefuses(t *testing.T) {
	d := setup(t, "w")
	_, err := d.call("create_file", map[string]any{"file_path": "a.txt", "content": "中文", "encoding": "latin-1"})
	require.EqualError(t, err, "Failed to create file: Encoding error: Cannot write content with latin-1 encoding. Try a different encoding, e.g. utf-8.")
	_, err = d.call("create_file", map[string]any{"file_path": "a.txt", "content": "é", "encoding": "ascii"})
	require.Equal(t, "encoding_error", code(err))
	_, err = d.call("create_file", map[string]any{"file_path": "a.txt", "encoding": "klingon"})
	require.Equal(t, "encoding_unknown", code(err))
	_, err = d.call("create_file", map[string]any{"file_path": "a.txt", "encoding": "hz-gb-2312"})
	require.Equal(t, "encoding_unknown", code(err))
	_, err = d.call("create_file", map[string]any{"file_path": "a.txt", "content": strings.Repeat("x", 32<<20+1)})
	require.Equal(t, "file_too_large", code(err))
	_, err = d.call("create_file", map[string]any{"file_path": "  ", "content": "x"})
	require.EqualError(t, err, "Failed to create file: File path cannot be empty")

	stop := errors.New("stopped")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(stop)
	d.ctx = ctx
	_, err = d.create("a.txt")
	require.ErrorIs(t, err, stop)
	entries, err := os.ReadDir(d.dir)
	require.NoError(t, err)
	require.Empty(t, entries)
}

func TestReadFile(t *testing.T) {
	d := setup(t, "w")
	d.put("a.txt", "one\ntwo\nthr€e")
	d.put("empty.txt", "")
	got, err := d.read("a.txt")
	require.NoError(t, err)
	require.Equal(t, map[string]any{
		"status": "success", "file_path": "a.txt", "absolute_path": d.dir + "/a.txt", "content": "one\ntwo\nthr€e", "content_length": 13.0,
		"file_size_bytes": 15.0, "encoding": "utf-8", "lines_count": 3.0, "message": "File read successfully from a.txt",
	}, got)
	require.Equal(t, []messages.Event{{Type: messages.Card, Content: `[{"icon":"file-text","text":"Reading a.txt"}]`}}, d.events)
	got, err = d.read("empty.txt")
	require.NoError(t, err)
	require.Equal(t, 0.0, got["lines_count"])
	_, err = d.read("no.txt")
	require.EqualError(t, err, "Failed to read file: File does not exist: "+d.dir+"/no.txt")
	require.Equal(t, "读取文件失败：文件不存在："+d.dir+"/no.txt", messages.AsFault(err).ZH)

	d.lang = messages.ZH
	_, err = d.read("a.txt")
	require.NoError(t, err)
	require.Equal(t, `[{"icon":"file-text","text":"正在读取 a.txt"}]`, d.events[0].Content)
}

func TestEncodings(t *testing.T) {
	d := setup(t, "w")
	for name, text := range map[string]string{
		"utf-8": "中文€", "UTF8": "中文", "utf_8_sig": "中文", "gbk": "中文", "GB18030": "中文€😀", "cp936": "中文", "big5": "中文", "shift_jis": "日本",
		"euc_kr": "한국", "latin-1": "é\u0081", "iso-8859-1": "é", "cp1252": "€", "windows-1251": "Привет", "ascii": "abc",
		"utf-16": "中文\uFFFD", "utf-16-be": "中文", "utf-32": "中文😀", "iso-8859-2": "ž",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := d.call("create_file", map[string]any{"file_path": "x.txt", "content": text, "encoding": name})
			require.NoError(t, err)
			got, err := d.call("read_file", map[string]any{"file_path": "x.txt", "encoding": name})
			require.NoError(t, err)
			require.Equal(t, text, got["content"])
		})
	}
	_, err := d.call("create_file", map[string]any{"file_path": "x.txt", "content": "A", "encoding": "utf-16"})
	require.NoError(t, err)
	raw, err := os.ReadFile(filepath.Join(d.dir, "x.txt"))
	require.NoError(t, err)
	require.Equal(t, "\xff\xfeA\x00", string(raw), "as Python writes it")
}

func TestReadFileEncodingsAndSize(t *testing.T) {
	t.Run("FILE-07", func(t *testing.T) {
		d := setup(t, "w")
		d.put("gbk.txt", "\xd6\xd0\xce\xc4")
		_, err := d.read("gbk.txt")
		require.Equal(t, "encoding_error", code(err))
		require.ErrorContains(t, err, "Cannot read file with utf-8 encoding. Try a different encoding: its bytes are valid with encoding='gbk' or ")
		require.Contains(t, messages.AsFault(err).ZH, "encoding='gbk'")
		got, err := d.call("read_file", map[string]any{"file_path": "gbk.txt", "encoding": "gbk"})
		require.NoError(t, err)
		require.Equal(t, "中文", got["content"])

		d.put("utf16.txt", "\xff\xfe-N\x87e")
		_, err = d.read("utf16.txt")
		require.ErrorContains(t, err, "encoding='utf-16'.")
		d.put("picture.png", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR")
		for _, encoding := range []string{"utf-8", "latin-1", "gbk"} {
			_, err = d.call("read_file", map[string]any{"file_path": "picture.png", "encoding": encoding})
			require.Equal(t, "file_binary", code(err), encoding)
		}
		d.put("noise", "\x81\xff\xff\x80")
		_, err = d.call("read_file", map[string]any{"file_path": "noise", "encoding": "gbk"})
		require.Equal(t, "encoding_error", code(err))

		// 200 MB of which only the first 10 MiB exist on the disk, in the middle
		// of a character where it is cut.
		const limit = 10 << 20
		full := d.put("big.txt", "a"+strings.Repeat("é", limit/2))
		require.NoError(t, os.Truncate(full, 200<<20))
		for lang, note := range map[string]string{
			messages.EN: "cut: only the first 10485760 of 209715200 bytes are shown", messages.ZH: "已截断：仅显示前 10485760 字节，共 209715200 字节",
		} {
			d.lang = lang
			got, err = d.read("big.txt")
			require.NoError(t, err)
			require.True(t, strings.HasSuffix(got["content"].(string), "é\n[… "+note+"]"))
			require.Equal(t, "File read successfully from big.txt ("+note+")", got["message"])
			require.Equal(t, true, got["truncated"])
			require.EqualValues(t, 200<<20, got["file_size_bytes"])
			require.Contains(t, d.events[1].Content, "209715200")
		}
	})
}

func TestListDirectory(t *testing.T) {
	d := setup(t, "w")
	d.put("b.txt", strings.Repeat("x", 2048))
	d.put("a/deep/er/c.txt", "c")
	d.put("a/.hidden", "")
	d.put("z", "12")
	d.link("/etc", "out")
	d.link("a", "in")
	got, err := d.call("list_directory", map[string]any{"directory_path": nil, "max_depth": int64(2)})
	require.NoError(t, err)
	require.Equal(t, strings.Join([]string{
		"📁 workspace",
		"├── a/ (1 items)",
		"│   └── deep/ (1 items) [...]",
		"├── b.txt (2.0KB)",
		"├── in/ (1 items) [...]",
		"├── out [ERROR: link points outside the workspace]",
		"└── z (2B)",
	}, "\n"), got["tree_display"])
	require.Equal(t, map[string]any{
		"total_files": 2.0, "total_directories": 3.0, "total_size_bytes": 2050.0, "total_size_formatted": "2.0KB", "max_depth": 2.0, "show_hidden": false,
	}, got["summary"])
	require.Equal(t, []string{".", d.dir, "Directory listed successfully: ."}, []string{got["directory_path"].(string), got["absolute_path"].(string), got["message"].(string)})
	require.Equal(t, `[{"icon":"folder-tree","text":"Listing directory ."}]`, d.events[0].Content)

	children := got["tree_data"].(map[string]any)["children"].([]any)
	require.Len(t, children, 5)
	deep := children[0].(map[string]any)["children"].([]any)[0].(map[string]any)
	require.Equal(t, []any{"deep", "a/deep", "directory", true, 1.0, []any{}}, []any{deep["name"], deep["path"], deep["type"], deep["truncated"], deep["item_count"], deep["children"]})
	require.Equal(t, "755", deep["permissions"])
	b := children[1].(map[string]any)
	require.Equal(t, []any{"file", 2048.0, "2.0KB", "644"}, []any{b["type"], b["size"], b["size_formatted"], b["permissions"]})
	require.Positive(t, b["modified"])
	require.NotContains(t, b, "children")
	require.Equal(t, "unknown", children[3].(map[string]any)["type"])

	got, err = d.call("list_directory", map[string]any{"directory_path": "a", "show_hidden": true, "show_size": false})
	require.NoError(t, err)
	require.Equal(t, "📁 a\n├── .hidden\n└── deep/ (1 items)\n    └── er/ (1 items)\n        └── c.txt", got["tree_display"])
	require.Equal(t, 1.0, got["summary"].(map[string]any)["total_size_bytes"], "counted though not shown")

	for depth, want := range map[int64]float64{0: 1, 20: 10} {
		got, err = d.call("list_directory", map[string]any{"max_depth": depth})
		require.NoError(t, err)
		require.Equal(t, want, got["summary"].(map[string]any)["max_depth"])
	}
	_, err = d.list("b.txt")
	require.EqualError(t, err, "Failed to list directory: Path is not a directory: "+d.dir+"/b.txt")
}

func TestListDirectoryIsBounded(t *testing.T) {
	d := setup(t, "w")
	got, err := d.list(".")
	require.NoError(t, err)
	require.Equal(t, "0B", got["summary"].(map[string]any)["total_size_formatted"])
	for i := range 2100 {
		require.NoError(t, os.WriteFile(filepath.Join(d.dir, strings.Repeat("n", i%50+1)+string(rune('a'+i/50%26))+string(rune('a'+i/1300))), nil, 0o644))
	}
	got, err = d.list(".")
	require.NoError(t, err)
	require.Len(t, got["tree_data"].(map[string]any)["children"], 2000)
	require.Equal(t, true, got["truncated"])
	require.Contains(t, got["tree_display"], "\n[… cut: only the first 2000 entries are shown; ")
}

func TestRegister(t *testing.T) {
	shelf := tool.NewShelf()
	file.Register(shelf)
	require.Equal(t, []string{"CreateFileTool", "ListDirectoryTool", "ReadFileTool"}, shelf.Classes())
	for name, want := range map[string]tool.Effects{"read_file": tool.EffectsNone, "create_file": tool.EffectsIdempotent, "list_directory": tool.EffectsNone} {
		made, err := shelf.Make(messages.ToolConfig{ClassName: classes[name]}, tool.Deps{})
		require.NoError(t, err, "a configuration can be checked without a workspace")
		s := made.Spec()
		require.Equal(t, name, s.Name)
		require.Equal(t, want, s.Effects)
		require.Equal(t, []any{tool.CategoryFile, tool.SignFileOperation, "string", tool.StateWorkspace}, []any{s.Category, s.Sign, s.OutputType, s.State})
		require.NotEmpty(t, s.DescriptionZH)
		for _, in := range append(s.Inputs, s.Constructor...) {
			require.NotEmpty(t, in.Description, in.Name)
			require.NotEmpty(t, in.DescriptionZH, in.Name)
		}
		args, _, err := s.Bind([]any{"a"}, nil)
		require.NoError(t, err)
		_, err = made.Call(context.Background(), &tool.Call{Args: args, Emit: func(messages.ProcessType, string) {}})
		require.Equal(t, "workspace_unset", code(err))
		_, err = made.Call(context.Background(), &tool.Call{Args: args, Workspace: t.TempDir(), Emit: func(messages.ProcessType, string) {}, Changed: func(messages.Artifact) {}})
		require.NotEqual(t, "workspace_unset", code(err), "the call's own serves")
		require.NoError(t, made.(tool.Closer).Close())
		require.NoError(t, made.(tool.Closer).Close())
	}
	_, err := shelf.Make(messages.ToolConfig{ClassName: "ReadFileTool", Params: json.RawMessage(`{"init_path":" "}`)}, tool.Deps{})
	require.ErrorContains(t, err, "init_path cannot be empty")
}
