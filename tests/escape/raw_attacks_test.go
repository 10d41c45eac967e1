//go:build linux && integration

package escape

import (
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"unsafe"

	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/sys/unix"
)

// rawAttacks are system calls by group and name, each giving what came of it.
var rawAttacks map[string]map[string]func(*probe) string

// numbers are the architecture's system calls by name.
var numbers map[string]int

func init() {
	info, err := arch.GetInfo("")
	if err != nil {
		panic(err)
	}
	numbers = info.SyscallNames
}

// call makes a system call by its name. Pointers are to be kept alive by who
// calls; one that this architecture doesn't have is ENOSYS.
func call(name string, args ...uintptr) (uintptr, error) {
	number, ok := numbers[name]
	if !ok {
		return 0, unix.ENOSYS
	}
	return callNumber(uintptr(number), args...)
}

func callNumber(number uintptr, args ...uintptr) (uintptr, error) {
	var a [6]uintptr
	copy(a[:], args)
	r, _, e := syscall.Syscall6(number, a[0], a[1], a[2], a[3], a[4], a[5])
	if e != 0 {
		return 0, e
	}
	return r, nil
}

// try makes an attack of one call.
func try(name string, args ...uintptr) func(*probe) string {
	return func(*probe) string {
		_, err := call(name, args...)
		return errno(err)
	}
}

// at makes an attack of one call whose first argument is the parent.
func at(name string, args ...uintptr) func(*probe) string {
	return func(p *probe) string {
		_, err := call(name, append([]uintptr{uintptr(p.Parent)}, args...)...)
		return errno(err)
	}
}

// path makes an attack of one call on files below the canary's folder.
func path(do func(dir string) error) func(*probe) string {
	return func(p *probe) string { return errno(do(p.Tree)) }
}

// buffer is memory that calls may point to.
var buffer [1 << 16]byte

var buf = uintptr(unsafe.Pointer(&buffer[0]))

const (
	self   = ^uintptr(0) - 99 // AT_FDCWD
	noFlag = uintptr(0)
)

func init() {
	rawAttacks = map[string]map[string]func(*probe) string{
		"every call": {"of the table": everyCall, "beyond the table": beyond},
		"trace":      {"parent": at2("ptrace", unix.PTRACE_ATTACH), "seize": at2("ptrace", 0x4206), "be traced": try("ptrace", unix.PTRACE_TRACEME), "compare": at("kcmp", 1, 0, 0, 0)},
		"memory":     {"read": vm("process_vm_readv"), "write": vm("process_vm_writev"), "advise": try("process_madvise", 0, buf, 1, 4), "release": try("process_mrelease", 0)},
		"signal": {"kill": at("kill", 15), "tkill": at("tkill", 15), "tgkill": func(p *probe) string {
			_, err := call("tgkill", uintptr(p.Parent), uintptr(p.Parent), 15)
			return errno(err)
		}, "queue": at("rt_sigqueueinfo", 15, buf), "queue to a thread": at("rt_tgsigqueueinfo", 1, 15, buf), "all": try("kill", ^uintptr(0), 9)},
		"pidfd":       {"open": at("pidfd_open"), "send": try("pidfd_send_signal", 0, 15), "get": try("pidfd_getfd", 0, 0)},
		"processes":   {"fork": tryFork("fork"), "vfork": tryFork("vfork"), "clone": try("clone", uintptr(unix.SIGCHLD)), "clone by any number": cloneAny, "clone to the parent": try("clone", unix.CLONE_PARENT|uintptr(unix.SIGCHLD)), "clone3": try("clone3", buf, 88), "vforked clone": try("clone", unix.CLONE_VM|unix.CLONE_VFORK|uintptr(unix.SIGCHLD)), "clone with new namespaces": try("clone", unix.CLONE_NEWUSER|unix.CLONE_NEWPID|uintptr(unix.SIGCHLD)), "thread with its own descriptors": try("clone", unix.CLONE_VM|unix.CLONE_SIGHAND|unix.CLONE_THREAD|unix.CLONE_FS), "thread with its own user": try("clone", unix.CLONE_VM|unix.CLONE_SIGHAND|unix.CLONE_THREAD|unix.CLONE_FS|unix.CLONE_FILES|unix.CLONE_NEWUSER)},
		"exec":        {"exec": tryExec("/bin/true"), "may exec itself": tryItself, "execveat": func(*probe) string { return execveat("/bin/true", 0) }, "fexecve": fexecve},
		"memory file": {"memfd": try("memfd_create", buf, 0), "memfd that runs": try("memfd_create", buf, 0x10), "secret": try("memfd_secret", 0), "userfaultfd": try("userfaultfd", 1)},
		"io_uring":    {"setup": try("io_uring_setup", 8, buf), "enter": try("io_uring_enter", 0, 1, 1, 0), "register": try("io_uring_register", 0, 0, buf, 1), "old": try("io_setup", 8, buf)},
		"mounts": {"mount": path(func(d string) error { return unix.Mount("tmpfs", d, "tmpfs", 0, "") }), "bind": path(func(d string) error { return unix.Mount("/", d, "", unix.MS_BIND, "") }), "remount": path(func(string) error { return unix.Mount("", "/", "", unix.MS_REMOUNT|unix.MS_BIND, "") }), "unmount": path(func(string) error { return unix.Unmount("/", unix.MNT_DETACH) }),
			"pivot": path(func(d string) error { return unix.PivotRoot(d, d) }), "chroot": path(unix.Chroot), "open tree": try("open_tree", self, buf, 1), "move": try("move_mount", self, buf, self, buf, 0), "new": try("fsopen", buf, 0), "attributes": try("mount_setattr", self, buf, 0, buf, 32), "swap": try("swapon", buf, 0)},
		"namespaces":      {"unshare user": try("unshare", unix.CLONE_NEWUSER), "unshare mounts": try("unshare", unix.CLONE_NEWNS), "unshare files": try("unshare", unix.CLONE_FILES), "enter": try("setns", 0, 0), "host name": try("sethostname", buf, 3), "domain": try("setdomainname", buf, 3), "in a thread": inThread(try("unshare", unix.CLONE_NEWUSER))},
		"identity":        {"uid": try("setuid", 0), "other uid": try("setuid", 1000), "reuid": try("setreuid", 0, 0), "resuid": try("setresuid", 0, 0, 0), "gid": try("setgid", 0), "groups": try("setgroups", 0, 0), "file uid": try("setfsuid", 0), "capabilities": capset, "in a thread": inThread(try("setuid", 0)), "session": try("setsid"), "group": try("setpgid", 0, 0), "may more": try("prctl", unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_RAISE, 1, 0, 0)},
		"limits":          {"set": try("setrlimit", unix.RLIMIT_NOFILE, buf), "own": try("prlimit64", 0, unix.RLIMIT_NOFILE, buf, 0), "parent's": at("prlimit64", unix.RLIMIT_NOFILE, buf, 0), "read parent's": at("prlimit64", unix.RLIMIT_NOFILE, 0, buf), "priority": try("setpriority", 0, 0, 19), "scheduler": try("sched_setscheduler", 0, 1, buf), "attributes": try("sched_setattr", 0, buf, 0), "processors": at("sched_setaffinity", 8, buf), "input": try("ioprio_set", 1, 0, 0)},
		"control":         {"dumpable": try("prctl", unix.PR_SET_DUMPABLE, 1), "death signal": try("prctl", unix.PR_SET_PDEATHSIG, 0), "reaper": try("prctl", unix.PR_SET_CHILD_SUBREAPER, 1), "tracer": try("prctl", unix.PR_SET_PTRACER, ^uintptr(0)), "seccomp": try("prctl", unix.PR_SET_SECCOMP, 2, buf), "filter": try("seccomp", 1, 0, buf), "listener": try("seccomp", 1, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER, buf), "mm": try("prctl", unix.PR_SET_MM, 1, buf), "keep": try("prctl", unix.PR_SET_KEEPCAPS, 1), "dispatch": try("prctl", 59, 1, 0, 0, buf), "personality": try("personality", 0x0040000), "landlock": try("landlock_restrict_self", 0, 0)},
		"machine":         {"reboot": try("reboot", 0xfee1dead, 672274793, 0x89abcdef), "module": try("init_module", buf, 0, buf), "kernel": try("kexec_load", 0, 0, buf, 0), "log": try("syslog", 3, buf, 100), "clock": try("clock_settime", 0, buf), "time": try("settimeofday", buf, 0), "adjust": try("adjtimex", buf), "account": try("acct", 0), "quota": try("quotactl", 0, 0, 0, buf), "ports": try("iopl", 3), "port": try("ioperm", 0x80, 1, 1), "segment": try("modify_ldt", 1, buf, 16), "hang up": try("vhangup"), "sync": try("sync")},
		"keys":            {"add": try("add_key", buf, buf, buf, 1, ^uintptr(2)), "request": try("request_key", buf, buf, 0, ^uintptr(2)), "join": try("keyctl", 1, 0), "read": try("keyctl", 11, ^uintptr(2), buf, 10)},
		"kernel programs": {"bpf": try("bpf", 0, buf, 64), "perf": try("perf_event_open", buf, 0, ^uintptr(0), ^uintptr(0), 0), "fanotify": try("fanotify_init", 0, 0), "inotify": try("inotify_init1", 0), "lookup": try("lookup_dcookie", 0, buf, 10), "handle": try("open_by_handle_at", self, buf, 0), "name": try("name_to_handle_at", self, buf, buf, buf, 0)},
		"shared memory":   {"segment": try("shmget", 0x7077, 4096, 0o1666), "attach": try("shmat", 0, 0, 0), "semaphores": try("semget", 0x7077, 1, 0o1666), "messages": try("msgget", 0x7077, 0o1666), "queue": try("mq_open", buf, 0o102, 0o600, 0), "attach all": try("shmctl", 0, 14, buf)},
		"sockets":         {"every family": everyFamily, "connect": connect, "socket call": try("socketcall", 1, buf), "pair of datagrams": try("socketpair", 1, 2, 0, buf), "pair of others": try("socketpair", 2, 1, 0, buf), "send message": try("sendmsg", 0, buf, 0), "send messages": try("sendmmsg", 0, buf, 1, 0), "receive message": try("recvmsg", 0, buf, 0), "bind": try("bind", 0, buf, 16), "listen": try("listen", 0, 1), "send to": try("sendto", 0, buf, 1, 0, buf, 16), "option": try("setsockopt", 0, 1, 1, buf, 4)},
		"files": {"write": path(func(d string) error { _, err := unix.Open(d+"/canary", unix.O_WRONLY, 0); return err }), "read": path(func(d string) error { _, err := unix.Open(d+"/canary", unix.O_RDONLY, 0); return err }), "make": path(func(d string) error { _, err := unix.Open(d+"/"+mark, unix.O_CREAT|unix.O_WRONLY, 0o600); return err }), "unnamed": path(func(d string) error { _, err := unix.Open(d, unix.O_TMPFILE|unix.O_RDWR, 0o600); return err }), "openat2": path(func(d string) error { _, err := unix.Openat2(unix.AT_FDCWD, d+"/canary", &unix.OpenHow{}); return err }),
			"truncate": path(func(d string) error { return unix.Truncate(d+"/canary", 0) }), "unlink": path(func(d string) error { return unix.Unlink(d + "/canary") }), "rename": path(func(d string) error { return unix.Rename(d+"/canary", d+"/"+mark) }), "link": path(func(d string) error { return unix.Link(d+"/canary", d+"/"+mark) }), "symlink": path(func(d string) error { return unix.Symlink("/", d+"/"+mark) }), "folder": path(func(d string) error { return unix.Mkdir(d+"/"+mark, 0o700) }), "node": path(func(d string) error { return unix.Mknod(d+"/"+mark, unix.S_IFCHR|0o666, 0x103) }),
			"mode": path(func(d string) error { return unix.Chmod(d+"/canary", 0o777) }), "owner": path(func(d string) error { return unix.Chown(d+"/canary", 1, 1) }), "time": path(func(d string) error { return unix.Utimes(d+"/canary", make([]unix.Timeval, 2)) }), "attribute": path(func(d string) error { return unix.Setxattr(d+"/canary", "user.x", []byte("x"), 0) }), "flags": try("ioctl", 0, 0x40086602, buf), "splice": try("splice", 0, 0, 1, 0, 10, 0), "tee": try("tee", 0, 1, 10, 0), "vmsplice": try("vmsplice", 4, buf, 1, 0), "copy": try("copy_file_range", 0, 0, 1, 0, 10, 0), "send": try("sendfile", 1, 0, 0, 10), "lock": try("flock", 0, 2), "allocate": try("fallocate", 0, 0, 0, 10)},
		"terminals": {"type": try("ioctl", 0, unix.TIOCSTI, buf), "own": try("ioctl", 0, unix.TIOCSCTTY, 0), "type, high bits": try("ioctl", 0, unix.TIOCSTI|1<<32, buf), "console": try("ioctl", 0, 0x541d, 0), "line": try("ioctl", 0, unix.TIOCSETD, buf), "selection": try("ioctl", 0, 0x541c, buf)},
		"timers":    {"timer": try("timer_create", 0, 0, buf), "interval": try("setitimer", 0, buf, 0), "alarm": try("alarm", 1), "descriptor": try("timerfd_create", 0, 0)},
		"code":      {"anonymous": try("mmap", 0, 4096, 5, 0x22, ^uintptr(0), 0), "write and run": try("mmap", 0, 4096, 7, 0x22, ^uintptr(0), 0), "protect": try("mprotect", buf&^4095, 4096, 5), "with a key": try("pkey_mprotect", buf&^4095, 4096, 5, ^uintptr(0)), "pages": try("remap_file_pages", buf&^4095, 4096, 0, 0, 0), "huge": try("mmap", 0, 1<<21, 3, 0x22|unix.MAP_HUGETLB, ^uintptr(0), 0), "shadow stack": try("map_shadow_stack", 0, 4096, 0)},
		"locks":     {"own memory": try("mlockall", 1), "range": try("mlock", buf&^4095, 4096), "policy": try("set_mempolicy", 0, 0, 0), "migrate": at("migrate_pages", 8, buf, buf), "move": at("move_pages", 1, buf, buf, buf, 0)},
		"threads":   {"may be one": func(*probe) string { return errno(nil) }, "dies bomb": bomb, "dies leader": func(*probe) string { runtime.LockOSThread(); _, err := call("exit", 0); return errno(err) }},
		"end":       {"dies group": try("exit_group", 0), "dies signal": func(*probe) string { return errno(kill(6)) }},
	}
	if runtime.GOARCH == "amd64" {
		rawAttacks["other tables"] = map[string]func(*probe) string{
			"x32": func(*probe) string { _, err := callNumber(1<<30 | 39); return errno(err) }, "dies int 0x80": int80,
		}
	}
}

func at2(name string, request uintptr) func(*probe) string {
	return func(p *probe) string {
		_, err := call(name, request, uintptr(p.Parent), 0, 0)
		return errno(err)
	}
}

// may are the calls that the walls let through, wholly or by their arguments.
// It is a list of its own, held against the policy by everyCall. The last two
// pass every filter: a kernel's own trampoline makes them, and who else does so
// gets a signal.
const may = ` read write readv writev pread64 pwrite64 lseek close dup dup2 dup3 pipe pipe2 open openat stat lstat fstat newfstatat statx access faccessat
 faccessat2 readlink readlinkat getdents64 getcwd fadvise64 poll ppoll select pselect6 epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait
 eventfd eventfd2 mmap mprotect munmap mremap madvise brk membarrier clone futex set_robust_list get_robust_list set_tid_address rseq sched_yield
 sched_getaffinity getcpu gettid exit exit_group restart_syscall rt_sigaction rt_sigprocmask rt_sigreturn sigaltstack tgkill getpid getppid getpgrp getuid
 geteuid getgid getegid getresuid getresgid uname sysinfo clock_gettime clock_getres clock_nanosleep nanosleep gettimeofday time times getrusage getrlimit
 getrandom recvfrom shutdown sendto socketpair fcntl ioctl prctl arch_prctl prlimit64 uretprobe uprobe `

// everyCall makes every call that is not let through, with nothing but zeros.
func everyCall(*probe) string {
	var through []string
	for _, name := range slices.Sorted(maps.Keys(numbers)) {
		if strings.Contains(strings.ReplaceAll(may, "\n", " "), " "+name+" ") {
			continue
		}
		if _, err := call(name); err != unix.EPERM && err != unix.ENOSYS && !(name == "execve" && err == unix.EFAULT) { //nolint:errorlint // it is nothing else
			through = append(through, fmt.Sprint(name, ": ", err))
		}
	}
	if len(through) > 0 {
		return worked + ": " + strings.Join(through, ", ")
	}
	return "none"
}

func beyond(*probe) string {
	known := slices.Sorted(maps.Values(numbers))
	for n := known[len(known)-1] + 1; n < 4096; n++ {
		if _, err := callNumber(uintptr(n)); err != unix.EPERM && err != unix.ENOSYS { //nolint:errorlint // it is nothing else
			return fmt.Sprint(worked, ": ", n, " ", err)
		}
	}
	return "none"
}

func everyFamily(*probe) string {
	for family := range uintptr(64) {
		for _, kind := range []uintptr{1, 2, 3, 4, 5, 6, 10, 1 | unix.SOCK_CLOEXEC} {
			if _, err := call("socket", family, kind, 0); err != unix.EPERM { //nolint:errorlint // it is nothing else
				return fmt.Sprint(worked, ": family ", family, ", ", err)
			}
		}
	}
	return "none"
}

func kill(s uintptr) error {
	_, err := call("tgkill", uintptr(os.Getpid()), uintptr(unix.Gettid()), s)
	return err
}
