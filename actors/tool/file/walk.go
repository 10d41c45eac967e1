package file

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/troupe-go/troupe/actors/tool"
)

// node is one entry of a listing.
type node struct {
	Name          string   `json:"name"`
	Path          string   `json:"path"` // relative to the workspace
	Type          string   `json:"type"` // file | directory | unknown
	Permissions   string   `json:"permissions,omitempty"`
	Modified      float64  `json:"modified,omitempty"` // seconds since 1970
	Children      *[]*node `json:"children,omitempty"`
	ItemCount     *int     `json:"item_count,omitempty"`
	Truncated     bool     `json:"truncated,omitempty"`
	Size          *int64   `json:"size,omitempty"`
	SizeFormatted string   `json:"size_formatted,omitempty"`
	Error         string   `json:"error,omitempty"`
}

// walk lists folders, bounded in depth and entries.
type walk struct {
	ctx        context.Context
	w          *Workspace
	lang       string
	limit      int
	showHidden bool
	showSize   bool

	sum   summary
	shown int
	cut   bool
}

func newWalk(ctx context.Context, w *Workspace, c *tool.Call, limit int) *walk {
	depth, _ := c.Args["max_depth"].(int64)
	hidden, _ := c.Args["show_hidden"].(bool)
	size, _ := c.Args["show_size"].(bool)
	return &walk{
		ctx: ctx, w: w, lang: c.Lang, limit: limit, showHidden: hidden, showSize: size,
		sum: summary{MaxDepth: int(depth), ShowHidden: hidden},
	}
}

// children lists a folder; depth is that of its entries, from 1.
func (k *walk) children(rel string, depth int) ([]*node, error) {
	entries, err := k.entries(rel)
	if err != nil {
		return nil, err
	}
	nodes := make([]*node, 0, len(entries))
	for _, e := range entries {
		if k.shown >= k.limit {
			k.cut = true
			break
		}
		if k.ctx.Err() != nil {
			return nil, context.Cause(k.ctx)
		}
		k.shown++
		n, err := k.node(filepath.Join(rel, e.Name()), e, depth)
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, n)
	}
	return nodes, nil
}

// entries reads a folder, sorted by name: at most one more than may be shown.
// What a huge folder shows beyond that is its first entries as the file system
// has them.
func (k *walk) entries(rel string) ([]fs.DirEntry, error) {
	d, err := k.w.root.OpenFile(rel, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, k.w.osFault(k.w.abs(rel), err)
	}
	var found []fs.DirEntry
	for len(found) <= k.limit && err == nil {
		var batch []fs.DirEntry
		batch, err = d.ReadDir(256)
		found = append(found, batch...)
		if !k.showHidden {
			found = slices.DeleteFunc(found, func(e fs.DirEntry) bool { return strings.HasPrefix(e.Name(), ".") })
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if closing := d.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return nil, k.w.osFault(k.w.abs(rel), err)
	}
	slices.SortFunc(found, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return found, nil
}

// node describes one entry. A link is what it points to; one that leaves the
// workspace, or ends nowhere, is unknown.
func (k *walk) node(rel string, e fs.DirEntry, depth int) (*node, error) {
	n := &node{Name: e.Name(), Path: filepath.ToSlash(rel)}
	info, err := k.w.root.Stat(rel)
	if err != nil {
		n.Type, n.Error = "unknown", k.problem(err)
		return n, nil
	}
	n.Permissions = fmt.Sprintf("%03o", info.Mode().Perm())
	n.Modified = float64(info.ModTime().UnixMilli()) / 1000
	if info.IsDir() {
		link := e.Type()&fs.ModeSymlink != 0
		return n, k.directory(n, rel, depth, link)
	}
	n.Type = "file"
	size := info.Size()
	k.sum.TotalFiles++
	k.sum.TotalSizeBytes += size
	if k.showSize {
		n.Size, n.SizeFormatted = &size, formatSize(size)
	}
	return n, nil
}

// directory lists a folder inside, down to the greatest depth. Folders behind
// links are not entered: they may lead back.
func (k *walk) directory(n *node, rel string, depth int, link bool) error {
	n.Type = "directory"
	k.sum.TotalDirectories++
	children := []*node{}
	var count int
	var err error
	if link || depth >= k.sum.MaxDepth {
		n.Truncated = true
		var entries []fs.DirEntry
		entries, err = k.entries(rel)
		count = len(entries)
	} else {
		children, err = k.children(rel, depth+1)
		count = len(children)
	}
	if k.ctx.Err() != nil {
		return context.Cause(k.ctx)
	}
	if err != nil {
		n.Error, children = k.problem(err), []*node{}
	}
	n.Children, n.ItemCount = &children, &count
	return nil
}

func (k *walk) problem(err error) string {
	switch {
	case errors.Is(err, k.w.escape), errors.Is(err, errOutside):
		return say(k.lang, "link points outside the workspace", "链接指向工作区之外")
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, errNotExist):
		return say(k.lang, "does not exist", "不存在")
	case errors.Is(err, fs.ErrPermission), errors.Is(err, errDenied):
		return say(k.lang, "permission denied", "权限不足")
	}
	return reason(err).Error()
}

// display draws the tree.
func display(rel string, children []*node, showSize bool) string {
	var b strings.Builder
	b.WriteString("📁 ")
	if rel == "." {
		rel = "workspace"
	}
	b.WriteString(rel)
	draw(&b, children, "", showSize)
	return b.String()
}

func draw(b *strings.Builder, nodes []*node, indent string, showSize bool) {
	for i, n := range nodes {
		branch, below := "├── ", "│   "
		if i == len(nodes)-1 {
			branch, below = "└── ", "    "
		}
		b.WriteString("\n" + indent + branch + n.label(showSize))
		if n.Children != nil {
			draw(b, *n.Children, indent+below, showSize)
		}
	}
}

func (n *node) label(showSize bool) string {
	s := n.Name
	switch {
	case n.Type == "directory":
		s += fmt.Sprintf("/ (%d items)", *n.ItemCount)
		if n.Truncated {
			s += " [...]"
		}
	case showSize && n.Size != nil:
		s += " (" + n.SizeFormatted + ")"
	}
	if n.Error != "" {
		s += " [ERROR: " + n.Error + "]"
	}
	return s
}

// formatSize writes 512B, 2.0KB, 5.0MB, 2.0GB.
func formatSize(bytes int64) string {
	switch {
	case bytes < 1<<10:
		return fmt.Sprintf("%dB", bytes)
	case bytes < 1<<20:
		return fmt.Sprintf("%.1fKB", float64(bytes)/(1<<10))
	case bytes < 1<<30:
		return fmt.Sprintf("%.1fMB", float64(bytes)/(1<<20))
	}
	return fmt.Sprintf("%.1fGB", float64(bytes)/(1<<30))
}
