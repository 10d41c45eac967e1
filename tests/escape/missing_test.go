//go:build linux && integration

package escape

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/actors/python/local"
	"github.com/troupe-go/troupe/messages"
)

// absent are kernels that refuse a wall: what each refuses, and what a start
// says. A wall that isn't required is done without.
var absent = []struct {
	name     string
	refused  refusal
	wall     string
	why      string
	advice   string
	optional bool
}{
	{"no Landlock", refusal{Call: "landlock_create_ruleset", Errno: unix.ENOSYS}, "landlock", "the kernel has no Landlock", "Linux 5.13", false},
	{"Landlock off", refusal{Call: "landlock_create_ruleset", Errno: unix.EOPNOTSUPP}, "landlock", "not switched on at boot", "lsm=", false},
	{"Landlock forbidden", refusal{Call: "landlock_restrict_self", Errno: unix.EPERM}, "landlock", "restrict_self: operation not permitted", "lsm=", false},
	{"no seccomp", refusal{Call: "seccomp", Errno: unix.ENOSYS}, "seccomp", unix.ENOSYS.Error(), "container profile", false},
	{"limits forbidden", refusal{Call: "prlimit64", Errno: unix.EPERM}, "rlimits", "operation not permitted", "unusual container", false},
	{"capabilities forbidden", refusal{Call: "capset", Errno: unix.EPERM}, "privileges", "capset: operation not permitted", "unusual container", false},
	{"descriptors forbidden", refusal{Call: "close_range", Errno: unix.ENOSYS}, "privileges", "close_range: " + unix.ENOSYS.Error(), "unusual container", false},
	{"another user forbidden", refusal{Call: "setresuid", Errno: unix.EPERM}, "user", "setresuid: operation not permitted", "ordinary user", true},
	{"groups forbidden", refusal{Call: "setgroups", Errno: unix.EPERM}, "user", "setgroups: operation not permitted", "ordinary user", true},
	{"mounts forbidden", refusal{Call: "mount", Errno: unix.EPERM}, "namespaces", "private mounts: operation not permitted", "user namespaces", true},
	{"roots forbidden", refusal{Call: "pivot_root", Errno: unix.EPERM}, "namespaces", "pivot_root: operation not permitted", "user namespaces", true},
	{"namespaces forbidden", refusal{Call: "clone", Errno: unix.EPERM, Bits: unix.CLONE_NEWUSER}, "namespaces", "operation not permitted", "user namespaces", true},
	{"too many namespaces", refusal{Call: "clone", Errno: unix.ENOSPC, Bits: unix.CLONE_NEWUSER}, "namespaces", "no space left", "user namespaces", true},
}

// TestMissingWall starts where a wall is refused: it says which, why and what
// to do, and leaves nothing.
func TestMissingWall(t *testing.T) {
	for _, c := range absent {
		t.Run(c.name, func(t *testing.T) {
			in(t, situation{Name: "missing " + c.name, Refused: []refusal{c.refused}}, func(t *testing.T) {
				cfg := local.Config{CacheDir: cacheFolder(t)}
				before := outsideOf(t)
				d, err := startWith(t, cfg)
				require.Equal(t, before, outsideOf(t), "something is left")
				if c.optional {
					require.NoError(t, err)
				} else {
					require.ErrorIs(t, err, local.ErrWallMissing)
					fault := messages.AsFault(err)
					require.Equal(t, "sandbox_wall_missing", fault.Code)
					for _, lang := range []string{messages.EN, messages.ZH} {
						for _, part := range []string{c.wall, c.why, c.advice, "sandbox.unsafe"} {
							require.Contains(t, fault.In(lang), part)
						}
					}
					cfg.Sandbox.Unsafe = true
					d, err = startWith(t, cfg)
					require.NoError(t, err, "for code that is trusted")
				}
				require.Equal(t, before, outsideOf(t), "something is left")
				require.NotContains(t, d.Describe().Walls, c.wall)
				for _, wall := range []string{"landlock", "seccomp", "rlimits", "privileges"} {
					require.True(t, wall == c.wall || slices.Contains(d.Describe().Walls, wall), "the others stand: %s", wall)
				}
				found := false
				for _, w := range d.Describe().Missing {
					found = found || w.Name == c.wall && strings.Contains(w.Why, c.why) && strings.Contains(w.Advice, c.advice)
				}
				require.True(t, found, "%+v", d.Describe().Missing)
			})
		})
	}
}

// startWith makes a driver, runs something, and closes the driver.
func startWith(t *testing.T, cfg local.Config) (python.Driver, error) {
	d, err := local.New(cfg)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	it, err := d.Start(t.Context(), python.NewSpec(messages.SandboxConfig{}, nil, nil, messages.EN))
	if err != nil {
		return nil, err
	}
	defer it.Close()
	b := &bundle{it: it}
	require.Equal(t, "2", string(b.exec(t, "1 + 1").Value))
	return d, nil
}

// outsideOf is what a driver may leave: children, descriptors, files.
func outsideOf(t *testing.T) map[string]string {
	require.NoError(t, unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
	o := outside{}
	entries, err := os.ReadDir(cacheFolder(t))
	require.NoError(t, err)
	names := ""
	for _, e := range entries {
		names += e.Name() + "\n"
	}
	return map[string]string{"children": strings.Join(children(os.Getpid()), " "), "descriptors": o.descriptors(t), "cache": names}
}
