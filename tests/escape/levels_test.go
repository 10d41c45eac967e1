//go:build linux && integration

package escape

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/actors/python/local"
)

// level is a way to run code, in a situation.
type level struct {
	situation
	// open makes the level's driver.
	open func(testing.TB) python.Driver
	// native says that code reaches the system: what it calls exists.
	native bool
	// contract runs the suite that every level passes. Package local does so as
	// root, where all walls stand.
	contract bool
	// whole runs every attack; else some of each group.
	whole bool
	// missing are the walls that can't be had there.
	missing []string
}

// levels is every level in every situation. Another level joins here.
var levels = []level{
	{situation: situation{Name: "local-root"}, open: openLocal, native: true, whole: true},
	{situation: situation{Name: "local-user", User: ordinary}, open: openLocal, native: true, contract: true},
	{situation: situation{Name: "local-root-no-namespaces", NoNamespaces: true}, open: openLocal, native: true,
		missing: []string{"namespaces", "user"}},
	{situation: situation{Name: "local-user-no-namespaces", User: ordinary, NoNamespaces: true}, open: openLocal, native: true, contract: true, whole: true,
		missing: []string{"namespaces"}},
	{situation: situation{Name: "local-user-no-namespaces-no-listener", User: ordinary, NoNamespaces: true, Listener: true}, open: openLocal, native: true,
		missing: []string{"namespaces", "exec_once"}},
	{situation: situation{Name: "local-root-no-listener", Listener: true}, open: openLocal, native: true,
		missing: []string{"exec_once"}},
	{situation: situation{Name: "local-container", Refused: container}, open: openLocal, native: true,
		missing: []string{"namespaces", "user"}},
}

// container is what a container's usual profile refuses.
var container = []refusal{
	{Call: "clone", Errno: unix.EPERM, Bits: unix.CLONE_NEWUSER},
	{Call: "unshare", Errno: unix.EPERM},
	{Call: "mount", Errno: unix.EPERM},
	{Call: "setns", Errno: unix.EPERM},
	{Call: "bpf", Errno: unix.EPERM},
	{Call: "keyctl", Errno: unix.EPERM},
}

// cacheVar names the cache folder of a process in a situation.
const cacheVar = "TROUPE_ESCAPE_CACHE"

// cacheFolder is root's own cache, which package troupe uses too, so that the
// interpreter is unpacked once; inside a situation it is what that was given.
func cacheFolder(t testing.TB) string {
	if dir := os.Getenv(cacheVar); dir != "" {
		return dir
	}
	dir, err := os.UserCacheDir()
	require.NoError(t, err)
	dir = filepath.Join(dir, "troupe", "python")
	d, err := local.New(local.Config{CacheDir: dir})
	require.NoError(t, err)
	defer d.Close()
	require.NoError(t, d.Prepare(t.Context()))
	return dir
}

// copyCache copies the interpreter of the cache folder into another one.
func copyCache(t testing.TB, to string) {
	from := cacheFolder(t)
	parts, err := filepath.Glob(filepath.Join(from, "cpython-*"))
	require.NoError(t, err)
	require.NotEmpty(t, parts)
	require.NoError(t, os.MkdirAll(filepath.Join(to, "root"), 0o700))
	for _, part := range parts {
		if _, err := os.Stat(filepath.Join(part, ".manifest")); err != nil {
			continue // of another version
		}
		require.NoError(t, os.CopyFS(filepath.Join(to, filepath.Base(part)), os.DirFS(part)))
	}
}

func openLocal(t testing.TB) python.Driver {
	d, err := local.New(local.Config{CacheDir: cacheFolder(t)})
	require.NoError(t, err)
	t.Cleanup(d.Close)
	require.NoError(t, d.Prepare(context.Background()))
	return d
}
