package file

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/troupe-go/troupe/actors/tool"
)

// listLimit is how many entries a listing shows; the rest is cut and said so.
const listLimit = 2000

type listDirectory struct {
	*base
	limit int
}

func newListDirectory(params json.RawMessage, deps tool.Deps) (tool.Tool, error) {
	least, most := 1.0, 10.0
	b, err := newBase(&tool.Spec{
		Name: "list_directory",
		Description: "List a folder of the workspace as a tree with types, sizes and times, as JSON text. " +
			"Give a path relative to the workspace; an absolute path is accepted only when it lies inside the workspace.",
		DescriptionZH: "以树形列出工作区中的目录，包含类型、大小和时间，返回 JSON 文本。请使用相对于工作区的路径；绝对路径仅在位于工作区内时可用。",
		Inputs: []tool.Input{
			{
				Name: "directory_path", Type: tool.TypeString, Default: ".", Nullable: true,
				Description:   "Path of the folder, relative to the workspace; . is the workspace itself",
				DescriptionZH: "目录的工作区相对路径；. 表示工作区本身",
			},
			{
				Name: "max_depth", Type: tool.TypeInteger, Default: 3, Nullable: true, Min: &least, Max: &most,
				Description: "How many levels to show", DescriptionZH: "显示的层数",
			},
			{
				Name: "show_hidden", Type: tool.TypeBoolean, Default: false, Nullable: true,
				Description: "Show names that begin with a dot", DescriptionZH: "是否显示以点开头的名称",
			},
			{
				Name: "show_size", Type: tool.TypeBoolean, Default: true, Nullable: true,
				Description: "Show the size of files", DescriptionZH: "是否显示文件大小",
			},
		},
		OutputType: tool.TypeString, Category: tool.CategoryFile, Sign: tool.SignFileOperation,
		Effects: tool.EffectsNone, State: tool.StateWorkspace, ResultLimit: 4 << 20,
	}, params, deps)
	if err != nil {
		return nil, err
	}
	return &listDirectory{base: b, limit: listLimit}, nil
}

type listResult struct {
	Status        string  `json:"status"`
	DirectoryPath string  `json:"directory_path"`
	AbsolutePath  string  `json:"absolute_path"`
	TreeDisplay   string  `json:"tree_display"`
	TreeData      tree    `json:"tree_data"`
	Summary       summary `json:"summary"`
	Message       string  `json:"message"`
	Truncated     bool    `json:"truncated,omitempty"` // entries were left out
}

type tree struct {
	Children []*node `json:"children"`
}

type summary struct {
	TotalFiles         int    `json:"total_files"`
	TotalDirectories   int    `json:"total_directories"`
	TotalSizeBytes     int64  `json:"total_size_bytes"`
	TotalSizeFormatted string `json:"total_size_formatted"`
	MaxDepth           int    `json:"max_depth"`
	ShowHidden         bool   `json:"show_hidden"`
}

// Call implements tool.Tool.
func (t *listDirectory) Call(ctx context.Context, c *tool.Call) (any, error) {
	path := text(c.Args["directory_path"])
	if path == "" {
		path = "."
	}
	if err := card(c, "folder-tree", "Listing directory", "正在列出目录", path); err != nil {
		return nil, err
	}
	r, err := t.list(ctx, c, path)
	if err != nil {
		return nil, failed("list directory", "列出目录", err)
	}
	return encode(r)
}

func (t *listDirectory) list(ctx context.Context, c *tool.Call, path string) (*listResult, error) {
	w, err := t.workspace(c)
	if err != nil {
		return nil, err
	}
	rel, err := w.Resolve(path)
	if err != nil {
		return nil, err
	}
	info, err := w.root.Stat(rel)
	if err != nil {
		return nil, w.osFault(w.abs(rel), err)
	}
	if !info.IsDir() {
		return nil, errNotDir.Withf(w.abs(rel))
	}
	walk := newWalk(ctx, w, c, t.limit)
	children, err := walk.children(rel, 1)
	if err != nil {
		return nil, err
	}
	return walk.result(rel, children), nil
}

func (k *walk) result(rel string, children []*node) *listResult {
	slash := filepath.ToSlash(rel)
	r := &listResult{
		Status: "success", DirectoryPath: slash, AbsolutePath: k.w.abs(rel),
		TreeDisplay: display(slash, children, k.showSize), TreeData: tree{children},
		Summary: k.sum, Message: "Directory listed successfully: " + slash,
	}
	r.Summary.TotalSizeFormatted = formatSize(k.sum.TotalSizeBytes)
	if k.cut {
		r.Truncated = true
		mark := fmt.Sprintf(say(k.lang, "cut: only the first %d entries are shown; list a folder inside, or with a smaller max_depth",
			"已截断：仅显示前 %d 项；请列出其中的子目录，或减小 max_depth"), k.shown)
		r.TreeDisplay += "\n[… " + mark + "]"
		r.Message += " (" + mark + ")"
	}
	return r
}
