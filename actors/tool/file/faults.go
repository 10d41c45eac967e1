package file

import (
	"errors"
	"io/fs"

	"github.com/troupe-go/troupe/messages"
)

// The faults of the guard and the tools. Formats take what stands at the end
// of the line.
var (
	errNoWorkspace = fault("workspace_unset", "there is no workspace: the run has no folder and init_path is not set",
		"没有工作区：运行没有目录，且未设置 init_path")
	errOpenWorkspace = fault("workspace_unusable", "the workspace %s can't be used", "工作区 %s 无法使用") // folder
	errInitPath      = fault("tool_config", "init_path cannot be empty; give a folder or leave it out to use the run's workspace",
		"init_path 不能为空；请指定目录，或省略以使用运行的工作区")

	errEmptyPath = fault("path_empty", "File path cannot be empty", "文件路径不能为空")
	errBadPath   = fault("path_invalid", "the path %.80q is not usable: %s", "路径 %.80q 不可用：%s") // path, why
	errOutside   = fault("path_outside",
		"Permission denied: file operations are restricted to the workspace directory '%s'. Attempted path '%s' is outside the allowed area. Use a path relative to the workspace.",
		"权限不足：文件操作仅限于工作区目录 '%s'。路径 '%s' 超出允许范围。请使用相对于工作区的路径。") // workspace, path
	errNotExist = fault("file_not_found", "File does not exist: %s", "文件不存在：%s")                                                                                                 // path
	errNotFile  = fault("not_a_file", "Path is not a file: %s", "路径不是文件：%s")                                                                                                     // path
	errNotDir   = fault("not_a_directory", "Path is not a directory: %s", "路径不是目录：%s")                                                                                           // path
	errDenied   = fault("file_denied", "Permission denied: %s. Check its permissions.", "权限不足：%s。请检查其权限。")                                                                       // path
	errOS       = fault("file_system", "OS error at %s", "操作系统错误：%s")                                                                                                            // path
	errTooLarge = fault("file_too_large", "the content has %d bytes, more than the %d a file may have; write it in parts, to several files", "内容有 %d 字节，超过单个文件上限 %d；请拆分为多个文件写入") // size, limit

	errUnknownEncoding = fault("encoding_unknown", "the encoding %.40q is not known; use utf-8, utf-16, gbk, gb18030, big5, shift_jis, latin-1 or another name of the WHATWG list",
		"未知编码 %.40q；请使用 utf-8、utf-16、gbk、gb18030、big5、shift_jis、latin-1 等") // name
	errDecode = fault("encoding_error", "Encoding error: Cannot read file with %s encoding. %s", "编码错误：无法以 %s 编码读取文件。%s")                                                      // name, advice
	errEncode = fault("encoding_error", "Encoding error: Cannot write content with %s encoding. Try a different encoding, e.g. utf-8.", "编码错误：无法以 %s 编码写入内容。请尝试其他编码，如 utf-8。") // name
	errBinary = fault("file_binary", "the file is binary (%d bytes), read_file reads text only: %s", "该文件是二进制文件（%d 字节），read_file 只能读取文本：%s")                                   // size, path
)

func fault(code, en, zh string) *messages.Fault {
	return &messages.Fault{Code: code, Class: messages.Expected, EN: en, ZH: zh}
}

// failed puts what was tried before an error, in both languages.
func failed(en, zh string, err error) error {
	f, ok := errors.AsType[*messages.Fault](err)
	if !ok {
		return fault("file_system", "Failed to "+en, zh+"失败").With(err)
	}
	g := *f
	g.EN, g.ZH = "Failed to "+en+": "+f.EN, zh+"失败："+f.ZH
	return &g
}

// osFault tells an error of the file system; path is what the caller named.
func (w *Workspace) osFault(path string, err error) error {
	switch {
	case errors.Is(err, w.escape):
		return errOutside.Withf(w.dir, path)
	case errors.Is(err, fs.ErrNotExist):
		return errNotExist.Withf(path)
	case errors.Is(err, fs.ErrPermission):
		return errDenied.Withf(path)
	}
	return errOS.Withf(path).With(reason(err))
}

// reason drops the path from an error; it is told already.
func reason(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}
