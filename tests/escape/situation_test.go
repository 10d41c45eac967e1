//go:build linux && integration

package escape

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// situation is how a node's process stands: who it is, and what its kernel
// refuses it. A test gets into one by executing itself again.
type situation struct {
	Name string
	User int // 0: root
	// NoNamespaces: it is in a user namespace that allows none below it.
	NoNamespaces bool
	// Listener: a filter with a listener stands already; there can't be two.
	Listener bool
	Refused  []refusal
}

// refusal is a system call that a filter answers with an error, like that of a
// container; when the argument has all the bits, or any when it has none.
type refusal struct {
	Call  string
	Errno syscall.Errno
	Arg   uint32
	Bits  uint64
}

const (
	situationArgv0 = "troupe-escape-situation"
	insideVar      = "TROUPE_ESCAPE_SITUATION" // names the one that this process is in
	ordinary       = 65534 - 77                // an id of nobody on the machine
	listenerFD     = 19                        // stays open as long as its filter shall count
)

// become gets into a situation and becomes the test program again.
func become(text string, args []string) error {
	runtime.LockOSThread() // what is set up is a thread's, which becomes the test again
	var s situation
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return err
	}
	if s.NoNamespaces {
		if err := os.WriteFile("/proc/sys/user/max_user_namespaces", []byte("0"), 0); err != nil {
			return err
		}
	}
	if err := s.filter(); err != nil {
		return err
	}
	if s.User != 0 {
		if err := errors.Join(unix.Setgroups(nil), unix.Setresgid(s.User, s.User, s.User), unix.Setresuid(s.User, s.User, s.User)); err != nil {
			return err
		}
	}
	return unix.Exec("/proc/self/exe", append([]string{"escape.test"}, args...), os.Environ())
}

func (s *situation) filter() error {
	if len(s.Refused) > 0 {
		if _, err := s.load(s.Refused, 0); err != nil {
			return err
		}
	}
	if !s.Listener {
		return nil
	}
	// What it listens to is a call that nobody makes.
	fd, err := s.load([]refusal{{Call: "swapoff"}}, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER)
	if err != nil {
		return err
	}
	return unix.Dup3(fd, listenerFD, 0) // without close-on-exec: it comes along
}

func (s *situation) load(refused []refusal, flags uintptr) (int, error) {
	policy := seccomp.Policy{DefaultAction: seccomp.ActionAllow}
	for _, r := range refused {
		group := seccomp.SyscallGroup{Action: seccomp.ActionErrno | seccomp.Action(r.Errno)}
		if flags != 0 {
			group.Action = seccomp.ActionUserNotify
		}
		if r.Bits == 0 {
			group.Names = []string{r.Call}
		} else {
			group.NamesWithCondtions = []seccomp.NameWithConditions{{Name: r.Call, Conditions: []seccomp.Condition{
				{Argument: r.Arg, Operation: seccomp.BitsSet, Value: r.Bits}}}}
		}
		policy.Syscalls = append(policy.Syscalls, group)
	}
	program, err := policy.Assemble()
	if err != nil {
		return 0, err
	}
	raw, err := bpf.Assemble(program)
	if err != nil {
		return 0, err
	}
	filter := make([]unix.SockFilter, len(raw))
	for i, in := range raw {
		filter[i] = unix.SockFilter{Code: in.Op, Jt: in.Jt, Jf: in.Jf, K: in.K}
	}
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	fd, _, errno := syscall.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&prog)))
	runtime.KeepAlive(filter)
	if errno != 0 {
		return 0, errno
	}
	return int(fd), nil
}

// in runs the rest of a test in a situation: run, in a process of its own,
// whose parent waits for it and shows what it says.
func in(t *testing.T, s situation, run func(t *testing.T)) {
	if inside := os.Getenv(insideVar); inside != "" {
		if inside == s.Name {
			run(t)
		}
		return // its parent asked for another situation only
	}
	t.Parallel()
	require.Zero(t, os.Geteuid(), "the tests of escapes become other users: run them as root")
	cmd := s.command(t, pattern(t), 4)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "--- PASS: "+t.Name()+" (", "the test has run there")
	if testing.Verbose() {
		t.Logf("%s", out)
	}
}

// pattern is -test.run for this very test and what was asked for below it.
func pattern(t *testing.T) string {
	names := strings.Split(t.Name(), "/")
	var parts []string
	for _, name := range names {
		parts = append(parts, "^"+regexp.QuoteMeta(name)+"$")
	}
	if asked := strings.Split(flag.Lookup("test.run").Value.String(), "/"); len(asked) > len(parts) {
		parts = append(parts, asked[len(parts):]...)
	}
	return strings.Join(parts, "/")
}

// command makes the command that runs tests in a situation, for some minutes
// at most.
func (s situation) command(t *testing.T, run string, minutes int) *exec.Cmd {
	plan, err := json.Marshal(s)
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe")
	cmd.Args = []string{situationArgv0, string(plan), "-test.v", "-test.run=" + run, fmt.Sprintf("-test.timeout=%dm", minutes)}
	home, cache := s.folders(t)
	cmd.Dir = home
	cmd.Env = []string{insideVar + "=" + s.Name, "HOME=" + home, "TMPDIR=" + home, cacheVar + "=" + cache, "PATH=/nowhere"}
	if s.NoNamespaces {
		all := []syscall.SysProcIDMap{{ContainerID: 0, HostID: 0, Size: 1 << 16}}
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER, UidMappings: all, GidMappings: all, GidMappingsEnableSetgroups: true}
	}
	return cmd
}

// folders makes a home for a situation, and in it, for another user than root,
// a copy of root's cache that belongs to that user.
func (s situation) folders(t *testing.T) (home, cache string) {
	home, err := os.MkdirTemp("", "troupe-escape-")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(home)) })
	require.NoError(t, os.Chown(home, s.User, s.User))
	if s.User == 0 {
		return home, cacheFolder(t)
	}
	cache = filepath.Join(home, "cache")
	copyCache(t, cache)
	require.NoError(t, filepath.WalkDir(home, func(path string, _ os.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(path, s.User, s.User))
	}))
	return home, cache
}
