package launch

import (
	"encoding/binary"
	"testing"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	allow  = unix.SECCOMP_RET_ALLOW
	deny   = unix.SECCOMP_RET_ERRNO | int(unix.EPERM)
	nosys  = unix.SECCOMP_RET_ERRNO | int(unix.ENOSYS)
	notify = unix.SECCOMP_RET_USER_NOTIF
	kill   = unix.SECCOMP_RET_KILL_PROCESS
	self   = 4711
)

// TestPolicy runs the filter's program over system calls, without a kernel.
func TestPolicy(t *testing.T) {
	info, err := arch.GetInfo("")
	require.NoError(t, err)
	threadFlags := uint64(unix.CLONE_VM | unix.CLONE_FS | unix.CLONE_FILES | unix.CLONE_SIGHAND | unix.CLONE_THREAD | unix.CLONE_SETTLS)
	cases := []struct {
		name string
		want int
		args []uint64
	}{
		{"read", allow, nil},
		{"openat", allow, nil},
		{"futex", allow, nil},
		{"clone", allow, []uint64{threadFlags}},
		{"clone", deny, []uint64{uint64(unix.SIGCHLD)}},
		{"clone", deny, []uint64{unix.CLONE_VM | unix.CLONE_VFORK | uint64(unix.SIGCHLD)}},
		{"clone", deny, []uint64{threadFlags | unix.CLONE_NEWUSER}},
		{"clone", deny, []uint64{threadFlags &^ unix.CLONE_THREAD}},
		{"clone", deny, []uint64{threadFlags &^ unix.CLONE_FILES}},
		{"clone", deny, []uint64{threadFlags &^ unix.CLONE_FS}},
		{"clone3", nosys, nil},
		{"execve", notify, nil},
		{"execveat", deny, nil},
		{"socket", deny, []uint64{unix.AF_INET, unix.SOCK_STREAM}},
		{"connect", deny, nil},
		{"socketpair", allow, []uint64{unix.AF_UNIX, unix.SOCK_STREAM | unix.SOCK_CLOEXEC}},
		{"socketpair", deny, []uint64{unix.AF_UNIX, unix.SOCK_DGRAM}},
		{"socketpair", deny, []uint64{unix.AF_INET, unix.SOCK_STREAM}},
		{"sendto", allow, []uint64{3, 4096, 1, 0, 0}},
		{"sendto", deny, []uint64{3, 4096, 1, 0, 0x7fff_0000_0000}},
		{"sendmsg", deny, nil},
		{"mmap", allow, []uint64{0, 4096, unix.PROT_READ | unix.PROT_WRITE, unix.MAP_PRIVATE | unix.MAP_ANONYMOUS}},
		{"mmap", allow, []uint64{0, 4096, unix.PROT_READ | unix.PROT_EXEC, unix.MAP_PRIVATE}},
		{"mmap", deny, []uint64{0, 4096, unix.PROT_READ | unix.PROT_EXEC, unix.MAP_PRIVATE | unix.MAP_ANONYMOUS}},
		{"mmap", deny, []uint64{0, 4096, unix.PROT_WRITE | unix.PROT_EXEC, unix.MAP_PRIVATE}},
		{"mmap", deny, []uint64{0, 4096, unix.PROT_READ | unix.PROT_WRITE, unix.MAP_PRIVATE | unix.MAP_ANONYMOUS | unix.MAP_HUGETLB}},
		{"mprotect", allow, []uint64{0, 4096, unix.PROT_READ}},
		{"mprotect", deny, []uint64{0, 4096, unix.PROT_READ | unix.PROT_EXEC}},
		{"prlimit64", allow, []uint64{0, unix.RLIMIT_NOFILE, 0, 4096}},
		{"prlimit64", deny, []uint64{0, unix.RLIMIT_NOFILE, 4096, 0}},
		{"prlimit64", deny, []uint64{1, unix.RLIMIT_NOFILE, 0, 4096}},
		{"tgkill", allow, []uint64{self, self, 6}},
		{"tgkill", deny, []uint64{self + 1, self, 6}},
		{"kill", deny, []uint64{self, 9}},
		{"fcntl", allow, []uint64{3, unix.F_GETFL}},
		{"fcntl", deny, []uint64{3, unix.F_SETOWN}},
		{"ioctl", allow, []uint64{0, unix.TCGETS}},
		{"ioctl", deny, []uint64{0, unix.TIOCSTI}},
		{"ioctl", deny, []uint64{0, unix.TCGETS | 1<<32}},
		{"prctl", allow, []uint64{unix.PR_SET_NAME}},
		{"prctl", deny, []uint64{unix.PR_SET_DUMPABLE}},
	}
	for _, name := range []string{"ptrace", "mount", "unshare", "setns", "keyctl", "bpf", "io_uring_setup", "memfd_create", "shmat",
		"process_vm_readv", "setrlimit", "seccomp", "userfaultfd", "perf_event_open", "pidfd_open", "truncate", "unlinkat", "fchmodat", "setuid"} {
		cases = append(cases, struct {
			name string
			want int
			args []uint64
		}{name, deny, nil})
	}
	vm := machine(t, true)
	for _, c := range cases {
		number, ok := info.SyscallNames[c.name]
		require.True(t, ok, c.name)
		require.Equal(t, c.want, verdict(t, vm, uint32(number), uint32(info.ID), c.args), "%s%v", c.name, c.args)
	}
	require.Equal(t, kill, verdict(t, vm, 1, uint32(info.ID)+1, nil), "another architecture")
	require.Equal(t, allow, verdict(t, machine(t, false), uint32(info.SyscallNames["execve"]), uint32(info.ID), nil), "without listener")
}

// TestConditions holds the program against what the conditions say, for calls
// whose arguments could be taken for another call's number.
func TestConditions(t *testing.T) {
	info, err := arch.GetInfo("")
	require.NoError(t, err)
	vm := machine(t, true)
	list := conditions(self)
	for _, of := range list {
		for n := range uint64(600) {
			for _, args := range [][]uint64{{n, n, n, n, n, n}, {n, 0, 0, 0, 0, 0}, {0, n, 0, 0, 0, 0}, {0, 0, n, 0, 0, 0}, {0, 0, 0, n, 0, 0}, {0, 0, 0, 0, n, 0}, {n << 32, n << 32, n << 32, n << 32, n << 32, n << 32}} {
				want := deny
				for _, c := range list {
					if c.Name == of.Name && holds(c.Conditions, args) {
						want = allow
					}
				}
				got := verdict(t, vm, uint32(info.SyscallNames[of.Name]), uint32(info.ID), args)
				if got != want {
					require.Equal(t, want, got, "%s%v", of.Name, args)
				}
			}
		}
	}
}

// holds says what conditions mean, of those kinds that the policy uses.
func holds(all seccomp.ArgumentConditions, args []uint64) bool {
	for _, c := range all {
		value := args[c.Argument]
		switch c.Operation {
		case seccomp.Equal:
			if value != c.Value {
				return false
			}
		case seccomp.BitsSet:
			if value&c.Value == 0 {
				return false
			}
		case seccomp.BitsNotSet:
			if value&c.Value != 0 {
				return false
			}
		}
	}
	return true
}

func machine(t *testing.T, execOnce bool) *bpf.VM {
	raw, err := assemble(execOnce, self)
	require.NoError(t, err)
	program, whole := bpf.Disassemble(raw)
	require.True(t, whole)
	vm, err := bpf.NewVM(program)
	require.NoError(t, err)
	return vm
}

// verdict lays a call out as struct seccomp_data. The virtual machine reads
// words big-endian, so each word is written that way, in the kernel's order.
func verdict(t *testing.T, vm *bpf.VM, number, arch uint32, args []uint64) int {
	data := make([]byte, 64)
	binary.BigEndian.PutUint32(data[0:], number)
	binary.BigEndian.PutUint32(data[4:], arch)
	for i, arg := range args {
		binary.BigEndian.PutUint32(data[16+8*i:], uint32(arg))
		binary.BigEndian.PutUint32(data[20+8*i:], uint32(arg>>32))
	}
	got, err := vm.Run(data)
	require.NoError(t, err)
	return got
}
