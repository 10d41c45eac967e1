package file_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/tool"
	"github.com/troupe-go/troupe/actors/tool/file"
	"github.com/troupe-go/troupe/messages"
)

// desk is a workspace with its tools, made by a shelf as a node makes them.
type desk struct {
	t        *testing.T
	dir      string
	lang     string
	tools    map[string]tool.Tool
	events   []messages.Event
	changed  []messages.Artifact
	ctx      context.Context
	initPath string
}

var classes = map[string]string{"read_file": "ReadFileTool", "create_file": "CreateFileTool", "list_directory": "ListDirectoryTool"}

// setup makes a workspace of this name in a folder that holds nothing else.
func setup(t *testing.T, name string) *desk {
	parent, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	d := &desk{t: t, dir: filepath.Join(parent, name), lang: messages.EN, tools: map[string]tool.Tool{}, ctx: context.Background()}
	require.NoError(t, os.Mkdir(d.dir, 0o755))
	return d
}

func (d *desk) tool(name string) tool.Tool {
	if made, ok := d.tools[name]; ok {
		return made
	}
	shelf := tool.NewShelf()
	file.Register(shelf)
	cfg := messages.ToolConfig{ClassName: classes[name]}
	deps := tool.Deps{Workspace: d.dir}
	if d.initPath != "" {
		raw, err := json.Marshal(map[string]string{"init_path": d.initPath})
		require.NoError(d.t, err)
		cfg.Params, deps.Workspace = raw, ""
	}
	made, err := shelf.Make(cfg, deps)
	require.NoError(d.t, err)
	d.t.Cleanup(func() { require.NoError(d.t, made.(tool.Closer).Close()) })
	d.tools[name] = made
	return made
}

// call makes a call as an agent does and gives the result's JSON object.
func (d *desk) call(name string, kwargs map[string]any) (map[string]any, error) {
	d.t.Helper()
	d.events, d.changed = nil, nil
	made := d.tool(name)
	args, _, err := made.Spec().Bind(nil, kwargs)
	require.NoError(d.t, err)
	out, err := made.Call(d.ctx, &tool.Call{
		ID: "c1", Args: args, Lang: d.lang,
		Emit: func(t messages.ProcessType, content string) {
			d.events = append(d.events, messages.Event{Type: t, Content: content})
		},
		Changed: func(a messages.Artifact) { d.changed = append(d.changed, a) },
	})
	if err != nil {
		return nil, err
	}
	var result map[string]any
	require.NoError(d.t, json.Unmarshal([]byte(out.(string)), &result))
	require.Equal(d.t, "success", result["status"])
	return result, nil
}

func (d *desk) read(path string) (map[string]any, error) {
	return d.call("read_file", map[string]any{"file_path": path})
}

func (d *desk) create(path string) (map[string]any, error) {
	return d.call("create_file", map[string]any{"file_path": path, "content": "mine"})
}

func (d *desk) list(path string) (map[string]any, error) {
	return d.call("list_directory", map[string]any{"directory_path": path})
}

// each calls all three tools with a path and gives their errors.
func (d *desk) each(path string) map[string]error {
	_, read := d.read(path)
	_, create := d.create(path)
	_, list := d.list(path)
	return map[string]error{"read_file": read, "create_file": create, "list_directory": list}
}

func (d *desk) put(path, content string) string {
	d.t.Helper()
	full := filepath.Join(d.dir, path)
	require.NoError(d.t, os.MkdirAll(filepath.Dir(full), 0o755))
	require.NoError(d.t, os.WriteFile(full, []byte(content), 0o644))
	return full
}

func (d *desk) link(target, path string) {
	d.t.Helper()
	require.NoError(d.t, os.Symlink(target, filepath.Join(d.dir, path)))
}

// outside makes a file beside the workspace and gives what checks that it, and
// all else there, is untouched.
func (d *desk) outside(path string) (untouched func()) {
	d.put(filepath.Join("..", path), "theirs")
	before := d.tree()
	return func() {
		d.t.Helper()
		require.Equal(d.t, before, d.tree(), "nothing outside changed")
	}
}

// tree gives every file beside the workspace with its content.
func (d *desk) tree() map[string]string {
	files := map[string]string{}
	err := filepath.WalkDir(filepath.Dir(d.dir), func(path string, e os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path == d.dir:
			return filepath.SkipDir
		case e.IsDir():
			files[path] = "folder"
			return nil
		}
		raw, err := os.ReadFile(path)
		files[path] = string(raw)
		return err
	})
	require.NoError(d.t, err)
	return files
}

func code(err error) string { return messages.AsFault(err).Code }
