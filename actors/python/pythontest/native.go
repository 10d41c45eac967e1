package pythontest

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/python"
)

// testNative goes past the driver program and tries the walls themselves. Each
// program has to end with an exception.
func testNative(t *testing.T, d python.Driver) {
	attacks := map[string]string{
		"read a file":              "open_('/etc/passwd').read()",
		"list the root":            "os.listdir('/')",
		"write to tmp":             "open_('/tmp/pwned_by_agent', 'w')",
		"write to its library":     "with open_(os.__file__, 'a') as f: f.write('x')",
		"write to its folder":      "open_(os.path.dirname(os.__file__) + '/evil.py', 'w')",
		"delete its library":       "os.unlink(os.__file__)",
		"rename its library":       "os.rename(os.__file__, os.__file__ + '2')",
		"truncate":                 "os.truncate(os.__file__, 0)",
		"make a folder":            "os.mkdir('/tmp/pwned_by_agent')",
		"make a link":              "os.symlink('/etc/passwd', '/tmp/pwned_by_agent')",
		"change a mode":            "os.chmod(os.__file__, 0o777)\nif os.stat(os.__file__).st_mode & 0o777 != 0o777: raise OSError",
		"change an owner":          "os.chown(os.__file__, 1, 1)",
		"change a time":            "os.utime(os.__file__)",
		"a device":                 "open_('/dev/tty', 'w')",
		"shared memory":            "imp('_posixshmem').shm_open('/x', os.O_RDWR | os.O_CREAT)",
		"TCP socket":               "imp('socket').create_connection(('127.0.0.1', 22), 1)",
		"UDP socket":               "imp('socket').socket(2, 2)",
		"UNIX socket":              "imp('socket').socket(1, 1)",
		"raw socket":               "imp('socket').socket(2, 3, 1)",
		"netlink socket":           "imp('socket').socket(16, 3)",
		"datagram pair":            "imp('_socket').socketpair(1, 2)",
		"send a descriptor":        "a, b = imp('socket').socketpair()\nimp('socket').send_fds(a, [b'x'], [1])",
		"another thread's group":   "os.setpgid(0, 0)",
		"a session":                "os.setsid()",
		"another user":             "os.setuid(0)\nos.setuid(12345)",
		"another root":             "os.chroot('/tmp')",
		"namespaces":               "os.unshare(0x10000000)",
		"priority":                 "os.setpriority(os.PRIO_PROCESS, 0, -5)",
		"its own limits":           "r = imp('resource')\nr.setrlimit(r.RLIMIT_NOFILE, (10, 10))",
		"the parent's limits":      "r = imp('resource')\nr.prlimit(os.getppid() or 1, r.RLIMIT_NOFILE, (10, 10))",
		"open a process":           "open_('/proc/%d/mem' % (os.getppid() or 1), 'rb')",
		"its memory":               "open_('/proc/self/mem', 'r+b')",
		"executable memory":        "m = imp('mmap')\nm.mmap(-1, 4096, prot=m.PROT_READ | m.PROT_WRITE | m.PROT_EXEC)",
		"writable executable file": "m = imp('mmap')\nm.mmap(os.open(os.__file__, os.O_RDONLY), 4096, flags=m.MAP_PRIVATE, prot=m.PROT_WRITE | m.PROT_EXEC)",
		"fork":                     "fresh().fork()",
		"fork of the library":      "original('fork')",
		"exec":                     "fresh().execv('/bin/true', ['true'])",
		"signal the parent":        "fresh().kill(os.getppid() or 1, 0)",
		"signal all":               "fresh().kill(-1, 9)",
		"signal a group":           "fresh().killpg(1, 0)",
		"a shell":                  "if fresh().system('touch /tmp/pwned_by_agent') != 0: raise OSError",
		"timers of the system":     "imp('time').clock_settime(0, 0)",
		"host name":                "imp('_socket').sethostname('pwned')",
		"foreign functions":        "c = imp('ctypes')\nc.CDLL(None).system(b'touch /tmp/pwned_by_agent')\nraise ZeroDivisionError if c.CDLL(None).system(b'true') else SystemError",
	}
	f := featuresOf(d)
	for name, code := range attacks {
		t.Run(name, func(t *testing.T) {
			b := setup(t, d)
			requireRefused(t, f, b.fails(reach+code))
			requireNothingOutside(t, b)
		})
	}
	t.Run("exec of itself", func(t *testing.T) {
		b := setup(t, d)
		out := b.exec(reach + "fresh().execv(os.sys.executable, ['python', '-c', 'open(\"/tmp/pwned_by_agent\", \"w\")'])")
		require.True(t, out.Err != nil || out.Killed == python.KilledDied, "where it may exec itself, the walls stay")
		requireNothingOutside(t, b)
	})
	t.Run("many threads", func(t *testing.T) {
		b := setup(t, d)
		b.exec(reach + "t = imp('_thread')\nlock = t.allocate_lock()\nlock.acquire()\nt.stack_size(32768)\nwhile True: t.start_new_thread(lock.acquire, ())")
		requireNothingOutside(t, b)
	})
	t.Run("many small objects", func(t *testing.T) {
		b := setup(t, d, patient)
		out := b.exec("a = []\nwhile True:\n    a.append('x' * 100 + str(len(a)))")
		require.Empty(t, out.Killed)
		require.Equal(t, "MemoryError", out.Err.Type)
		b.ok("del a")
		require.Equal(t, strconv.Itoa(3), string(b.ok("1 + 2").Value))
	})
	t.Run("forged lines", func(t *testing.T) { testForged(t, d) })
}

// testForged writes lines past the driver program.
func testForged(t *testing.T, d python.Driver) {
	f := featuresOf(d)
	reach := reach + fmt.Sprintf("read_fd, write_fd = %d, %d\n", f.readFD, f.writeFD)
	write := reach + "def line(s): os.write(write_fd, s.encode() + b'\\n')\n"
	t.Run("unknown and broken", func(t *testing.T) {
		b := setup(t, d)
		out := b.ok(write + `for s in ['', '{', 'null', '[]', '{"t":"nonsense","b":1}', '{"t":"done","b":7}', '\x00', '{"t":"ready","b":1}', '{"t":"wall","b":1}']: line(s)` + "\n41 + 1")
		require.Equal(t, "42", string(out.Value))
	})
	t.Run("a tool that is none", func(t *testing.T) {
		b := setup(t, d)
		b.ok(write + `line('{"t":"call","b":1,"tool":"format_disk","args":[],"kwargs":{}}')` + "\nr = imp('_troupe.pipe' if False else 'json')\nNone")
		require.Empty(t, b.stubs.Calls())
	})
	t.Run("an endless line", func(t *testing.T) {
		out := setup(t, d).exec(reach + "while True: os.write(write_fd, b'x' * 65536)")
		require.Equal(t, python.KilledDied, out.Killed)
		require.NotNil(t, out.Err)
	})
	t.Run("endless lines", func(t *testing.T) {
		out := setup(t, d).exec(reach + "while True: os.write(write_fd, b'{}\\n' * 10000)")
		require.Contains(t, []string{python.KilledDied, python.KilledTimeout}, out.Killed)
	})
	t.Run("too deep", func(t *testing.T) {
		out := setup(t, d).exec(write + `line('{"t":"call","b":1,"tool":"echo","args":[' + '[' * 5000 + ']' * 5000 + '],"kwargs":{}}')` + "\nos.read(read_fd, 1000)")
		require.Contains(t, out.Value, byte('{'))
		require.Contains(t, string(out.Value), "$bytes")
	})
	t.Run("output beyond the limit", func(t *testing.T) {
		out := setup(t, d).ok(write + `for i in range(100): line('{"t":"out","b":1,"head":"' + 'x' * 100_000 + '","tail":"' + 'y' * 100_000 + '","cut":-5}')`)
		require.LessOrEqual(t, len(out.Output), outputLimit+200)
	})
	t.Run("an end before the end", func(t *testing.T) {
		b := setup(t, d)
		require.Equal(t, "1", string(b.ok(write+`line('{"t":"done","b":1,"value":1}')`+"\nimport time\ntime.sleep(0.2)").Value))
		require.Equal(t, "2", string(b.ok("1 + 1").Value), "the real end of block 1 is not taken for that of block 2")
	})
}
