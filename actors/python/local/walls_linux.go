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
var optional = []string{launch.WallNamespaces, launch.WallUser, launch.WallExecOnce}

// rests says which wall can't stand without which.
var rests = map[string]string{launch.WallUser: launch.WallNamespaces}

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
	namespaces := namespacesMissing()
	w.add(launch.WallNamespaces, namespaces, adviceFor(launch.WallNamespaces), false)
	if os.Geteuid() == 0 { // another user's code runs as that user, who is no root
		user := userMissing()
		if namespaces != "" {
			user = needs(launch.WallNamespaces)
		}
		w.add(launch.WallUser, user, adviceFor(launch.WallUser), false)
	}
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
	case launch.WallUser:
		return "start as an ordinary user; root's code has no capability, but it is root's"
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

// userMissing says why root can't hand its code to nobody: that takes three
// capabilities, which containers may lack, and an id that is nobody's here.
func userMissing() string {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var caps [2]unix.CapUserData
	if err := unix.Capget(&header, &caps[0]); err != nil {
		return "capget: " + err.Error()
	}
	for _, c := range []struct {
		name string
		bit  uint
	}{{"CAP_SETGID", unix.CAP_SETGID}, {"CAP_SETUID", unix.CAP_SETUID}, {"CAP_SETFCAP", unix.CAP_SETFCAP}} {
		if caps[0].Effective&(1<<c.bit) == 0 {
			return "the process lacks " + c.name
		}
	}
	for _, file := range []string{"/proc/self/uid_map", "/proc/self/gid_map"} {
		text, err := os.ReadFile(file)
		if err != nil {
			return err.Error()
		}
		if !mapped(string(text), nobody) {
			return fmt.Sprintf("%s has no id %d", file, nobody)
		}
	}
	return ""
}

// mapped reports whether a user namespace knows an id; table is its map, a line
// each of first id inside, first id outside, count.
func mapped(table string, id uint64) bool {
	for line := range strings.Lines(table) {
		var first, outside, count uint64
		if n, err := fmt.Sscan(line, &first, &outside, &count); n == 3 && err == nil && id >= first && id-first < count {
			return true
		}
	}
	return false
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
	n := min(1, len(libraries)) // a program that is linked statically has none
	loader, others := libraries[:n:n], libraries[n:len(libraries):len(libraries)]
	if !w.has(launch.WallLandlock) {
		return nil
	}
	version, err := llsys.LandlockGetABIVersion()
	if err != nil {
		return err
	}
	fd, _, err := landlockFor(version).NewRulesetFD(
		landlock.PathAccess(canList, filepath.Join(in.home, "lib"), in.driver),
		landlock.PathAccess(canExec, append([]string{in.exe}, loader...)...),
		landlock.PathAccess(canRead, append(others, randomDevice)...),
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
