package wasm

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"
)

// engine is the compiled interpreter and the compiled driver program.
type engine struct {
	cache   wazero.CompilationCache
	runtime wazero.Runtime
	code    wazero.CompiledModule
	driver  []byte // as boot.py takes it
}

// newEngine compiles, or takes what was compiled before from the cache folder.
// Processes that do so at the same time wait for each other.
func newEngine(ctx context.Context, cfg Config, progress func(Step)) (*engine, error) {
	unlock, err := lockCache(ctx, cfg.CacheDir)
	if err != nil {
		return nil, err
	}
	defer unlock()
	module, err := preparedModule(cfg.CacheDir, progress)
	if err != nil {
		return nil, err
	}
	progress(StepCompile)
	e, err := compile(ctx, cfg, module)
	if err != nil && ctx.Err() == nil { // what was compiled before may be damaged
		if failed := os.RemoveAll(compiledFolder(cfg.CacheDir)); failed != nil {
			return nil, errors.Join(err, failed)
		}
		e, err = compile(ctx, cfg, module)
	}
	if err != nil {
		return nil, err
	}
	if e.driver, err = preparedDriver(ctx, cfg.CacheDir, e); err != nil {
		return nil, errors.Join(err, e.close())
	}
	return e, nil
}

func compiledFolder(cacheDir string) string { return filepath.Join(cacheDir, "compiled") }

// compile makes machine code of the module. wazero keeps it by the module's
// hash, and checks what it finds.
func compile(ctx context.Context, cfg Config, module []byte) (_ *engine, err error) {
	e := &engine{}
	defer func() {
		if err != nil {
			err = errors.Join(err, e.close())
		}
	}()
	if e.cache, err = wazero.NewCompilationCacheWithDir(compiledFolder(cfg.CacheDir)); err != nil {
		return nil, err
	}
	always := context.Background() // the runtime outlives the call
	e.runtime = wazero.NewRuntimeWithConfig(always, wazero.NewRuntimeConfigCompiler().
		WithCompilationCache(e.cache).WithDebugInfoEnabled(false).WithMemoryLimitPages(uint32(cfg.memory()>>16)))
	if err := instantiateHost(always, e.runtime); err != nil {
		return nil, err
	}
	e.code, err = e.runtime.CompileModule(experimental.WithCompilationWorkers(ctx, runtime.GOMAXPROCS(0)), module)
	return e, err
}

func (e *engine) close() error {
	var errs []error
	if e.runtime != nil {
		errs = append(errs, e.runtime.Close(context.Background()))
	}
	if e.cache != nil {
		errs = append(errs, e.cache.Close(context.Background()))
	}
	return errors.Join(errs...)
}
