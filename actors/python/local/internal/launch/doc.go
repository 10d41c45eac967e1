// Package launch is the inner half of the local level: the code that runs in
// the re-executed binary, between fork and the interpreter. It puts up the
// walls around its own thread and then becomes Python.
//
// A binary that imports the package is its own launcher: when it is started
// with argv[0] = [Argv0], the package's init takes over and main never runs.
// That needs no other program and no file of ours on disk, and works in test
// binaries as well. The package imports little, so that its init comes early.
//
// What fails is written to the message pipe, as a line that package wire
// reads as a WallError; the launcher then exits and no code has run.
package launch

// Argv0 is the name a binary has to be started with to be a launcher.
const Argv0 = "troupe-python-launcher"

// The descriptors that a launcher is started with, beside the standard ones.
const (
	CommandFD  = 3 // the interpreter reads commands from it
	MessageFD  = 4 // the interpreter, and a launcher that fails, write to it
	LandlockFD = 5 // a Landlock ruleset, when Plan.Landlock is set
)

// The names of the walls, as they are reported.
const (
	WallLandlock   = "landlock"
	WallSeccomp    = "seccomp"
	WallNamespaces = "namespaces"
	WallRlimits    = "rlimits"
	WallPrivileges = "privileges" // no_new_privs, no capabilities
	WallExecOnce   = "exec_once"
	WallUser       = "user" // a root's code runs as nobody
)

// Plan says what a launcher does. It travels as JSON in argv[1].
type Plan struct {
	Exe    string   `json:"exe"`  // the interpreter
	Argv   []string `json:"argv"` // its arguments, argv[0] included
	Env    []string `json:"env"`
	Parent int      `json:"parent"` // the parent's process id, 0 inside a PID namespace
	CPU    uint64   `json:"cpu"`    // seconds of processor time in all
	Bare   bool     `json:"bare"`   // no walls at all: become Python at once
	Probe  bool     `json:"probe"`  // end at once: the start was all that was asked for
	// Rlimits and Privileges are left out only where somebody allowed that.
	Rlimits    bool `json:"rlimits"`
	Privileges bool `json:"privileges"`
	Seccomp    bool `json:"seccomp"`
	// ExecOnce lets the filter hand execve to a listener that goes away with
	// the first one.
	ExecOnce bool `json:"exec_once"`
	Landlock bool `json:"landlock"`
	// Root, when set, is a folder to mount a file system of its own on, which
	// shows nothing but Paths, read-only, and becomes "/".
	Root  string   `json:"root,omitempty"`
	Paths []string `json:"paths,omitempty"`
	// User, when set, is the user and group id to become, for a launcher that
	// was started as root of a user namespace which knows that id.
	User int `json:"user,omitempty"`
}
