package file_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/tool/file"
	"github.com/troupe-go/troupe/messages"
)

func TestGuard(t *testing.T) {
	t.Run("FILE-01", func(t *testing.T) {
		d := setup(t, "nexent")
		untouched := d.outside("nexent-backup/db.txt")
		beside := filepath.Dir(d.dir)
		for _, path := range []string{"../nexent-backup/db.txt", "../nexent-backup", beside + "/nexent-backup/db.txt", d.dir + "2/x", d.dir + "/../nexent-backup/db.txt"} {
			for name, err := range d.each(path) {
				require.Equal(t, "path_outside", code(err), "%s %s", name, path)
				require.ErrorContains(t, err, "Permission denied: file operations are restricted to the workspace directory '"+d.dir+"'")
			}
		}
		untouched()
	})

	t.Run("FILE-02", func(t *testing.T) {
		d := setup(t, "w")
		untouched := d.outside("etc/hostname")
		d.link("../etc", "link")
		d.link("/etc", "absolute")
		d.link("../etc/hostname", "file")
		d.put("inside/a.txt", "a")
		d.link(d.dir+"/inside", "absolute-inside")
		d.link("../etc/new.txt", "dangling")
		for _, path := range []string{"link/hostname", "link", "absolute/hostname", "absolute", "file", "dangling", "absolute-inside/a.txt", "link/new/x.txt", d.dir + "/link/hostname"} {
			for name, err := range d.each(path) {
				require.Error(t, err, "%s %s", name, path)
				require.Equal(t, "path_outside", code(err), "%s %s: %v", name, path, err)
			}
		}
		untouched()

		d.link("inside", "relative") // one that stays inside is followed
		got, err := d.read("relative/a.txt")
		require.NoError(t, err)
		require.Equal(t, "a", got["content"])
	})

	t.Run("FILE-04", func(t *testing.T) {
		d := setup(t, "w")
		untouched := d.outside("theirs.txt")
		d.put("dir/x.txt", "x")
		d.put("y", "y")
		long := strings.Repeat("n", 300)
		for path, want := range map[string]map[string]string{
			"":                         {"read_file": "path_empty", "create_file": "path_empty", "list_directory": ""},
			"  ":                       {"read_file": "path_empty", "create_file": "path_empty", "list_directory": "path_empty"},
			".":                        {"read_file": "not_a_file", "create_file": "not_a_file", "list_directory": ""},
			"..":                       {"read_file": "path_outside", "create_file": "path_outside", "list_directory": "path_outside"},
			"a\x00b":                   {"read_file": "path_invalid", "create_file": "path_invalid", "list_directory": "path_invalid"},
			"a\xffb":                   {"read_file": "path_invalid", "create_file": "path_invalid", "list_directory": "path_invalid"},
			"x/../../y":                {"read_file": "path_outside", "create_file": "path_outside", "list_directory": "path_outside"},
			"/etc/hostname":            {"read_file": "path_outside", "create_file": "path_outside", "list_directory": "path_outside"},
			"/":                        {"read_file": "path_outside", "create_file": "path_outside", "list_directory": "path_outside"},
			"dir/":                     {"read_file": "not_a_file", "create_file": "not_a_file", "list_directory": ""},
			"dir":                      {"read_file": "not_a_file", "create_file": "not_a_file", "list_directory": ""},
			"y/":                       {"read_file": "not_a_file", "create_file": "not_a_file", "list_directory": "not_a_directory"},
			"y/z":                      {"read_file": "file_system", "create_file": "file_system", "list_directory": "file_system"},
			long:                       {"read_file": "path_invalid", "create_file": "path_invalid", "list_directory": "path_invalid"},
			strings.Repeat("d/", 3000): {"read_file": "path_invalid", "create_file": "path_invalid", "list_directory": "path_invalid"},
		} {
			for name, err := range d.each(path) {
				if want[name] == "" {
					require.NoError(t, err, "%s %.20q", name, path)
					continue
				}
				require.Error(t, err, "%s %.20q", name, path)
				require.Equal(t, want[name], code(err), "%s %.20q: %v", name, path, err)
				require.NotEqual(t, messages.AsFault(err).EN, messages.AsFault(err).ZH)
				require.Less(t, len(err.Error()), 1000)
			}
		}
		_, err := d.list("nothing")
		require.Equal(t, "file_not_found", code(err))
		untouched()
	})

	t.Run("FILE-08", func(t *testing.T) {
		d := setup(t, "real")
		root := filepath.Join(filepath.Dir(d.dir), "r")
		require.NoError(t, os.Symlink(d.dir, root))
		d.initPath = root
		_, err := d.create("a.txt")
		require.NoError(t, err)
		for _, path := range []string{"a.txt", root + "/a.txt", d.dir + "/a.txt", root + "/./x/../a.txt"} {
			got, err := d.read(path)
			require.NoError(t, err, path)
			require.Equal(t, "mine", got["content"])
			require.Equal(t, "a.txt", got["file_path"])
			require.Equal(t, d.dir+"/a.txt", got["absolute_path"])
		}
	})
}

func TestOpenWorkspace(t *testing.T) {
	_, err := file.OpenWorkspace(" ")
	require.Equal(t, "workspace_unset", code(err))
	blocked := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(blocked, nil, 0o644))
	_, err = file.OpenWorkspace(blocked + "/w")
	require.Equal(t, "workspace_unusable", code(err))
	w, err := file.OpenWorkspace(filepath.Join(t.TempDir(), "a", "b"))
	require.NoError(t, err, "made when missing")
	require.NoError(t, w.Close())
}

func TestPlace(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	require.NoError(t, file.Place(dir, []messages.Attachment{{Name: "inputs/001_a.txt", Data: []byte("a")}, {Name: "b.bin", Data: []byte{0}}}))
	raw, err := os.ReadFile(filepath.Join(dir, "inputs", "001_a.txt"))
	require.NoError(t, err)
	require.Equal(t, "a", string(raw))
	require.Equal(t, "path_outside", code(file.Place(dir, []messages.Attachment{{Name: "../x"}})))
	require.NoError(t, file.Place("", nil))
}

// FuzzResolve looks for a path that the guard lets through and that leaves.
func FuzzResolve(f *testing.F) {
	for _, path := range []string{"", ".", "..", "a", "a/b", "a/../b", "a/../../b", "/etc/passwd", "/w/x", "../w/x", "a\x00b", "dir/", "//", "./.", "a//b", "\\..\\x", "~", "C:\\x", strings.Repeat("n", 256), "é/\u202e", "link/x", "loop/x"} {
		f.Add(path)
	}
	parent, err := filepath.EvalSymlinks(f.TempDir())
	require.NoError(f, err)
	dir := filepath.Join(parent, "w")
	w, err := file.OpenWorkspace(dir)
	require.NoError(f, err)
	f.Cleanup(func() { require.NoError(f, w.Close()) })
	f.Fuzz(func(t *testing.T, path string) {
		for _, path := range []string{path, dir + "/" + path, dir + path} {
			rel, err := w.Resolve(path)
			if err != nil {
				require.NotEmpty(t, messages.AsFault(err).ZH)
				continue
			}
			require.True(t, filepath.IsLocal(rel), "%q became %q", path, rel)
			full := filepath.Join(dir, rel)
			require.True(t, full == dir || strings.HasPrefix(full, dir+string(filepath.Separator)), "%q became %q", path, rel)
			require.NotContains(t, rel, "\x00")
		}
	})
}
