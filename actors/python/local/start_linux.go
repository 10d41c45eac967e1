//go:build amd64 || arm64

package local

import (
	"encoding/json"
	"os"
	"os/exec"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/troupe-go/troupe/actors/python/local/internal/launch"
)

const (
	// randomDevice is read by the interpreter at its start.
	randomDevice = "/dev/urandom"
	// cpuSeconds bounds an interpreter's whole life; a block's time is bounded
	// by the session's clock, which code can't reach.
	cpuSeconds = 4 * 3600
	// maxThreads counts where the interpreter has a user namespace.
	maxThreads = 64

	namespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWNET
)

// command makes the command that starts this binary as launcher.
func command(in *installation, w walls) (*exec.Cmd, error) {
	plan := launch.Plan{
		Exe:      in.exe,
		Argv:     in.argv(),
		Env:      in.env(),
		Parent:   os.Getpid(),
		CPU:      cpuSeconds,
		Bare:     !w.has(launch.WallPrivileges),
		Seccomp:  w.has(launch.WallSeccomp),
		ExecOnce: w.has(launch.WallExecOnce),
		Landlock: w.has(launch.WallLandlock),
	}
	attr := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if w.has(launch.WallNamespaces) {
		plan.Parent = 0 // not visible from a PID namespace
		plan.Root = in.root
		plan.Paths = append([]string{in.home, in.driver, randomDevice}, w.libraries...)
		attr.Cloneflags = namespaces
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
	}
	encoded, err := json.Marshal(plan)
	if err != nil {
		return nil, err
	}
	cmd := &exec.Cmd{
		Path:        "/proc/self/exe", // this binary, wherever it is now
		Args:        []string{launch.Argv0, string(encoded)},
		Env:         []string{},
		Dir:         "/",
		SysProcAttr: attr,
	}
	if w.ruleset != nil {
		cmd.ExtraFiles = []*os.File{w.ruleset}
	}
	return cmd, nil
}

// limit sets, from outside, the limits that would have killed the launcher.
func (p *process) limit(w walls, memory int64) error {
	if !w.has(launch.WallRlimits) {
		return nil
	}
	if err := lower(p.pid, unix.RLIMIT_AS, uint64(memory)); err != nil {
		return err
	}
	if !w.has(launch.WallNamespaces) { // it would count all of the user's threads
		return nil
	}
	return lower(p.pid, unix.RLIMIT_NPROC, maxThreads)
}

func lower(pid, resource int, value uint64) error {
	var old unix.Rlimit
	if err := unix.Prlimit(pid, resource, nil, &old); err != nil {
		return os.NewSyscallError("prlimit", err)
	}
	value = min(value, old.Max)
	return os.NewSyscallError("prlimit", unix.Prlimit(pid, resource, &unix.Rlimit{Cur: value, Max: value}, nil))
}

// CPU implements wire.Process.
func (p *process) CPU() time.Duration {
	var now unix.Timespec
	clock := int32(^p.pid<<3 | 2) // the kernel's name for a process's clock of scheduled time
	if err := unix.ClockGettime(clock, &now); err == nil {
		return time.Duration(now.Nano())
	}
	return p.finalCPU()
}

// waitable waits until the process has ended, and leaves it to be reaped.
func waitable(cmd *exec.Cmd) {
	for unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
}

func maxResident(u *syscall.Rusage) int64 { return u.Maxrss << 10 }

// seccompAvailable asks whether filters may use an action.
func seccompAvailable(action uint32) error {
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(&action)))
	if errno != 0 {
		return errno
	}
	return nil
}
