package file

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync"

	"github.com/troupe-go/troupe/actors/tool"
	"github.com/troupe-go/troupe/messages"
)

// Register puts the file tools on a shelf.
func Register(shelf *tool.Shelf) {
	shelf.Add("ReadFileTool", newReadFile, initPath)
	shelf.Add("CreateFileTool", newCreateFile, initPath)
	shelf.Add("ListDirectoryTool", newListDirectory, initPath)
}

var initPath = tool.Input{
	Name: "init_path", Type: tool.TypeString, Nullable: true,
	Description:   "Workspace folder that the tool works in; left out, the folder of the run",
	DescriptionZH: "工具使用的工作区目录；省略则使用运行的目录",
}

// base is what the file tools share: a workspace, opened at the first call.
type base struct {
	spec *tool.Spec
	dir  string // configured, or the run's; empty: that of the call

	mu     sync.Mutex
	opened *Workspace
}

func newBase(spec *tool.Spec, params json.RawMessage, deps tool.Deps) (*base, error) {
	var p struct {
		InitPath *string `json:"init_path"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, errInitPath.With(err)
	}
	b := &base{spec: spec, dir: deps.Workspace}
	if p.InitPath != nil {
		b.dir = *p.InitPath
		if strings.TrimSpace(b.dir) == "" {
			return nil, errInitPath
		}
	}
	return b, nil
}

// Spec implements tool.Tool.
func (b *base) Spec() *tool.Spec { return b.spec }

// Close implements tool.Closer.
func (b *base) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.opened == nil {
		return nil
	}
	w := b.opened
	b.opened = nil
	return w.Close()
}

func (b *base) workspace(c *tool.Call) (*Workspace, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.opened != nil {
		return b.opened, nil
	}
	dir := b.dir
	if dir == "" {
		dir = c.Workspace
	}
	w, err := OpenWorkspace(dir)
	if err != nil {
		return nil, err
	}
	b.opened = w
	return w, nil
}

// card shows people what the call does.
func card(c *tool.Call, icon, en, zh, path string) error {
	content, err := encode([]struct {
		Icon string `json:"icon"`
		Text string `json:"text"`
	}{{icon, say(c.Lang, en, zh) + " " + path}})
	if err != nil {
		return err
	}
	c.Emit(messages.Card, content)
	return nil
}

// note tells people something in their language.
func note(c *tool.Call, en, zh string) {
	c.Emit(messages.Other, say(c.Lang, en, zh))
}

func say(lang, en, zh string) string {
	if lang == messages.ZH {
		return zh
	}
	return en
}

// encode gives JSON text, non-ASCII unescaped.
func encode(v any) (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "", err
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

func text(v any) string {
	s, _ := v.(string)
	return s
}
