package pythontest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/messages"
)

// features say in what a level's interpreters differ by nature. Nothing here
// lets a level do less than its walls have to.
type features struct {
	threads bool // there are some
	deepC   bool // Python lets its C code call itself thousands of times
	system  bool // it has an operating system: functions that reach it exist
	wide    bool // sizes have 64 bits

	readFD, writeFD int // of the driver program's pipes
}

// featuresOf gives those of a driver's level.
func featuresOf(d python.Driver) features {
	if d.Describe().Level == messages.SandboxWasm {
		return features{readFD: 0, writeFD: 1}
	}
	return features{threads: true, deepC: true, system: true, wide: true, readFD: 3, writeFD: 4}
}

// patient gives time to code whose work takes a slow level longer than the
// suite's limit, and which the limit is not about.
func patient(s *python.Spec) { s.Timeout = time.Minute }

// requireRefused checks that an attack came to nothing because of a wall, not
// because it is badly written. Where there is no operating system, what it
// needs may not exist.
func requireRefused(t testing.TB, f features, e *messages.PyError) {
	broken := []string{"NameError", "TypeError", "SyntaxError"}
	if f.system {
		broken = append(broken, "AttributeError", "ModuleNotFoundError")
	}
	require.NotContains(t, broken, e.Type, "the attack itself is broken: %s", e.Message)
}
