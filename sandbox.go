package troupe

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/actors/python/local"
	"github.com/troupe-go/troupe/actors/python/wasm"
	"github.com/troupe-go/troupe/messages"
)

// sandboxDriver is a driver that package troupe opened, and closes.
type sandboxDriver interface {
	python.Driver
	Close()
}

// openSandbox makes the driver of the configured level: that one or an error.
// Without a level it is the first of local and wasm that can be had.
func (p *planner) openSandbox(cfg Config) error {
	d, err := openLevel(p.defs.Sandbox, cfg)
	if err != nil {
		return err
	}
	p.driver = d
	p.closers = append(p.closers, func() error { d.Close(); return nil })
	return nil
}

func openLevel(sandbox messages.SandboxConfig, cfg Config) (sandboxDriver, error) {
	switch sandbox.Level {
	case messages.SandboxLocal:
		return openLocal(sandbox, cfg)
	case messages.SandboxWasm:
		return openWasm(sandbox, cfg)
	case "":
	default:
		return nil, errLevel.Withf(sandbox.Level)
	}
	return firstLevel(
		func() (sandboxDriver, error) { return openLocal(sandbox, cfg) },
		func() (sandboxDriver, error) { return openWasm(sandbox, cfg) })
}

// firstLevel gives level local, which is the faster one, where its walls stand;
// else level wasm.
func firstLevel(local, wasm func() (sandboxDriver, error)) (sandboxDriver, error) {
	d, first := local()
	if first == nil {
		return d, nil
	}
	d, second := wasm()
	if second == nil {
		return d, nil
	}
	return nil, noLevel(first, second)
}

// noLevel says why neither level can be had. What is to be done for local
// comes first; the level that needs no kernel's help is one command away.
func noLevel(first, second error) error {
	fault := messages.AsFault(first)
	if !errors.Is(second, wasm.ErrNotInstalled) {
		return errors.Join(fault, second)
	}
	return (&messages.Fault{Code: fault.Code, Class: fault.Class, Retryable: fault.Retryable,
		EN: fault.In(messages.EN) + "; or install the sandbox level that needs no walls of the kernel: troupe python install",
		ZH: fault.In(messages.ZH) + "；或安装不依赖内核防护墙的沙箱级别：troupe python install",
	}).With(fault.Cause)
}

func openLocal(sandbox messages.SandboxConfig, cfg Config) (sandboxDriver, error) {
	cache, err := cacheFolder(cfg.CacheDir)
	if err != nil {
		return nil, err
	}
	d, err := local.New(local.Config{
		CacheDir: filepath.Join(cache, "python"), Sandbox: sandbox, AllowMissing: cfg.AllowMissingWalls, Logger: cfg.Logger,
		Warm: warmOf(sandbox),
	})
	if err != nil {
		return nil, err // not d: a nil *Driver is no nil driver
	}
	return d, nil
}

func openWasm(sandbox messages.SandboxConfig, cfg Config) (sandboxDriver, error) {
	folder, err := PythonFolder(cfg.CacheDir)
	if err != nil {
		return nil, err
	}
	d, err := wasm.New(wasm.Config{CacheDir: folder, Sandbox: sandbox, Logger: cfg.Logger, Warm: warmOf(sandbox)})
	if err != nil {
		return nil, err // not d: a nil *Driver is no nil driver
	}
	return d, nil
}

// PythonFolder gives the folder in which the interpreter of sandbox level wasm
// is installed, for a Config's CacheDir; "" means its default.
func PythonFolder(cacheDir string) (string, error) {
	cache, err := cacheFolder(cacheDir)
	return filepath.Join(cache, "python-wasm"), err
}

// cacheFolder gives Config.CacheDir, or its default.
func cacheFolder(configured string) (string, error) {
	if configured != "" {
		return configured, nil
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", errCacheDir.With(err)
	}
	return filepath.Join(dir, "troupe"), nil
}

// sandbox gives the limits of a run: the node's and, where the run asks for
// less, that. A run never gets more than its node has, nor another level.
func (p *planner) sandbox(asked *messages.SandboxConfig) (messages.SandboxConfig, error) {
	s := python.Defaults(p.defs.Sandbox)
	if asked == nil {
		return s, nil
	}
	if l := asked.Level; l != "" && l != s.Level && l != p.driver.Describe().Level {
		return s, errLevel.Withf(l)
	}
	if asked.Unsafe && !s.Unsafe {
		return s, errUnsafe
	}
	s.MemoryLimitMB = lower(s.MemoryLimitMB, asked.MemoryLimitMB)
	s.TimeoutSeconds = lower(s.TimeoutSeconds, asked.TimeoutSeconds)
	s.BlockTimeout = lower(s.BlockTimeout, asked.BlockTimeout)
	s.RebuildLimit = lower(s.RebuildLimit, asked.RebuildLimit)
	s.OutputLimit = lower(s.OutputLimit, asked.OutputLimit)
	s.ObservationLimit = lower(s.ObservationLimit, asked.ObservationLimit)
	return python.Defaults(s), nil
}

// lower gives what is asked for, unless that is nothing or more than there is.
func lower[N ~int | ~int64 | ~float64](have, asked N) N {
	if asked > 0 && asked < have {
		return asked
	}
	return have
}

var (
	errLevel = &messages.Fault{Code: "sandbox_level", Class: messages.Permanent,
		EN: "sandbox level %q can't be had in this release; use local or wasm, or leave it out", ZH: "此版本不提供沙箱级别 %q；请使用 local 或 wasm，或不设置"}
	errUnsafe = &messages.Fault{Code: "sandbox_unsafe", Class: messages.Permanent,
		EN: "a run can't ask for an unsafe sandbox where its node's is safe; leave unsafe out", ZH: "节点沙箱为安全模式时，运行不能要求 unsafe；请移除该项"}
)
