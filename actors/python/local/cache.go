//go:build (linux || darwin) && (amd64 || arm64)

package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/kluctl/go-embed-python/python"

	"github.com/troupe-go/troupe/actors/python/guest"
	"github.com/troupe-go/troupe/actors/python/internal/cachedir"
)

const (
	// pythonVersion is what the pinned module holds.
	pythonVersion = "3.14.6"
	pythonRelease = "python3.14"
	// layout counts changes of what is kept and how it is compiled.
	layout = "4"
)

// installation is an interpreter ready to start.
type installation struct {
	home   string // PYTHONHOME
	exe    string
	driver string // folder on sys.path that holds the driver program
	root   string // empty folder to mount a root on
}

// install finds the interpreter and the driver program in the cache, or puts
// them there, in the place of what is damaged; whole as for cachedir.Check.
// Processes that do so at the same time wait for each other.
func install(ctx context.Context, dir string, whole bool) (*installation, error) {
	if err := cachedir.Own(dir); err != nil {
		return nil, err
	}
	hash, err := guest.Hash()
	if err != nil {
		return nil, err
	}
	base := fmt.Sprintf("cpython-%s-%s-%s-%s", pythonVersion, runtime.GOOS, runtime.GOARCH, layout)
	in := &installation{home: filepath.Join(dir, base), driver: filepath.Join(dir, base+"-driver-"+hash), root: filepath.Join(dir, "root")}
	in.exe = filepath.Join(in.home, "bin", pythonRelease)
	if in.damage(whole) == nil {
		return in, nil
	}
	unlock, err := cachedir.Lock(ctx, filepath.Join(dir, "lock"))
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := cachedir.RemoveLeftovers(dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(in.root, 0o700); err != nil {
		return nil, err
	}
	if err := cachedir.Once(in.home, whole, func(tmp string) error { return unpack(ctx, tmp) }); err != nil {
		return nil, err
	}
	return in, cachedir.Once(in.driver, whole, func(tmp string) error { return in.writeDriver(ctx, tmp) })
}

// damage gives what is not as it was put there; whole as for cachedir.Check.
func (in *installation) damage(whole bool) error {
	if info, err := os.Stat(in.root); err != nil || !info.IsDir() {
		return fmt.Errorf("%s is no folder: %w", in.root, err)
	}
	return errors.Join(cachedir.Check(in.home, whole), cachedir.Check(in.driver, whole))
}

// needless are parts of the library that code in a sandbox can't use.
var needless = []string{
	"ensurepip", "idlelib", "pydoc_data", "site-packages", "test", "tkinter", "turtledemo",
	"config-3.14-*", "lib-dynload/_test*", "lib-dynload/_ctypes_test*", "lib-dynload/_tkinter*", "*/test", "*/tests",
}

// unpack puts the interpreter into home: the binary and its library, tried
// out and compiled.
func unpack(ctx context.Context, home string) error {
	whole, err := os.MkdirTemp(filepath.Dir(home), "tmp-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(whole)
	// The module always unpacks all it has; what is needed is moved.
	if _, err := python.NewEmbeddedPythonWithTmpDir(filepath.Join(whole, "all"), false); err != nil {
		return fmt.Errorf("unpack: %w", err)
	}
	for _, part := range []string{"bin", "lib"} {
		if err := os.Mkdir(filepath.Join(home, part), 0o700); err != nil {
			return err
		}
		from, to := filepath.Join(whole, "all", part, pythonRelease), filepath.Join(home, part, pythonRelease)
		if err := os.Rename(from, to); err != nil {
			return err
		}
	}
	library := filepath.Join(home, "lib", pythonRelease)
	for _, pattern := range needless {
		paths, err := filepath.Glob(filepath.Join(library, pattern))
		if err != nil {
			return err
		}
		for _, path := range paths {
			if err := os.RemoveAll(path); err != nil {
				return err
			}
		}
	}
	in := &installation{home: home, exe: filepath.Join(home, "bin", pythonRelease)}
	if err := checkLibraries(in.exe); err != nil {
		return err
	}
	if err := in.verify(ctx); err != nil {
		return err
	}
	return in.compile(ctx, library)
}

// verify runs the interpreter once.
func (in *installation) verify(ctx context.Context) error {
	out, err := in.run(ctx, "-c", "import sys; print(sys.version.split()[0])")
	if err != nil {
		return err
	}
	if got := strings.TrimSpace(out); got != pythonVersion {
		return fmt.Errorf("the unpacked interpreter says it is %q, want %q", got, pythonVersion)
	}
	return nil
}

// compile writes .pyc files that are used without looking at their sources'
// times, so that they stay valid wherever the folder is moved.
func (in *installation) compile(ctx context.Context, folder string) error {
	_, err := in.run(ctx, "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash", folder)
	return err
}

func (in *installation) run(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, in.exe, append([]string{"-s", "-S", "-P", "-B"}, args...)...)
	cmd.Env = []string{"PYTHONHOME=" + in.home}
	var out, errs limitedBuffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("run the unpacked interpreter: %w: %s", err, errs.String())
	}
	return out.String(), nil
}

// writeDriver writes the driver program and compiles it.
func (in *installation) writeDriver(ctx context.Context, dir string) error {
	err := fs.WalkDir(guest.Files(), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := filepath.Join(dir, path)
		if d.IsDir() {
			return os.MkdirAll(target, 0o700)
		}
		text, err := fs.ReadFile(guest.Files(), path)
		if err != nil {
			return err
		}
		return os.WriteFile(target, text, 0o600)
	})
	if err != nil {
		return err
	}
	return in.compile(ctx, dir)
}

// limitedBuffer keeps the first 8 KiB of what is written.
type limitedBuffer struct{ text []byte }

func (b *limitedBuffer) Write(p []byte) (int, error) {
	b.text = append(b.text, p[:min(len(p), 8<<10-len(b.text))]...)
	return len(p), nil
}

func (b *limitedBuffer) String() string { return string(b.text) }

// argv is the interpreter's command line: no user site, no site, no unsafe
// path, no byte code written. The driver's folder is on the path only while
// the driver is imported.
func (in *installation) argv() []string {
	entry := "import sys; sys.path.insert(0, " + strconv.Quote(in.driver) + "); import _troupe.main; del sys.path[0]; " +
		fmt.Sprintf("_troupe.main.main(%d, %d)", guest.ReadFD, guest.WriteFD)
	return []string{in.exe, "-s", "-S", "-P", "-B", "-X", "utf8", "-c", entry}
}

// env is the whole environment. The constant seed makes the order of sets the
// same in every run; one malloc arena keeps threads' memory small.
func (in *installation) env() []string {
	return []string{"PYTHONHOME=" + in.home, "PYTHONHASHSEED=1", "MALLOC_ARENA_MAX=1"}
}
