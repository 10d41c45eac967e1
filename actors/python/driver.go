// Package python is the executor actor: one Python interpreter an invocation,
// driven over a pipe, replaced when it dies.
package python

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/troupe-go/troupe/messages"
)

// Driver starts interpreters of one sandbox level.
type Driver interface {
	// Start starts an interpreter; ctx bounds the start only.
	Start(ctx context.Context, spec Spec) (Interpreter, error)
	// Describe gives the executor's kind, version and driver hash, for
	// run_started, and the walls that stand and those that are missing.
	Describe() Description
}

// Description says what an executor is and how well it is walled in.
type Description struct {
	Level   messages.SandboxLevel
	Version string   // of the interpreter, e.g. "CPython 3.14.6"
	Hash    string   // of the driver program
	Walls   []string // that stand: landlock, seccomp, namespaces, rlimits, …
	Missing []Wall   // that don't
}

// ID names the executor: variables can only be brought back in one of the same
// kind, version and driver program.
func (d Description) ID() string { return string(d.Level) + "/" + d.Version + "/" + d.Hash }

// Wall is one that is missing, why, and what to do.
type Wall struct{ Name, Why, Advice string }

// Spec says what an interpreter offers.
type Spec struct {
	Tools       []string      // callable names, in the namespace from the start and protected
	Imports     []string      // modules allowed beside the base set
	MemoryLimit int64         // bytes of address space
	Timeout     time.Duration // the interpreter's own time in one block
	OutputLimit int           // bytes a block may print
	Lang        string
	Seed        string // of all that is random in the interpreter; the same seed gives the same world
}

// Block is one piece of code to run.
type Block struct {
	Code   string
	Number int       // as people count blocks: tracebacks name it; 0: the interpreter counts itself
	Clock  time.Time // what the interpreter's clock shows at the start, unless it shows more
	// Replay runs code that ran before: sleeps and time-outs pass at once.
	Replay bool
}

// Host answers the calls that running code makes.
type Host interface {
	// Call runs one tool call and waits for it.
	Call(ctx context.Context, c Call) Result
}

// Result is what a call came to: a value in tagged JSON, or an error.
type Result struct {
	Value json.RawMessage
	Err   *messages.ToolError
	At    time.Time // what the interpreter's clock shows from then on, unless it shows more
}

// Call is one call of a tool by running code.
type Call struct {
	Ordinal uint64 // number in the block, from 1
	Tool    string
	Args    []json.RawMessage
	Kwargs  json.RawMessage // an object of tagged JSON, or nil
}

// ErrGone says that the interpreter had ended before a block began: the block
// did not run, and another interpreter has to be started.
var ErrGone = errors.New("the interpreter is gone")

// Interpreter runs blocks one after the other in one namespace. Exec is called
// by one goroutine at a time; Close may be called at any time, from any
// goroutine, twice: it kills the interpreter and all it started.
type Interpreter interface {
	// Exec runs a block to its end. A cancelled ctx kills the interpreter.
	// Outcome.Killed says when the interpreter is gone; the error is for what
	// has no outcome: ErrGone.
	Exec(ctx context.Context, b Block, host Host) (*Outcome, error)
	// Snapshot gives the variables in at most limit bytes, which only Restore
	// understands: they are the guest's, and hostile. It is called between
	// blocks, by Exec's caller. ErrNoSnapshot: they can't be kept. A cancelled
	// ctx kills the interpreter.
	Snapshot(ctx context.Context, limit int) (*State, error)
	// Restore puts a snapshot's variables into an interpreter that has run
	// nothing. After an error it is of no more use. A cancelled ctx kills it.
	Restore(ctx context.Context, data []byte) error
	Close()
}

// State is what an interpreter's variables come to.
type State struct {
	Data    []byte
	Missing []string // names of variables that are not in it, sorted
}

// NoSnapshots is for interpreters whose variables can't be kept.
type NoSnapshots struct{}

// Snapshot implements Interpreter.
func (NoSnapshots) Snapshot(context.Context, int) (*State, error) { return nil, ErrNoSnapshot }

// Restore implements Interpreter.
func (NoSnapshots) Restore(context.Context, []byte) error { return ErrNoSnapshot }

// ErrNoSnapshot says that an interpreter can't give its variables, and why;
// it goes on all the same unless it is gone.
var ErrNoSnapshot = errors.New("no snapshot of the variables")

// Outcome is how a block ended; fields as in messages.Executed.
type Outcome struct {
	Output    string
	Printed   int64
	Value     json.RawMessage
	Repr      string
	IsFinal   bool
	Final     json.RawMessage
	FinalText string
	Err       *messages.PyError
	Killed    string // "" | timeout | memory | died | cancelled
	CPU       time.Duration
	// Unrepeatable says what the block did that another run of it need not do
	// again: UsedThreads, UsedCPUTime.
	Unrepeatable []string
	// State marks what the variables hold: the same variables, the same mark. It
	// looks at plain values, the first some thousand of them.
	State string
}

// What makes a block unrepeatable.
const (
	UsedThreads = "threads"  // it started one
	UsedCPUTime = "cpu_time" // it read how long it computed
)

// How an interpreter went, in Outcome.Killed and messages.Executed.Killed.
const (
	KilledTimeout   = "timeout"   // it used up its time
	KilledMemory    = "memory"    // it used up its memory
	KilledDied      = "died"      // it ended by itself, or was ended from outside
	KilledCancelled = "cancelled" // a stop
)

// KilledBy gives the reason that an ended ctx stands for: its deadline is the
// ceiling of a block, everything else a stop.
func KilledBy(ctx context.Context) string {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return KilledTimeout
	}
	return KilledCancelled
}
