package local

import (
	"errors"
	"log/slog"

	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/actors/python/pool"
	"github.com/troupe-go/troupe/messages"
)

// Config says how a Driver works. CacheDir is required.
type Config struct {
	// CacheDir is where the interpreter is unpacked. It is made with mode 0700
	// and must belong to the user that runs the process.
	CacheDir string
	// Sandbox: Unsafe goes on where required walls are missing, for harmless
	// programs only. Limits come with each interpreter's Spec.
	Sandbox messages.SandboxConfig
	// AllowMissing is Unsafe for a caller that runs its own code: the demo.
	AllowMissing bool
	// Warm is how many interpreters are kept started, so that a block need not
	// wait for a start. Each takes some 10 MB. Default 0.
	Warm int
	// Logger says, once, which walls are missing. Default: discards.
	Logger *slog.Logger

	bare    bool     // no walls at all: the floor that benchmarks compare with
	without []string // walls that tests do without
}

func (c Config) withDefaults() (Config, error) {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.CacheDir == "" {
		return c, errCache.With(errors.New("no folder was given"))
	}
	return c, nil
}

func (c Config) mayMiss() bool { return c.Sandbox.Unsafe || c.AllowMissing || c.bare }

// The faults of the level.
var (
	// ErrWallMissing: a required wall can't be put up here.
	ErrWallMissing = &messages.Fault{
		Code: "sandbox_wall_missing", Class: messages.Permanent,
		EN: "sandbox level local needs the wall %s, which is missing: %s. %s; or, for code you trust only, sandbox.unsafe to true",
		ZH: "沙箱级别 local 需要防护墙 %s，但它缺失：%s。%s；或仅对可信代码将 sandbox.unsafe 设为 true",
	}
	errCache = &messages.Fault{
		Code: "sandbox_cache", Class: messages.Permanent,
		EN: "the Python interpreter could not be unpacked into its cache folder; make the folder writable or choose another one",
		ZH: "无法将 Python 解释器解包到缓存目录；请使该目录可写，或另选目录",
	}
	errLibc = &messages.Fault{
		Code: "sandbox_no_glibc", Class: messages.Permanent,
		EN: "sandbox level local needs the system's glibc, which was not found (musl, scratch and static images have none); use an image with glibc",
		ZH: "沙箱级别 local 需要系统的 glibc，但未找到（musl、scratch 和 static 镜像没有）；请使用带 glibc 的镜像",
	}
	errStart = &messages.Fault{
		Code: "sandbox_start_failed", Class: messages.Transient, Retryable: true,
		EN: "the Python interpreter did not start", ZH: "Python 解释器未能启动",
	}
	errClosed = pool.ErrClosed
)

func missingFault(w python.Wall) *messages.Fault {
	return ErrWallMissing.Withf(w.Name, w.Why, w.Advice)
}
