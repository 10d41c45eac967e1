//go:build amd64 || arm64

package local

import (
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
)

// loaderCache tells the dynamic loader where libraries are, on systems that
// keep them in unusual places.
const loaderCache = "/etc/ld.so.cache"

// findLibraries gives the files of the system that exe needs to start, none
// for one that is linked statically: first
// the dynamic loader, then the libraries, then the loader's cache if there is
// one. It reads the ELF headers; nothing is run. errLibc: the system has no
// loader for it, or not its libraries.
func findLibraries(exe string) ([]string, error) {
	loader, needed, err := readELF(exe)
	if err != nil || loader == "" {
		return nil, err
	}
	if _, err := os.Stat(loader); err != nil {
		return nil, missing(fmt.Errorf("the dynamic loader: %w", err))
	}
	found := []string{loader}
	seen := map[string]bool{filepath.Base(loader): true}
	for len(needed) > 0 {
		name := needed[0]
		needed = needed[1:]
		if seen[name] {
			continue
		}
		seen[name] = true
		path, err := findLibrary(name)
		if err != nil {
			return nil, err
		}
		_, more, err := readELF(path)
		if err != nil {
			return nil, err
		}
		found = append(found, path)
		needed = append(needed, more...)
	}
	if _, err := os.Stat(loaderCache); err == nil {
		found = append(found, loaderCache)
	}
	return found, nil
}

// findLibrary looks where glibc's loader looks by default.
func findLibrary(name string) (string, error) {
	triple := map[string]string{"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu"}[runtime.GOARCH]
	dirs := []string{"/lib/" + triple, "/usr/lib/" + triple, "/lib64", "/usr/lib64", "/lib", "/usr/lib"}
	for _, dir := range dirs {
		path := filepath.Join(dir, name)
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	return "", errLibc.With(fmt.Errorf("library %s is in none of %v", name, dirs))
}

// missing gives errLibc for a file of the system that isn't there.
func missing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return errLibc.With(err)
	}
	return err
}

func readELF(path string) (loader string, needed []string, err error) {
	f, err := elf.Open(path)
	if err != nil {
		return "", nil, err
	}
	defer f.Close()
	needed, err = f.ImportedLibraries()
	if err != nil {
		return "", nil, fmt.Errorf("%s: %w", path, err)
	}
	i := slices.IndexFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP })
	if i < 0 {
		return "", needed, nil
	}
	prog := f.Progs[i]
	if prog.Filesz < 2 || prog.Filesz > 4096 {
		return "", nil, errors.New(path + ": no sensible loader")
	}
	text := make([]byte, prog.Filesz)
	if _, err := prog.ReadAt(text, 0); err != nil {
		return "", nil, fmt.Errorf("%s: %w", path, err)
	}
	return string(text[:len(text)-1]), needed, nil
}
