// Package local is the sandbox level `local`: real CPython, which comes with
// the binary, in a child process behind walls that the binary puts up itself.
// It needs nothing installed but the system's C library (glibc).
//
// # Walls
//
// Landlock and seccomp are both required: with seccomp alone, code writes to
// temporary folders and reads the parent's environment; with Landlock alone,
// it sets the parent's limits and forks. Namespaces (user, mount, PID, IPC,
// UTS, network) are used where the kernel grants them; they alone hide which
// files exist. Root's code runs as nobody: as a root without capabilities it
// would be root to whoever asks for the number, and no limit of threads would
// hold for it. Without the namespaces that can't be, as the interpreter's files
// are root's; then, and for an ordinary user without them, threads are counted
// and the process is ended. Beside them: no_new_privs, no capabilities, limits of address
// space, processor time, open files and file size, a process group and a
// parent-death signal, an environment of three variables, no descriptor but
// two pipes. [Driver.Describe] says what stands. Where a required wall is
// missing [New] refuses, unless told to go on.
//
// # Cache
//
// The interpreter is unpacked and compiled once, into a folder of our own
// that nobody else may read; processes that start at the same time wait for
// each other. The first start takes seconds, later ones some 30 ms. A driver's
// first start compares the folder with the list made when it was unpacked, by
// size and mode; one that fails does so by content. What is damaged is
// unpacked again.
//
// # Kept ready
//
// With Config.Warm interpreters are kept that have started behind all walls and
// know no spec yet (package pool). What depends on the spec, the memory limit
// above all, is set when one is given out, from outside.
//
// # Time
//
// A block has two limits of one length: of the wall's clock, which stands
// still while its calls are out, and of processor time, which doesn't. Between
// blocks the process group is stopped: nothing that a block leaves runs on.
//
// # Concurrency
//
// A [Driver] may be used from any goroutine. Each interpreter has one
// goroutine, which reaps it; the driver has one, on a locked OS thread that
// starts all children, because the parent-death signal belongs to a thread, and
// another while it fills the pool. [Driver.Close] ends all of them.
package local
