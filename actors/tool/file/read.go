package file

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/troupe-go/troupe/actors/tool"
)

// readLimit is how much of a file read_file gives; the rest is cut and said
// so.
const readLimit = 10 << 20

// readResultLimit leaves room for the escapes of JSON text inside JSON text.
const readResultLimit = 64 << 20

type readFile struct {
	*base
	limit int
}

func newReadFile(params json.RawMessage, deps tool.Deps) (tool.Tool, error) {
	b, err := newBase(&tool.Spec{
		Name: "read_file",
		Description: "Read a text file of the workspace and return its content with metadata, as JSON text. " +
			"Give a path relative to the workspace; an absolute path is accepted only when it lies inside the workspace. " +
			"A file larger than 10 MiB is cut there, with a note at the end of the content.",
		DescriptionZH: "读取工作区中的文本文件，以 JSON 文本返回内容与元数据。请使用相对于工作区的路径；绝对路径仅在位于工作区内时可用。超过 10 MiB 的文件会被截断，并在内容末尾注明。",
		Inputs: []tool.Input{
			{
				Name: "file_path", Type: tool.TypeString, Required: true,
				Description:   "Path of the file, relative to the workspace, e.g. documents/file.txt",
				DescriptionZH: "文件的工作区相对路径，例如 documents/file.txt",
			},
			encodingInput,
		},
		OutputType: tool.TypeString, Category: tool.CategoryFile, Sign: tool.SignFileOperation,
		Effects: tool.EffectsNone, State: tool.StateWorkspace, ResultLimit: readResultLimit,
	}, params, deps)
	if err != nil {
		return nil, err
	}
	return &readFile{base: b, limit: readLimit}, nil
}

var encodingInput = tool.Input{
	Name: "encoding", Type: tool.TypeString, Default: "utf-8", Nullable: true,
	Description:   "Text encoding, e.g. utf-8, utf-16, gbk, latin-1",
	DescriptionZH: "文本编码，例如 utf-8、utf-16、gbk、latin-1",
}

type readResult struct {
	Status        string `json:"status"`
	FilePath      string `json:"file_path"`
	AbsolutePath  string `json:"absolute_path"`
	Content       string `json:"content"`
	ContentLength int    `json:"content_length"` // characters
	FileSizeBytes int64  `json:"file_size_bytes"`
	Encoding      string `json:"encoding"`
	LinesCount    int    `json:"lines_count"`
	Message       string `json:"message"`
	Truncated     bool   `json:"truncated,omitempty"`
}

// Call implements tool.Tool.
func (t *readFile) Call(ctx context.Context, c *tool.Call) (any, error) {
	path := text(c.Args["file_path"])
	if err := card(c, "file-text", "Reading", "正在读取", path); err != nil {
		return nil, err
	}
	r, err := t.read(ctx, c, path, text(c.Args["encoding"]))
	if err != nil {
		return nil, failed("read file", "读取文件", err)
	}
	return encode(r)
}

func (t *readFile) read(ctx context.Context, c *tool.Call, path, encoding string) (*readResult, error) {
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
	raw, size, err := w.readUpTo(rel, t.limit)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	cut := size > int64(len(raw))
	content, err := decode(codec, raw, cut, w.abs(rel), size)
	if err != nil {
		return nil, err
	}
	r := &readResult{
		Status: "success", FilePath: filepath.ToSlash(rel), AbsolutePath: w.abs(rel),
		Content: content, ContentLength: utf8.RuneCountInString(content), FileSizeBytes: size,
		Encoding: encoding, LinesCount: lines(content),
		Message: "File read successfully from " + filepath.ToSlash(rel),
	}
	if cut {
		t.tellCut(c, r, len(raw))
	}
	return r, nil
}

func decode(codec codec, raw []byte, cut bool, path string, size int64) (string, error) {
	if !codec.wide && binary(raw) {
		if fits := suggest(raw, cut); len(fits) > 0 && fits[0] == "utf-16" {
			return "", badEncoding(codec.name, fits)
		}
		return "", errBinary.Withf(size, path)
	}
	content, ok := codec.decode(raw, cut)
	if !ok {
		return "", badEncoding(codec.name, suggest(raw, cut))
	}
	return content, nil
}

// badEncoding says what to try instead.
func badEncoding(name string, fits []string) error {
	if len(fits) == 0 {
		f := errDecode.Withf(name, "Try a different encoding or check if the file is binary.")
		f.ZH = errDecode.Withf(name, "请尝试其他编码，或确认文件是否为二进制。").ZH
		return f
	}
	for i := range fits {
		fits[i] = fmt.Sprintf("encoding='%s'", fits[i])
	}
	f := errDecode.Withf(name, "Try a different encoding: its bytes are valid with "+strings.Join(fits, " or ")+".")
	f.ZH = errDecode.Withf(name, "请尝试其他编码：其内容符合 "+strings.Join(fits, " 或 ")+"。").ZH
	return f
}

// tellCut says, in the content, the message and an event, that the file goes
// on.
func (t *readFile) tellCut(c *tool.Call, r *readResult, read int) {
	en := fmt.Sprintf("cut: only the first %d of %d bytes are shown", read, r.FileSizeBytes)
	zh := fmt.Sprintf("已截断：仅显示前 %d 字节，共 %d 字节", read, r.FileSizeBytes)
	note(c, fmt.Sprintf("Large file warning: %d bytes; %s", r.FileSizeBytes, en), fmt.Sprintf("大文件警告: %d 字节；%s", r.FileSizeBytes, zh))
	mark := say(c.Lang, en, zh)
	r.Truncated = true
	r.Content += "\n[… " + mark + "]"
	r.Message += " (" + mark + ")"
}

func lines(content string) int {
	if content == "" {
		return 0
	}
	return strings.Count(content, "\n") + 1
}

// readUpTo gives at most limit bytes of a regular file, and its size.
func (w *Workspace) readUpTo(rel string, limit int) (raw []byte, size int64, err error) {
	f, info, err := w.openFile(rel)
	if err != nil {
		return nil, 0, err
	}
	raw, err = io.ReadAll(io.LimitReader(f, int64(limit)))
	if err != nil {
		err = w.osFault(w.abs(rel), err)
	}
	if closing := f.Close(); err == nil && closing != nil {
		err = w.osFault(w.abs(rel), closing)
	}
	return raw, max(info.Size(), int64(len(raw))), err
}
