package file

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"mime"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/troupe-go/troupe/messages"
)

// Bounds of paths and files.
const (
	maxPath     = 4096     // bytes
	maxName     = 255      // bytes of one part of a path
	maxFileSize = 32 << 20 // bytes that a tool writes to one file
)

// Workspace is a folder that no path leaves: not by "..", not by an absolute
// path, not by a link. It is safe for concurrent use.
//
// The folder itself may be reached through links. Inside it links are followed
// when they are relative and end inside; absolute ones are refused, wherever
// they point. Hard links and mounts are not seen.
type Workspace struct {
	root   *os.Root
	dir    string // absolute, links resolved
	given  string // absolute, as it was named
	escape error  // what os.Root says of a path that leaves
}

// OpenWorkspace opens a folder, and makes it when it is missing.
func OpenWorkspace(dir string) (*Workspace, error) {
	if strings.TrimSpace(dir) == "" {
		return nil, errNoWorkspace
	}
	w, err := openWorkspace(dir)
	if err != nil {
		return nil, errOpenWorkspace.Withf(dir).With(reason(err))
	}
	return w, nil
}

func openWorkspace(dir string) (*Workspace, error) {
	given, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(given, 0o700); err != nil {
		return nil, err
	}
	resolved, err := filepath.EvalSymlinks(given)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(resolved)
	if err != nil {
		return nil, err
	}
	_, leaves := root.Lstat("..") // os keeps this error to itself
	return &Workspace{root: root, dir: resolved, given: given, escape: reason(leaves)}, nil
}

// Close lets go of the folder.
func (w *Workspace) Close() error { return w.root.Close() }

// Dir gives the folder, absolute, links resolved.
func (w *Workspace) Dir() string { return w.dir }

// Resolve turns a path as a model gives it into one relative to the workspace,
// "." for the workspace itself. It looks at no file: links are checked when
// the path is used.
func (w *Workspace) Resolve(path string) (string, error) {
	if err := checkPath(path); err != nil {
		return "", err
	}
	clean := filepath.Clean(path)
	if filepath.IsAbs(clean) {
		return w.strip(path, clean)
	}
	if !filepath.IsLocal(clean) {
		return "", errOutside.Withf(w.dir, path)
	}
	return clean, nil
}

// resolveFile is Resolve for what must name a file.
func (w *Workspace) resolveFile(path string) (string, error) {
	rel, err := w.Resolve(path)
	if err != nil {
		return "", err
	}
	if rel == "." || os.IsPathSeparator(path[len(path)-1]) {
		return "", errNotFile.Withf(path)
	}
	return rel, nil
}

func checkPath(path string) error {
	switch {
	case strings.TrimSpace(path) == "":
		return errEmptyPath
	case len(path) > maxPath:
		return badPath(path, "it is longer than 4096 bytes", "超过 4096 字节")
	case strings.ContainsRune(path, 0):
		return badPath(path, "it holds a NUL character", "包含 NUL 字符")
	case !utf8.ValidString(path):
		return badPath(path, "it is not UTF-8", "不是 UTF-8 编码")
	}
	for part := range strings.FieldsFuncSeq(path, func(r rune) bool { return r < utf8.RuneSelf && os.IsPathSeparator(uint8(r)) }) {
		if len(part) > maxName {
			return badPath(path, "a name in it is longer than 255 bytes", "其中的名称超过 255 字节")
		}
	}
	return nil
}

func badPath(path, en, zh string) error {
	f := errBadPath.Withf(path, en)
	f.ZH = errBadPath.Withf(path, zh).ZH
	return f
}

// strip takes the workspace off an absolute path, part by part: /w/ab is not
// inside /w/a.
func (w *Workspace) strip(path, clean string) (string, error) {
	for _, base := range []string{w.dir, w.given} {
		if rel, err := filepath.Rel(base, clean); err == nil && filepath.IsLocal(rel) {
			return rel, nil
		}
	}
	return "", errOutside.Withf(w.dir, path)
}

func (w *Workspace) abs(rel string) string { return filepath.Join(w.dir, rel) }

// openFile opens a regular file for reading. A pipe or a device is refused
// without waiting for it.
func (w *Workspace) openFile(rel string) (*os.File, fs.FileInfo, error) {
	f, err := w.root.OpenFile(rel, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, w.osFault(w.abs(rel), err)
	}
	info, err := f.Stat()
	if err == nil && info.Mode().IsRegular() {
		return f, info, nil
	}
	if err == nil {
		err = errNotFile.Withf(w.abs(rel))
	} else {
		err = w.osFault(w.abs(rel), err)
	}
	return nil, nil, errors.Join(err, f.Close())
}

// existing tells the mode of the file at rel, and whether there is one.
func (w *Workspace) existing(rel string) (mode fs.FileMode, exists bool, err error) {
	info, err := w.root.Stat(rel)
	switch {
	case err == nil && info.Mode().IsRegular():
		return info.Mode().Perm(), true, nil
	case err == nil:
		return 0, true, errNotFile.Withf(w.abs(rel))
	case errors.Is(err, fs.ErrNotExist):
		return 0o644, false, nil
	}
	return 0, false, w.osFault(w.abs(rel), err)
}

// write puts data at rel, parents made. It replaces what is there at once: a
// reader never sees half of it, and a failure leaves the old file. A link is
// replaced, not followed.
func (w *Workspace) write(rel string, data []byte, mode fs.FileMode) (messages.Artifact, error) {
	if len(data) > maxFileSize {
		return messages.Artifact{}, errTooLarge.Withf(len(data), maxFileSize)
	}
	dir := filepath.Dir(rel)
	if err := w.root.MkdirAll(dir, 0o755); err != nil {
		return messages.Artifact{}, w.osFault(w.abs(dir), err)
	}
	temp, err := w.writeTemp(dir, data, mode)
	if err == nil {
		err = w.root.Rename(temp, rel)
	}
	if err != nil {
		return messages.Artifact{}, errors.Join(w.osFault(w.abs(rel), err), w.removeTemp(temp))
	}
	sum := sha256.Sum256(data)
	return messages.Artifact{
		Name: filepath.Base(rel), Path: filepath.ToSlash(rel), MediaType: mime.TypeByExtension(filepath.Ext(rel)),
		Size: int64(len(data)), Hash: hex.EncodeToString(sum[:]),
	}, nil
}

// writeTemp writes a hidden file beside the target.
func (w *Workspace) writeTemp(dir string, data []byte, mode fs.FileMode) (string, error) {
	for n := 0; ; n++ {
		name := filepath.Join(dir, ".troupe-"+strconv.Itoa(n)+".tmp")
		f, err := w.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if errors.Is(err, fs.ErrExist) && n < 1000 {
			continue
		}
		if err != nil {
			return "", err
		}
		_, err = f.Write(data)
		return name, errors.Join(err, f.Close())
	}
}

func (w *Workspace) removeTemp(name string) error {
	if name == "" {
		return nil
	}
	if err := w.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Place writes the files that came with a query into a workspace; their names
// are paths inside it.
func Place(dir string, files []messages.Attachment) error {
	if len(files) == 0 {
		return nil
	}
	w, err := OpenWorkspace(dir)
	if err != nil {
		return err
	}
	for i := range files {
		if err := w.place(&files[i]); err != nil {
			return errors.Join(err, w.Close())
		}
	}
	return w.Close()
}

func (w *Workspace) place(f *messages.Attachment) error {
	rel, err := w.resolveFile(f.Name)
	if err != nil {
		return err
	}
	mode, _, err := w.existing(rel)
	if err != nil {
		return err
	}
	_, err = w.write(rel, f.Data, mode)
	return err
}
