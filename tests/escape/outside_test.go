//go:build linux && integration

package escape

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// mark is in the name of whatever an attack tries to leave.
const mark = "pwned_by_agent"

// outside is the world around a sandbox, with what attacks may aim at.
type outside struct {
	tree    string // of files that everybody may write to
	cache   string
	memory  []byte // a secret of this process
	decoys  *decoys
	signals chan os.Signal
}

// secret is in this process's environment and memory.
const secret = "leak-42-b1f0"

// newOutside sets up the world. This process becomes the one that inherits
// orphans, so that nothing which an attack starts can get out of sight.
func newOutside(t *testing.T) *outside {
	require.NoError(t, unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
	t.Setenv("SECRET", secret)
	tree := t.TempDir()
	for path := tree; path != os.TempDir() && path != "/"; path = filepath.Dir(path) {
		require.NoError(t, os.Chmod(path, 0o777))
	}
	require.NoError(t, os.Mkdir(filepath.Join(tree, "folder"), 0o777))
	for _, name := range []string{"canary", "folder/canary"} {
		require.NoError(t, os.WriteFile(filepath.Join(tree, name), []byte("canary "+secret), 0o600))
		require.NoError(t, os.Chmod(filepath.Join(tree, name), 0o666))
	}
	o := &outside{tree: tree, cache: cacheFolder(t), memory: []byte("memory " + secret), decoys: newDecoys(t, tree), signals: make(chan os.Signal, 64)}
	signal.Notify(o.signals)
	t.Cleanup(func() { signal.Stop(o.signals) })
	return o
}

// watch takes down how the world is, and compares when the test ends. What an
// attack started must be gone by then: register it first.
func (o *outside) watch(t testing.TB) { o.compare(t, o.tree) }

// watchAll is watch with the files of the cache, which takes longer.
func (o *outside) watchAll(t testing.TB) { o.compare(t, o.tree, o.cache) }

func (o *outside) compare(t testing.TB, roots ...string) {
	before := o.state(t, roots...)
	met := o.decoys.met.Load()
	t.Cleanup(func() {
		require.Equal(t, before, o.state(t, roots...), "the world has changed")
		require.Equal(t, met, o.decoys.met.Load(), "somebody has called: %v", o.decoys.who.Load())
		require.Equal(t, "memory "+secret, string(o.memory))
		require.Equal(t, secret, os.Getenv("SECRET"))
		o.requireNoSignal(t)
	})
}

// state is all that must not change, by name, with the files below roots.
func (o *outside) state(t testing.TB, roots ...string) map[string]string {
	s := map[string]string{}
	add := func(name string, value any, err error) {
		require.NoError(t, err, name)
		s[name] = fmt.Sprint(value)
	}
	addFiles(t, s, roots)
	for _, dir := range []string{"/", os.TempDir(), "/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue", "/run", "."} {
		found, err := filepath.Glob(filepath.Join(dir, "*"+mark+"*"))
		add("left in "+dir, found, err)
	}
	for name, file := range map[string]string{
		"mounts": "/proc/self/mountinfo", "shared memory": "/proc/sysvipc/shm", "semaphores": "/proc/sysvipc/sem", "messages": "/proc/sysvipc/msg",
		"host name": "/proc/sys/kernel/hostname", "domain": "/proc/sys/kernel/domainname", "own name": "/proc/self/comm",
		"chance to be killed": "/proc/self/oom_score_adj", "personality": "/proc/self/personality",
	} {
		text, err := os.ReadFile(file)
		if os.IsNotExist(err) || os.IsPermission(err) { // this kernel has none, or shows it to nobody
			continue
		}
		add(name, string(text), err)
	}
	for resource := range unix.RLIMIT_RTTIME + 1 {
		var l unix.Rlimit
		err := unix.Prlimit(0, resource, nil, &l)
		add("limit "+strconv.Itoa(resource), l, err)
	}
	priority, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	add("priority", priority, err)
	cwd, err := os.Getwd()
	add("folder", cwd, err)
	var cpus unix.CPUSet
	add("processors", cpus, unix.SchedGetaffinity(0, &cpus))
	s["keys"] = markedKeys()
	s["children"] = fmt.Sprint(children(os.Getpid()))
	s["descriptors"] = o.descriptors(t)
	s["clock"] = fmt.Sprint(time.Now().Round(0).Sub(began.Round(0))-time.Since(began) > time.Minute)
	return s
}

var began = time.Now()

// addFiles takes down the files that attacks know of: those of the canary with
// their contents, the library's with all that changes when they are written.
func addFiles(t testing.TB, s map[string]string, roots []string) {
	for i, root := range roots {
		err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			var st unix.Stat_t
			if err := unix.Lstat(path, &st); err != nil {
				return err
			}
			s[path] = fmt.Sprint(st.Mode, st.Uid, st.Gid, st.Nlink, st.Ino, st.Size, st.Mtim, st.Ctim)
			if i == 0 && d.Type().IsRegular() {
				text, err := os.ReadFile(path)
				if err != nil {
					return err
				}
				sum := sha256.Sum256(text)
				s[path] += hex.EncodeToString(sum[:])
			}
			return nil
		})
		require.NoError(t, err)
	}
}

func (o *outside) descriptors(t testing.TB) string {
	entries, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	var list []string
	for _, e := range entries {
		if to, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil { // else it was the folder itself
			list = append(list, e.Name()+" "+to)
		}
	}
	return strings.Join(list, "\n")
}

func (o *outside) requireNoSignal(t testing.TB) {
	for {
		select {
		case s := <-o.signals:
			switch s {
			case syscall.SIGCHLD, syscall.SIGURG, syscall.SIGPIPE: // ends of children; the Go runtime's own; a pipe of one that is gone
			default:
				require.Fail(t, "this process was signalled", "%v", s)
			}
		default:
			return
		}
	}
}

func markedKeys() string {
	text, err := os.ReadFile("/proc/keys")
	if err != nil { // this kernel has none
		return ""
	}
	return strings.Join(slices.DeleteFunc(strings.Split(string(text), "\n"), func(l string) bool { return !strings.Contains(l, mark) }), "\n")
}

// children gives what a process has started, and theirs.
func children(pid int) []string {
	var found []string
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid)) // the pattern is well formed
	for _, task := range tasks {
		text, err := os.ReadFile(task)
		if err != nil { // it has ended
			continue
		}
		for _, child := range strings.Fields(string(text)) {
			found = append(found, child)
			if n, err := strconv.Atoi(child); err == nil {
				found = append(found, children(n)...)
			}
		}
	}
	return found
}

// decoys wait for calls that must not come.
type decoys struct {
	tcp, udp, unix, abstract string
	met                      atomic.Int64
	who                      atomic.Value
}
