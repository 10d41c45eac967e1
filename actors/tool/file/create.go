package file

import (
	"context"
	"encoding/json"
	"path/filepath"
	"unicode/utf8"

	"github.com/troupe-go/troupe/actors/tool"
)

type createFile struct{ *base }

func newCreateFile(params json.RawMessage, deps tool.Deps) (tool.Tool, error) {
	b, err := newBase(&tool.Spec{
		Name: "create_file",
		Description: "Create a text file in the workspace with the given content; missing folders are made, an existing file is overwritten. " +
			"Give a path relative to the workspace; an absolute path is accepted only when it lies inside the workspace. Returns JSON text.",
		DescriptionZH: "在工作区中创建文本文件并写入内容；自动创建缺失的目录，已存在的文件会被覆盖。请使用相对于工作区的路径；绝对路径仅在位于工作区内时可用。返回 JSON 文本。",
		Inputs: []tool.Input{
			{
				Name: "file_path", Type: tool.TypeString, Required: true,
				Description:   "Path of the file, relative to the workspace, e.g. documents/file.txt",
				DescriptionZH: "文件的工作区相对路径，例如 documents/file.txt",
			},
			{
				Name: "content", Type: tool.TypeString, Nullable: true,
				Description:   "Text to write; left out, the file is empty",
				DescriptionZH: "要写入的文本；省略则创建空文件",
			},
			encodingInput,
		},
		OutputType: tool.TypeString, Category: tool.CategoryFile, Sign: tool.SignFileOperation,
		Effects: tool.EffectsIdempotent, State: tool.StateWorkspace,
	}, params, deps)
	if err != nil {
		return nil, err
	}
	return &createFile{b}, nil
}

type createResult struct {
	Status        string `json:"status"`
	FilePath      string `json:"file_path"`
	AbsolutePath  string `json:"absolute_path"`
	ContentLength int    `json:"content_length"` // characters
	FileSizeBytes int64  `json:"file_size_bytes"`
	Encoding      string `json:"encoding"`
	Message       string `json:"message"`
}

// Call implements tool.Tool.
func (t *createFile) Call(ctx context.Context, c *tool.Call) (any, error) {
	path := text(c.Args["file_path"])
	if err := card(c, "file-plus", "Creating", "正在创建", path); err != nil {
		return nil, err
	}
	r, err := t.create(ctx, c, path, text(c.Args["content"]), text(c.Args["encoding"]))
	if err != nil {
		return nil, failed("create file", "创建文件", err)
	}
	return encode(r)
}

func (t *createFile) create(ctx context.Context, c *tool.Call, path, content, encoding string) (*createResult, error) {
	w, err := t.workspace(c)
	if err != nil {
		return nil, err
	}
	rel, err := w.resolveFile(path)
	if err != nil {
		return nil, err
	}
	codec, err := codecNamed(encoding)
	if err != nil {
		return nil, err
	}
	data, err := codec.encode(content)
	if err != nil {
		return nil, err
	}
	mode, exists, err := w.existing(rel)
	if err != nil {
		return nil, err
	}
	if exists {
		note(c, "File already exists, will overwrite: "+w.abs(rel), "文件已存在，将覆盖: "+w.abs(rel))
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	written, err := w.write(rel, data, mode)
	if err != nil {
		return nil, err
	}
	c.Changed(written)
	return &createResult{
		Status: "success", FilePath: written.Path, AbsolutePath: w.abs(rel),
		ContentLength: utf8.RuneCountInString(content), FileSizeBytes: written.Size,
		Encoding: encoding, Message: "File created successfully at " + filepath.ToSlash(rel),
	}, nil
}
