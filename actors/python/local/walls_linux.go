//go:build amd64 || arm64

package local

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/landlock-lsm/go-landlock/landlock"
	llsys "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"

	"github.com/troupe-go/troupe/actors/python/local/internal/launch"
)

// optional walls are used where they can be had. The others are required.
var optional = []string{launch.WallNamespaces, launch.WallExecOnce}

// findWalls asks the kernel what it offers. What only a try can show, the
// first start shows.
func findWalls(cfg Config) walls {
	var w walls
	if cfg.bare {
		return w
	}
	w.standing = []string{launch.WallRlimits, launch.WallPrivileges, "process_group"}
	w.add(launch.WallLandlock, landlockMissing(), adviceFor(launch.WallLandlock), true)
	seccomp := seccompMissing(unix.SECCOMP_RET_ERRNO)
	w.add(launch.WallSeccomp, seccomp, adviceFor(launch.WallSeccomp), true)
	if seccomp == "" {
		seccomp = seccompMissing(unix.SECCOMP_RET_USER_NOTIF)
	}
	w.add(launch.WallExecOnce, seccomp, adviceFor(launch.WallExecOnce), false)
	w.add(launch.WallNamespaces, namespacesMissing(), adviceFor(launch.WallNamespaces), false)
	return w
}

func adviceFor(wall string) string {
	switch wall {
	case launch.WallLandlock:
		return "use Linux 5.13 or later with landlock in the kernel's list of security modules (lsm=)"
	case launch.WallSeccomp:
		return "use a kernel and a container profile that allow seccomp filters"
	case launch.WallExecOnce:
		return "run outside of a supervisor that listens to seccomp notifications; Landlock still allows the interpreter only"
	case launch.WallNamespaces:
		return "allow unprivileged user namespaces; without them code can see which files exist, not read them"
	}
	return "start as an ordinary user, outside of an unusual container"
}

func landlockMissing() string {
	version, err := llsys.LandlockGetABIVersion()
	switch {
	case err == nil && version >= 1:
		return ""
	case errors.Is(err, unix.ENOSYS):
		return "the kernel has no Landlock"
	case errors.Is(err, unix.EOPNOTSUPP):
		return "Landlock is built in but not switched on at boot"
	}
	return fmt.Sprintf("the kernel answers version %d, %v", version, err)
}

func seccompMissing(action uint32) string {
	if err := seccompAvailable(action); err != nil {
		return "the kernel does not offer it: " + err.Error()
	}
	return ""
}

// namespacesMissing reads the switches that forbid user namespaces.
func namespacesMissing() string {
	if n := readSwitch("/proc/sys/user/max_user_namespaces"); n == "0" {
		return "user.max_user_namespaces is 0"
	}
	if os.Geteuid() == 0 {
		return ""
	}
	if n := readSwitch("/proc/sys/kernel/unprivileged_userns_clone"); n == "0" {
		return "kernel.unprivileged_userns_clone is 0"
	}
	if n := readSwitch("/proc/sys/kernel/apparmor_restrict_unprivileged_userns"); n == "1" {
		return "kernel.apparmor_restrict_unprivileged_userns is 1"
	}
	return ""
}

func readSwitch(path string) string {
	text, err := os.ReadFile(path)
	if err != nil { // this kernel has no such switch
		return ""
	}
	return strings.TrimSpace(string(text))
}

// What a rule lets code do with a file.
const (
	canRead = landlock.AccessFSSet(llsys.AccessFSReadFile)
	canList = canRead | llsys.AccessFSReadDir
	canExec = canRead | llsys.AccessFSExecute
)

// use completes the walls with what depends on the unpacked interpreter.
func (w *walls) use(in *installation) error {
	libraries, err := findLibraries(in.exe)
	if err != nil {
		return err
	}
	w.libraries = libraries
	if !w.has(launch.WallLandlock) {
		return nil
	}
	version, err := llsys.LandlockGetABIVersion()
	if err != nil {
		return err
	}
	fd, _, err := landlockFor(version).NewRulesetFD(
		landlock.PathAccess(canList, filepath.Join(in.home, "lib"), in.driver),
		landlock.PathAccess(canExec, in.exe, libraries[0]),
		landlock.PathAccess(canRead, append(libraries[1:], randomDevice)...),
	)
	if err != nil {
		return fmt.Errorf("landlock ruleset: %w", err)
	}
	w.close() // that of an installation before
	w.ruleset = os.NewFile(uintptr(fd), "landlock")
	return nil
}

// checkLibraries says early that the interpreter can't run on this system.
func checkLibraries(exe string) error {
	_, err := findLibraries(exe)
	return err
}

// landlockFor handles every right the kernel knows: what no rule grants is
// refused. Each version is asked for as it is, never as best effort.
func landlockFor(version int) landlock.Config {
	all := []landlock.Config{landlock.V1, landlock.V2, landlock.V3, landlock.V4, landlock.V5,
		landlock.V6, landlock.V7, landlock.V8, landlock.V9, landlock.V10, landlock.V11}
	return all[min(version, len(all))-1]
}
