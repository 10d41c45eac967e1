package cachedir

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ManifestName is the file of an unpacked folder that lists what is in it: the
// hash of the list, then mode, size, hash and path, a line each.
const ManifestName = ".manifest"

// maxManifest bounds what is read of it, in bytes; it has some 150 KB.
const maxManifest = 8 << 20

// writeManifest lists what is in dir.
func writeManifest(dir string) error {
	var list bytes.Buffer
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		line, err := entry(path, true)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(&list, "%s %s\n", line, name)
		return err
	})
	if err != nil {
		return err
	}
	text := hashOf(list.Bytes()) + "\n" + list.String()
	return os.WriteFile(filepath.Join(dir, ManifestName), []byte(text), 0o600)
}

// Check gives what first differs from what was unpacked into dir: of
// modes and sizes, which takes some milliseconds, and when whole is set of
// contents.
func Check(dir string, whole bool) error {
	text, err := readBounded(filepath.Join(dir, ManifestName), maxManifest)
	if err != nil {
		return err
	}
	hash, list, _ := strings.Cut(string(text), "\n")
	if hash != hashOf([]byte(list)) {
		return errors.New("the list of what was unpacked is damaged")
	}
	for line := range strings.Lines(list) {
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 4)
		if len(fields) != 4 {
			return errors.New("the list of what was unpacked is of another kind")
		}
		got, err := entry(filepath.Join(dir, fields[3]), whole)
		if err != nil {
			return err
		}
		want := strings.Join(fields[:3], " ")
		if !whole {
			want = strings.Join(fields[:2], " ")
		}
		if got != want {
			return fmt.Errorf("%s is not as it was unpacked: it has %q, not %q", fields[3], got, want)
		}
	}
	return nil
}

// entry describes a file as the list does, without its path; with its hash
// when whole is set.
func entry(path string, whole bool) (string, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return "", err
	}
	size, hash := info.Size(), "-"
	if !info.Mode().IsRegular() {
		size = 0 // of a folder it means nothing
	} else if whole {
		if hash, err = hashFile(path); err != nil {
			return "", err
		}
	}
	text := fmt.Sprintf("%o %d", uint32(info.Mode()), size)
	if whole {
		text += " " + hash
	}
	return text, nil
}

func hashOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func hashFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func readBounded(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit))
}
