package wasm

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/actors/python/guest"
	"github.com/troupe-go/troupe/actors/python/pool"
	"github.com/troupe-go/troupe/actors/python/wire"
	"github.com/troupe-go/troupe/messages"
)

// startTime bounds the start of an interpreter that is compiled already; it
// takes some 300 ms.
const startTime = 60 * time.Second

// Driver implements python.Driver. Close it.
type Driver struct {
	cfg    Config
	hash   string // of the driver program
	ctx    context.Context
	cancel context.CancelFunc
	pool   *pool.Pool
	token  chan struct{}  // held by whoever compiles
	work   sync.WaitGroup // the goroutines of all instances, and the first compilation

	mu     sync.Mutex
	engine *engine // once compiled
	live   map[*instance]struct{}
	closed bool
}

// New gives a Driver and begins to compile in the background what is not
// compiled yet, which takes seconds the first time. It returns ErrNotInstalled
// where Install did not run before, and ErrPlatform where wazero compiles
// nothing.
func New(cfg Config) (*Driver, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := supported(); err != nil {
		return nil, err
	}
	if _, err := Installed(cfg.CacheDir); err != nil {
		return nil, err
	}
	hash, err := guest.Hash()
	if err != nil {
		return nil, err
	}
	d := &Driver{cfg: cfg, hash: hash, token: make(chan struct{}, 1), live: map[*instance]struct{}{}}
	d.pool = pool.New(pool.Config{Launch: d.Launch, Size: cfg.Warm, Logger: cfg.Logger})
	d.ctx, d.cancel = context.WithCancel(context.Background())
	d.work.Go(func() {
		if err := d.Prepare(d.ctx); err != nil && d.ctx.Err() == nil {
			cfg.Logger.Warn("the Python interpreter could not be compiled; the next start tries again", "error", err)
		}
	})
	return d, nil
}

// Describe implements python.Driver.
func (d *Driver) Describe() python.Description {
	return python.Description{
		Level: messages.SandboxWasm, Version: "CPython " + pythonVersion, Hash: d.hash,
		Walls: []string{"webassembly", "memory", "time"},
	}
}

// Prepare waits until the interpreter is compiled, or compiles it, and begins
// to start those that are kept ready. Start does it too; call Prepare where the
// seconds it takes the first time shall not fall into a run.
func (d *Driver) Prepare(ctx context.Context) error {
	_, err := d.prepared(ctx)
	if err == nil {
		d.pool.Warm()
	}
	return err
}

func (d *Driver) prepared(ctx context.Context) (*engine, error) {
	select {
	case d.token <- struct{}{}:
		defer func() { <-d.token }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	d.mu.Lock()
	e, closed := d.engine, d.closed
	d.mu.Unlock()
	if closed {
		return nil, pool.ErrClosed
	}
	if e != nil {
		return e, nil
	}
	e, err := newEngine(ctx, d.cfg, func(Step) {})
	if err != nil {
		return nil, faultOr(errCache, err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, errors.Join(pool.ErrClosed, e.close())
	}
	d.engine = e
	return e, nil
}

// faultOr gives the fault that err is, or f because of err.
func faultOr(f *messages.Fault, err error) error {
	var fault *messages.Fault
	if errors.As(err, &fault) {
		return err
	}
	return f.With(err)
}

// Start implements python.Driver.
func (d *Driver) Start(ctx context.Context, spec python.Spec) (python.Interpreter, error) {
	return d.pool.Start(ctx, spec)
}

// Launch starts an interpreter that has no spec yet; ctx bounds the start
// only.
func (d *Driver) Launch(ctx context.Context) (pool.Warm, error) {
	e, err := d.prepared(ctx)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	i, err := d.launch(e)
	if err != nil {
		return nil, faultOr(errStart, err)
	}
	stop := context.AfterFunc(ctx, func() { i.Kill(python.KilledCancelled) })
	defer stop()
	session := wire.NewSession(i.messages, i.commands, i)
	_, err = i.commands.Write(e.driver)
	if err == nil {
		_, err = session.Greet()
	}
	if err != nil {
		i.Kill("")
		<-i.alive.Done()
		return nil, errStart.With(errors.Join(err, ctx.Err(), i.fault()))
	}
	return &warm{session, i}, nil
}

// launch starts an instance that is known to the driver from its first moment.
func (d *Driver) launch(e *engine) (*instance, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, pool.ErrClosed
	}
	i, err := newInstance(d.cfg.memory())
	if err != nil {
		return nil, err
	}
	d.live[i] = struct{}{}
	d.work.Go(func() {
		i.run(e.runtime, e.code, argv("boot.py"))
		d.mu.Lock()
		delete(d.live, i)
		d.mu.Unlock()
	})
	return i, nil
}

// Close ends every interpreter and the compilation, waits until all are gone,
// and lets go of the compiled code. Interpreters started before fail from now
// on.
func (d *Driver) Close() {
	d.cancel()
	d.pool.Close()
	d.mu.Lock()
	d.closed = true
	for i := range d.live {
		i.Kill(python.KilledCancelled)
	}
	d.mu.Unlock()
	d.work.Wait()
	d.mu.Lock()
	e := d.engine
	d.engine = nil
	d.mu.Unlock()
	if e == nil {
		return
	}
	if err := e.close(); err != nil {
		d.cfg.Logger.Warn("the compiled Python interpreter was not let go of", "error", err)
	}
}

// warm implements pool.Warm.
type warm struct {
	session  *wire.Session
	instance *instance
}

// Begin implements pool.Warm.
func (w *warm) Begin(ctx context.Context, spec python.Spec) (python.Interpreter, error) {
	stop := context.AfterFunc(ctx, func() { w.instance.Kill(python.KilledCancelled) })
	defer stop()
	w.instance.memory.limit.Store(uint64(max(spec.MemoryLimit, 0)))
	if err := w.session.Begin(spec); err != nil {
		w.Close()
		return nil, errStart.With(errors.Join(err, ctx.Err(), w.instance.fault()))
	}
	return &interpreter{w.session, w.instance}, nil
}

// Alive implements pool.Warm.
func (w *warm) Alive() context.Context { return w.instance.alive }

// Close implements pool.Warm.
func (w *warm) Close() { w.instance.close() }

// interpreter implements python.Interpreter.
type interpreter struct {
	*wire.Session
	instance *instance
}

// Close implements python.Interpreter: it ends the instance and waits until it
// is gone, which takes about a millisecond.
func (i *interpreter) Close() { i.instance.close() }

// Usage implements python.Measured.
func (i *interpreter) Usage() python.Usage { return i.instance.usage() }
