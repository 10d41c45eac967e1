//go:build !((linux || darwin) && (amd64 || arm64))

package local

import (
	"context"

	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/messages"
)

// Driver implements python.Driver; on this system there is none.
type Driver struct{}

var errSystem = &messages.Fault{
	Code: "sandbox_unsupported", Class: messages.Permanent,
	EN: "sandbox level local runs on Linux (and, unsafe, on macOS) with amd64 or arm64; run it on such a system",
	ZH: "沙箱级别 local 仅支持 amd64 或 arm64 的 Linux（macOS 仅限 unsafe）；请在这样的系统上运行",
}

// New gives a fault that names what to use instead.
func New(Config) (*Driver, error) { return nil, errSystem }

// Describe implements python.Driver.
func (*Driver) Describe() python.Description {
	return python.Description{Level: messages.SandboxLocal}
}

// Prepare gives the fault of New.
func (*Driver) Prepare(context.Context) error { return errSystem }

// Start gives the fault of New.
func (*Driver) Start(context.Context, python.Spec) (python.Interpreter, error) { return nil, errSystem }

// Close does nothing.
func (*Driver) Close() {}
