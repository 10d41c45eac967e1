// Package guest holds the driver program: the Python package that runs inside
// every sandbox level, reads commands from one pipe and writes what happens to
// another. Its docstring describes the protocol; package wire is the host's
// side of it.
package guest

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
)

// What the outside of the program needs to know. Its function _troupe.main.main
// takes the descriptors it reads commands from and writes messages to.
const (
	// ReadFD and WriteFD are those that a process of its own has.
	ReadFD  = 3
	WriteFD = 4
	// ExitMemory is the exit status that says it could not even report a
	// MemoryError.
	ExitMemory = 71
)

//go:embed _troupe/*.py
var files embed.FS

// Files gives the program: a folder named _troupe.
func Files() fs.FS { return files }

// Hash gives the first 16 hex digits of the SHA-256 over the program's files.
func Hash() (string, error) {
	h := sha256.New()
	err := fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := files.ReadFile(path)
		h.Write([]byte(path + "\x00"))
		h.Write(text)
		return err
	})
	return hex.EncodeToString(h.Sum(nil)[:8]), err
}
