package launch

import (
	"slices"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// The policy is an allow list; what is not on it fails with EPERM. The names
// that only some architectures have stand in policy_<arch>.go.

// allowed are calls that take any argument.
var allowed = []string{
	// bytes of what is open
	"read", "write", "readv", "writev", "pread64", "pwrite64", "lseek", "close", "dup", "dup3", "pipe2",
	// files: Landlock says which
	"openat", "fstat", "newfstatat", "statx", "faccessat", "faccessat2", "readlinkat", "getdents64", "getcwd", "fadvise64",
	// waiting
	"ppoll", "pselect6", "epoll_create1", "epoll_ctl", "epoll_pwait", "eventfd2",
	// memory; mmap and mprotect have conditions
	"munmap", "mremap", "madvise", "brk", "membarrier",
	// threads; clone has conditions
	"futex", "set_robust_list", "get_robust_list", "set_tid_address", "rseq", "sched_yield", "sched_getaffinity", "getcpu", "gettid",
	"exit", "exit_group", "restart_syscall",
	// its own signals
	"rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigaltstack",
	// who and when
	"getpid", "getppid", "getuid", "geteuid", "getgid", "getegid", "getresuid", "getresgid", "uname", "sysinfo",
	"clock_gettime", "clock_getres", "clock_nanosleep", "nanosleep", "gettimeofday", "times", "getrusage", "getrandom",
	// what stays open of sockets: the pair that an event loop wakes itself with
	"recvfrom", "shutdown",
}

// assemble makes the filter's program. pid is the process it is for. A call by
// another architecture's table kills. A call with conditions has a program of
// its own, that decides: in the library's own order, once a condition doesn't
// hold the next comparison takes the argument for the call's number, and
// clone(9) would be allowed as mmap is.
func assemble(execOnce bool, pid uint64) ([]bpf.RawInstruction, error) {
	info, err := arch.GetInfo("")
	if err != nil {
		return nil, err
	}
	program := []bpf.Instruction{
		bpf.LoadAbsolute{Off: 4, Size: 4}, // the architecture
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: uint32(info.ID), SkipTrue: 1},
		bpf.RetConstant{Val: uint32(seccomp.ActionKillProcess)},
		bpf.LoadAbsolute{Off: 0, Size: 4}, // the call's number
	}
	list := conditions(pid)
	for len(list) > 0 {
		name := list[0].Name
		other := func(c seccomp.NameWithConditions) bool { return c.Name != name }
		own, err := decide(seccomp.SyscallGroup{NamesWithCondtions: slices.DeleteFunc(slices.Clone(list), other), Action: seccomp.ActionAllow})
		if err != nil {
			return nil, err
		}
		program = append(program,
			bpf.JumpIf{Cond: bpf.JumpEqual, Val: uint32(info.SyscallNames[name]), SkipTrue: 1},
			bpf.Jump{Skip: uint32(len(own))})
		program = append(program, own...)
		list = slices.DeleteFunc(list, func(c seccomp.NameWithConditions) bool { return !other(c) })
	}
	exec := seccomp.SyscallGroup{Names: []string{"execve"}, Action: seccomp.ActionAllow}
	if execOnce {
		exec.Action = seccomp.ActionUserNotify
	}
	rest, err := decide(
		seccomp.SyscallGroup{Names: append(append([]string{}, allowed...), allowedHere...), Action: seccomp.ActionAllow},
		// glibc falls back to clone, whose flags can be checked
		seccomp.SyscallGroup{Names: []string{"clone3"}, Action: seccomp.ActionErrno | seccomp.Action(unix.ENOSYS)},
		exec,
	)
	if err != nil {
		return nil, err
	}
	return bpf.Assemble(append(program, rest...))
}

// decide makes a program that returns in every case: EPERM for what is in no
// group.
func decide(groups ...seccomp.SyscallGroup) ([]bpf.Instruction, error) {
	policy := seccomp.Policy{DefaultAction: seccomp.ActionErrno, Syscalls: groups}
	return policy.Assemble()
}

// when is a call that is allowed when all conditions hold. Several of one name
// are alternatives.
func when(name string, conditions ...seccomp.Condition) seccomp.NameWithConditions {
	return seccomp.NameWithConditions{Name: name, Conditions: conditions}
}

func equal(arg uint32, value uint64) seccomp.Condition {
	return seccomp.Condition{Argument: arg, Operation: seccomp.Equal, Value: value}
}

func set(arg uint32, bits uint64) seccomp.Condition {
	return seccomp.Condition{Argument: arg, Operation: seccomp.BitsSet, Value: bits}
}

func unset(arg uint32, bits uint64) seccomp.Condition {
	return seccomp.Condition{Argument: arg, Operation: seccomp.BitsNotSet, Value: bits}
}

// newNamespaces are all CLONE_NEW… flags that clone takes.
const newNamespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC |
	unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET

// The ioctl requests that the package unix doesn't name.
const (
	fioclex  = 0x5451
	fionclex = 0x5450
	fionbio  = 0x5421
)

func conditions(pid uint64) []seccomp.NameWithConditions {
	list := []seccomp.NameWithConditions{
		// threads, no processes; one table of descriptors, whose size is limited
		when("clone", set(0, unix.CLONE_THREAD), set(0, unix.CLONE_VM), set(0, unix.CLONE_SIGHAND),
			set(0, unix.CLONE_FILES), set(0, unix.CLONE_FS), unset(0, newNamespaces)),
		// no code that was not in a file, none that can be written; the system's
		// huge pages are not the guest's to take
		when("mmap", unset(2, unix.PROT_EXEC), unset(3, unix.MAP_HUGETLB)),
		when("mmap", unset(2, unix.PROT_WRITE), unset(3, unix.MAP_ANONYMOUS|unix.MAP_HUGETLB)),
		when("mprotect", unset(2, unix.PROT_EXEC)),
		// its own limits, to read
		when("prlimit64", equal(0, 0), equal(2, 0)),
		when("tgkill", equal(0, pid)),
		// a socket pair's end has no address to send to
		when("sendto", equal(4, 0)),
	}
	for _, flags := range []uint64{0, unix.SOCK_CLOEXEC, unix.SOCK_NONBLOCK, unix.SOCK_CLOEXEC | unix.SOCK_NONBLOCK} {
		list = append(list, when("socketpair", equal(0, unix.AF_UNIX), equal(1, unix.SOCK_STREAM|flags)))
	}
	for _, command := range []uint64{unix.F_DUPFD, unix.F_DUPFD_CLOEXEC, unix.F_GETFD, unix.F_SETFD, unix.F_GETFL, unix.F_SETFL} {
		list = append(list, when("fcntl", equal(1, command)))
	}
	for _, request := range []uint64{fioclex, fionclex, fionbio, unix.TCGETS, unix.TIOCGWINSZ} {
		list = append(list, when("ioctl", equal(1, request)))
	}
	for _, option := range []uint64{unix.PR_SET_NAME, unix.PR_GET_NAME, unix.PR_SET_VMA} {
		list = append(list, when("prctl", equal(0, option)))
	}
	return append(list, conditionsHere()...)
}
