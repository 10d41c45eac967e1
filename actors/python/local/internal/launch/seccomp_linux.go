package launch

import (
	"errors"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// filterAndExec loads the system call filter and execs. With ExecOnce the
// filter asks a listener about execve; a second thread, which has no filter,
// lets the first one through. The listener is close-on-exec: every later
// execve finds nobody and fails with ENOSYS.
func filterAndExec(p *Plan) error {
	if !p.Seccomp {
		return execve(p)
	}
	exe, argv, env, err := pointers(p)
	if err != nil {
		return err
	}
	program, err := assemble(p.ExecOnce, uint64(unix.Getpid()))
	if err != nil {
		return wall(WallSeccomp, "assemble", err)
	}
	if !p.ExecOnce {
		if _, err := load(program, 0); err != nil {
			return wall(WallSeccomp, "load", err)
		}
		return rawExec(exe, argv, env)
	}
	listener := make(chan int, 1)
	ready := make(chan struct{})
	go allowOne(listener, ready)
	<-ready
	fd, err := load(program, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER)
	if err != nil {
		return wall(WallExecOnce, "load with listener", err)
	}
	listener <- fd
	return rawExec(exe, argv, env)
}

// load installs the program on this thread.
func load(program []bpf.RawInstruction, flags uintptr) (int, error) {
	filter := make([]unix.SockFilter, len(program))
	for i, in := range program {
		filter[i] = unix.SockFilter{Code: in.Op, Jt: in.Jt, Jf: in.Jf, K: in.K}
	}
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	r, _, errno := syscall.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&prog)))
	runtime.KeepAlive(filter)
	if errno != 0 {
		return -1, errno
	}
	return int(r), nil
}

// The kernel's seccomp_notif and seccomp_notif_resp.
type (
	notification struct {
		id    uint64
		pid   uint32
		flags uint32
		data  [64]byte
	}
	response struct {
		id    uint64
		value int64
		errno int32
		flags uint32
	}
)

// allowOne answers "continue" to the first execve, which ends this thread. A
// signal may interrupt the waiting execve; then it asks again.
func allowOne(listener <-chan int, ready chan<- struct{}) {
	runtime.LockOSThread()
	close(ready)
	fd := uintptr(<-listener)
	for {
		var n notification
		if errno := ioctl(fd, unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&n)); errno != 0 {
			if errors.Is(errno, unix.EINTR) || errors.Is(errno, unix.ENOENT) {
				continue
			}
			return // execve then fails with ENOSYS, and that is reported
		}
		r := response{id: n.id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
		_ = ioctl(fd, unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&r)) // an error: interrupted, it asks again
	}
}

func ioctl(fd, request uintptr, arg unsafe.Pointer) syscall.Errno {
	_, _, errno := syscall.Syscall(unix.SYS_IOCTL, fd, request, uintptr(arg))
	return errno
}
