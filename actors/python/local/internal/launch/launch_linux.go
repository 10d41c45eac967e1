package launch

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"syscall"
	"unsafe"

	llsys "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// exitRefused is the status of a launcher that could not put up a wall.
const exitRefused = 70

func init() {
	if len(os.Args) != 2 || os.Args[0] != Argv0 {
		return
	}
	// The walls stand around a thread, and the thread that execs is the one
	// that becomes the interpreter.
	runtime.LockOSThread()
	debug.SetGCPercent(-1) // a collection would have to stop a thread that sits in execve
	err := run(os.Args[1])
	report(err)
	os.Exit(exitRefused)
}

// wallError is a wall that could not be put up.
type wallError struct {
	name string
	err  error
}

func (e *wallError) Error() string { return e.name + ": " + e.err.Error() }

// wall gives nil for a nil err.
func wall(name, doing string, err error) error {
	if err == nil {
		return nil
	}
	return &wallError{name, fmt.Errorf("%s: %w", doing, err)}
}

func report(err error) {
	name := "start"
	var w *wallError
	if errors.As(err, &w) {
		name, err = w.name, w.err
	}
	line, _ := json.Marshal(map[string]string{"t": "wall", "tool": name, "text": err.Error()}) // strings always encode
	_, _ = unix.Write(MessageFD, append(line, '\n'))                                           // without a reader nobody is left to tell
}

// run puts up the walls in order and execs; it returns only when that failed.
func run(plan string) error {
	var p Plan
	if err := json.Unmarshal([]byte(plan), &p); err != nil {
		return err
	}
	if p.Probe {
		os.Exit(0)
	}
	if p.Bare {
		return execve(&p)
	}
	if err := tie(p.Parent); err != nil {
		return err
	}
	_ = unix.Umask(0o022) // whatever the parent's is, who runs the code can read the root
	if p.Root != "" {
		if err := changeRoot(p.Root, p.Paths); err != nil {
			return err
		}
	}
	for _, step := range []func(*Plan) error{limit, dropPrivileges, closeOthers, restrict} {
		if err := step(&p); err != nil {
			return err
		}
	}
	return filterAndExec(&p)
}

// tie makes this process end when the parent's thread ends. Started for a
// parent that is gone already, it ends here.
func tie(parent int) error {
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return wall(WallPrivileges, "parent-death signal", err)
	}
	if parent != 0 && os.Getppid() != parent {
		return errors.New("the parent is gone")
	}
	return nil
}

// limit sets the limits that the Go runtime can live with; address space and
// threads are limited from outside, once the interpreter runs.
func limit(p *Plan) error {
	if !p.Rlimits {
		return nil
	}
	for _, l := range []struct {
		resource int
		want     uint64
	}{
		{unix.RLIMIT_CPU, p.CPU},
		{unix.RLIMIT_NOFILE, 64},
		{unix.RLIMIT_FSIZE, 0},
		{unix.RLIMIT_CORE, 1}, // 0 would not stop a system whose core dumps go into a pipe; 1 stops every kind
		{unix.RLIMIT_MEMLOCK, 0},
		{unix.RLIMIT_MSGQUEUE, 0},
	} {
		var old unix.Rlimit
		if err := unix.Prlimit(0, l.resource, nil, &old); err != nil {
			return wall(WallRlimits, "read", err)
		}
		value := min(l.want, old.Max)
		if err := unix.Prlimit(0, l.resource, &unix.Rlimit{Cur: value, Max: value}, nil); err != nil {
			return wall(WallRlimits, fmt.Sprintf("resource %d to %d", l.resource, value), err)
		}
	}
	return nil
}

// dropPrivileges gives up every capability, for good, and the user id that had
// them.
func dropPrivileges(p *Plan) error {
	if !p.Privileges {
		_ = unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) // other walls want it, and report it
		return nil
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return wall(WallPrivileges, "no_new_privs", err)
	}
	for c := uintptr(0); unix.Prctl(unix.PR_CAPBSET_READ, c, 0, 0, 0) == nil; c++ {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil && !errors.Is(err, unix.EPERM) {
			return wall(WallPrivileges, "bounding set", err)
		} // EPERM: without CAP_SETPCAP; then there is nothing to gain from the set
	}
	if err := become(p.User); err != nil {
		return err
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if err := unix.Capset(&header, &none[0]); err != nil {
		return wall(WallPrivileges, "capset", err)
	}
	return tie(p.Parent) // a change of user unties
}

// become makes this thread another user's, without groups. The calls are raw:
// Go's own change every thread of the process, and only this one execs.
func become(user int) error {
	if user == 0 {
		return nil
	}
	id := uintptr(user)
	for _, call := range []struct {
		name   string
		number uintptr
		args   [3]uintptr
	}{
		{"setgroups", unix.SYS_SETGROUPS, [3]uintptr{}},
		{"setresgid", unix.SYS_SETRESGID, [3]uintptr{id, id, id}},
		{"setresuid", unix.SYS_SETRESUID, [3]uintptr{id, id, id}},
	} {
		if _, _, errno := syscall.RawSyscall(call.number, call.args[0], call.args[1], call.args[2]); errno != 0 {
			return wall(WallUser, call.name, errno)
		}
	}
	return nil
}

// closeOthers marks everything beyond our own descriptors close-on-exec.
func closeOthers(p *Plan) error {
	if !p.Privileges {
		return nil
	}
	err := unix.CloseRange(LandlockFD, ^uint(0)>>1, unix.CLOSE_RANGE_CLOEXEC)
	if errors.Is(err, unix.ENOSYS) && !p.Landlock { // before Linux 5.11; os/exec left nothing open either
		return nil
	}
	return wall(WallPrivileges, "close_range", err)
}

func restrict(p *Plan) error {
	if !p.Landlock {
		return nil
	}
	return wall(WallLandlock, "restrict_self", llsys.LandlockRestrictSelf(LandlockFD, 0))
}

// execve becomes the interpreter; it returns only an error.
func execve(p *Plan) error {
	exe, argv, env, err := pointers(p)
	if err != nil {
		return err
	}
	return rawExec(exe, argv, env)
}

func pointers(p *Plan) (*byte, []*byte, []*byte, error) {
	exe, err := syscall.BytePtrFromString(p.Exe)
	if err != nil {
		return nil, nil, nil, err
	}
	argv, err := syscall.SlicePtrFromStrings(p.Argv)
	if err != nil {
		return nil, nil, nil, err
	}
	env, err := syscall.SlicePtrFromStrings(p.Env)
	return exe, argv, env, err
}

func rawExec(exe *byte, argv, env []*byte) error {
	_, _, errno := syscall.Syscall(unix.SYS_EXECVE, uintptr(unsafe.Pointer(exe)),
		uintptr(unsafe.Pointer(&argv[0])), uintptr(unsafe.Pointer(&env[0])))
	return fmt.Errorf("exec of the interpreter: %w", errno)
}
