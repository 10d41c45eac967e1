//go:build linux && integration

// Package escape tries to get out of the sandbox, in every situation that a
// node may stand in, and watches from outside: files, processes, sockets,
// limits, memory. It needs to be root, as it becomes other users.
//
// Three kinds of attack run at every level: the hostile programs of the cases,
// with the guard of messages on and off; Python that goes past the guard to
// the C modules; and, at level local, a program in the interpreter's place,
// behind its walls, that makes system calls itself.
package escape

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain is also where this binary is something else than a test.
func TestMain(m *testing.M) {
	switch {
	case isRaw():
		serve()
	case len(os.Args) > 1 && os.Args[0] == situationArgv0:
		panic(become(os.Args[1], os.Args[2:]))
	default:
		goleak.VerifyTestMain(m)
	}
}
