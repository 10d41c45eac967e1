//go:build amd64 || arm64

package local

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/actors/python/local/internal/launch"
	"github.com/troupe-go/troupe/actors/python/wire"
)

const (
	// randomDevice is read by the interpreter at its start.
	randomDevice = "/dev/urandom"
	// cpuSeconds bounds an interpreter's whole life; a block's time is bounded
	// by the session's clock, which code can't reach.
	cpuSeconds = 4 * 3600
	// maxThreads is how many threads an interpreter may have.
	maxThreads = 64
	// nobody is the id of a user and a group that own nothing.
	nobody = 65534

	namespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWNET
)

// command makes the command that starts this binary as launcher.
func command(in *installation, w walls) (*exec.Cmd, error) {
	plan := launch.Plan{
		Exe:        in.exe,
		Argv:       in.argv(),
		Env:        in.env(),
		Parent:     os.Getpid(),
		CPU:        cpuSeconds,
		Bare:       len(w.standing) == 0,
		Rlimits:    w.has(launch.WallRlimits),
		Privileges: w.has(launch.WallPrivileges),
		Seccomp:    w.has(launch.WallSeccomp),
		ExecOnce:   w.has(launch.WallExecOnce),
		Landlock:   w.has(launch.WallLandlock),
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
	if w.has(launch.WallUser) {
		plan.User = nobody
		same := syscall.SysProcIDMap{ContainerID: nobody, HostID: nobody, Size: 1}
		attr.UidMappings = append(attr.UidMappings, same)
		attr.GidMappings = append(attr.GidMappings, same)
		attr.GidMappingsEnableSetgroups = true
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

// probe asks for the namespaces of cmd without what Go does about their users.
// When the kernel refuses the namespaces, Go leaves the pipe open that it
// prepared for that: two descriptors each time.
func probe(cmd *exec.Cmd) error {
	if cmd.SysProcAttr.Cloneflags == 0 {
		return nil
	}
	plan, err := json.Marshal(launch.Plan{Probe: true})
	if err != nil {
		return err
	}
	bare := &exec.Cmd{
		Path:        cmd.Path,
		Args:        []string{launch.Argv0, string(plan)},
		Env:         []string{},
		Dir:         "/",
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL, Cloneflags: cmd.SysProcAttr.Cloneflags},
	}
	if err := bare.Start(); err != nil {
		return err
	}
	_ = bare.Process.Kill() // it may have ended by itself
	_ = bare.Wait()         // its start was all that was asked for
	return nil
}

// limit sets, from outside, the limits that would have killed the launcher.
func (p *process) limit(w walls, memory int64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reaped { // its id may be another's by now
		return python.ErrGone
	}
	p.memory = memory
	if !w.has(launch.WallRlimits) {
		return nil
	}
	if err := lower(p.pid, unix.RLIMIT_AS, uint64(memory)); err != nil {
		return err
	}
	if w.limitsThreads() {
		return lower(p.pid, unix.RLIMIT_NPROC, maxThreads)
	}
	if p.census == nil {
		p.census = time.AfterFunc(time.Hour, p.countThreads)
	}
	p.watch()
	return nil
}

// limitsThreads reports whether the kernel can limit the threads of one
// interpreter. Without a user namespace it would count all of the user's, and
// a root's it never limits.
func (w *walls) limitsThreads() bool {
	return w.has(launch.WallNamespaces) && (os.Geteuid() != 0 || w.has(launch.WallUser))
}

// countThreads ends a process with too many threads. Until it looks some
// thousand may have started; they end with the process.
func (p *process) countThreads() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reaped || !p.running {
		return
	}
	info, err := os.Stat(fmt.Sprintf("/proc/%d/task", p.pid))
	if err == nil { // else it is on its way out
		links := uint64(info.Sys().(*syscall.Stat_t).Nlink) //nolint:unconvert // its type differs between architectures
		if links > maxThreads+2 {                           // a folder has two, and one for each folder in it
			if p.reason == "" {
				p.reason = python.KilledMemory
			}
			_ = unix.Kill(-p.pid, unix.SIGKILL) // ESRCH: it is on its way out by itself
		}
	}
	p.watch()
}

// lower sets a limit to value, or leaves it where it is lower.
func lower(pid, resource int, value uint64) error {
	var old unix.Rlimit
	err := unix.Prlimit(pid, resource, nil, &old)
	if err == nil {
		value = min(value, old.Max)
		err = unix.Prlimit(pid, resource, &unix.Rlimit{Cur: value, Max: value}, nil)
	}
	if err == nil || errors.Is(err, unix.ESRCH) { // it has ended
		return os.NewSyscallError("prlimit", err)
	}
	return &wire.WallError{Name: launch.WallRlimits, Why: fmt.Sprintf("resource %d of a process of ours: %v", resource, err)}
}

// CPU implements wire.Process.
func (p *process) CPU() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reaped { // its id may be another's by now
		return p.finalCPU()
	}
	var now unix.Timespec
	clock := int32(^p.pid<<3 | 2) // the kernel's name for a process's clock of scheduled time
	if err := unix.ClockGettime(clock, &now); err != nil {
		return 0
	}
	return time.Duration(now.Nano())
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
