package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/troupe-go/troupe/messages"
)

// MaxBytes bounds a configuration file.
const MaxBytes = 1 << 20

// File is what a configuration file says.
type File struct {
	messages.Definitions
	NATS  NATS
	Hosts Hosts
	Name  string // of the file, as it was given

	places map[string]place
}

// Place says where a key stands, as file:line:col: key, for a fault that shows
// only later. A key the file doesn't have is in the file as a whole.
func (f *File) Place(key string) string {
	p, ok := f.places[key]
	if !ok {
		return f.Name
	}
	return fmt.Sprintf("%s:%d:%d: %s", f.Name, p.line, p.col, key)
}

// NATS says how nodes find each other. This release has lone nodes only:
// anything but empty lists is a fault.
type NATS struct {
	URLs   []string // of servers to join
	Routes []string // of other nodes' embedded servers
}

// Hosts narrows what this node of a cluster hosts. This release has lone
// nodes only, which host everything: anything but empty is a fault.
type Hosts struct {
	Agents []string
	Tools  []string
	Labels map[string]string
}

// Env looks a variable up.
type Env func(name string) (string, bool)

// Load reads and parses the regular file at path. Its error is [Faults], or says why
// the file can't be read. env may be nil: then no variable is set.
func Load(path string, env func(name string) (string, bool)) (*File, error) {
	info, err := os.Stat(path) // before opening: a FIFO would block
	if err != nil {
		return nil, unreadable(path, err)
	}
	switch {
	case info.IsDir():
		return nil, whole(path, say("a configuration file", "配置文件"), say("a directory", "目录"))
	case !info.Mode().IsRegular():
		return nil, whole(path, say("a configuration file", "配置文件"), say("no regular file", "非普通文件"))
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxBytes+1))
	if err != nil {
		return nil, unreadable(path, err)
	}
	return Parse(path, data, env)
}

// Parse parses data; name stands in faults. Its error is [Faults].
func Parse(name string, data []byte, env func(name string) (string, bool)) (*File, error) {
	root, faults := read(name, data)
	if faults != nil {
		return nil, faults
	}
	w := newWalker(name, env, root)
	file := &File{Name: name, places: w.places}
	w.decodeFile(root, file)
	w.check(file)
	if len(w.faults) > 0 {
		w.faults.sort()
		return nil, w.faults
	}
	return file, nil
}

// whole is a fault of the file as a whole.
func whole(name string, expected, got Text) Faults {
	return Faults{{File: name, Expected: expected, Got: got}}
}

func unreadable(path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return whole(path, say("a configuration file", "配置文件"), say("no such file", "文件不存在"))
	case errors.Is(err, fs.ErrPermission):
		return whole(path, say("a file that may be read", "可读取的文件"), say("permission denied", "没有权限"))
	}
	return fmt.Errorf("read configuration %s: %w", path, err)
}
