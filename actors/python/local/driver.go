//go:build (linux || darwin) && (amd64 || arm64)

package local

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/actors/python/guest"
	"github.com/troupe-go/troupe/actors/python/pool"
	"github.com/troupe-go/troupe/actors/python/wire"
	"github.com/troupe-go/troupe/messages"
)

// startTime bounds the start of an interpreter that is unpacked already; it
// takes some 30 ms.
const startTime = 30 * time.Second

// noLimit is the memory limit of an interpreter that has no spec.
const noLimit = math.MaxInt64

// Driver implements python.Driver.
type Driver struct {
	cfg     Config
	hash    string // of the driver program
	starter *starter
	pool    *pool.Pool

	mu      sync.Mutex
	ready   *installation
	walls   walls
	proven  bool // an interpreter has started behind them
	live    map[*process]struct{}
	closed  bool
	gone    sync.WaitGroup // reapers
	install chan struct{}  // holds a token while somebody installs
}

// New checks the walls and gives a Driver. It returns ErrWallMissing, which
// names the wall, the reason and the way out, where a required one is missing
// and cfg doesn't say to go on. Nothing is unpacked or started yet.
func New(cfg Config) (*Driver, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	hash, err := guest.Hash()
	if err != nil {
		return nil, err
	}
	d := &Driver{cfg: cfg, hash: hash, live: map[*process]struct{}{}, install: make(chan struct{}, 1)}
	d.walls = findWalls(cfg)
	for _, name := range cfg.without {
		d.walls.drop(name, "a test does without", true)
	}
	for _, w := range d.walls.missing {
		if w.required && !cfg.mayMiss() {
			return nil, missingFault(w.Wall)
		}
		cfg.Logger.Warn("a sandbox wall is missing", "wall", w.Name, "why", w.Why, "advice", w.Advice)
	}
	d.starter = newStarter()
	d.pool = pool.New(pool.Config{Launch: d.begin, Size: cfg.Warm, Logger: cfg.Logger})
	return d, nil
}

// Describe implements python.Driver. Namespaces that turn out to be refused
// at the first start move from Walls to Missing.
func (d *Driver) Describe() python.Description {
	d.mu.Lock()
	defer d.mu.Unlock()
	desc := python.Description{
		Level:   messages.SandboxLocal,
		Version: "CPython " + pythonVersion,
		Hash:    d.hash,
		Walls:   slices.Clone(d.walls.standing),
	}
	for _, w := range d.walls.missing {
		desc.Missing = append(desc.Missing, w.Wall)
	}
	return desc
}

// Prepare unpacks and compiles the interpreter unless that was done before, and
// begins to start those that are kept ready. Start does it too; call Prepare
// where the seconds it takes the first time shall not fall into a run.
func (d *Driver) Prepare(ctx context.Context) error {
	_, err := d.prepared(ctx)
	if err == nil {
		d.pool.Warm()
	}
	return err
}

func (d *Driver) prepared(ctx context.Context) (*installation, error) {
	select {
	case d.install <- struct{}{}:
		defer func() { <-d.install }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	d.mu.Lock()
	ready := d.ready
	d.mu.Unlock()
	if ready != nil {
		return ready, nil
	}
	return d.use(ctx, false)
}

// use installs the interpreter for the starts to come; whole as for
// checkManifest. The caller holds the token.
func (d *Driver) use(ctx context.Context, whole bool) (*installation, error) {
	in, err := install(ctx, d.cfg.CacheDir, whole)
	if err != nil {
		return nil, faultOr(errCache, err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, errClosed
	}
	if err := d.walls.use(in); err != nil {
		return nil, faultOr(errStart, err)
	}
	d.ready = in
	return in, nil
}

// repair looks at the whole of an installation of which a start failed, and
// unpacks again what is damaged. It reports whether to try again.
func (d *Driver) repair(ctx context.Context, failed *installation) (bool, error) {
	select {
	case d.install <- struct{}{}:
		defer func() { <-d.install }()
	case <-ctx.Done():
		return false, ctx.Err()
	}
	d.mu.Lock()
	repaired := d.ready != failed // by another start
	d.mu.Unlock()
	if repaired {
		return true, nil
	}
	damage := failed.damage(true)
	if damage == nil {
		return false, nil
	}
	d.cfg.Logger.Warn("the unpacked Python interpreter is damaged and is unpacked again", "error", damage)
	_, err := d.use(ctx, true)
	return err == nil, err
}

// faultOr gives the fault that err is, or f because of err.
func faultOr(f *messages.Fault, err error) error {
	var fault *messages.Fault
	if errors.As(err, &fault) {
		return err
	}
	return f.With(err)
}

// Start implements python.Driver: an interpreter that was kept ready, or a new
// one.
func (d *Driver) Start(ctx context.Context, spec python.Spec) (python.Interpreter, error) {
	return d.pool.Start(ctx, spec)
}

// begin starts an interpreter that has no spec yet, behind all the walls that
// can be had.
func (d *Driver) begin(ctx context.Context) (pool.Warm, error) {
	if _, err := d.prepared(ctx); err != nil {
		return nil, err
	}
	for repaired := false; ; {
		w, with, err := d.start(ctx)
		if err == nil {
			d.prove()
			return w, nil
		}
		var refused *wire.WallError
		if errors.As(err, &refused) && d.drop(refused) {
			continue
		}
		if repaired || ctx.Err() != nil || errors.Is(err, errClosed) {
			return nil, with.walls.fault(err)
		}
		again, failed := d.repair(ctx, with.in)
		if !again {
			return nil, errors.Join(failed, with.walls.fault(err))
		}
		repaired = true
	}
}

// started is what an interpreter was started with.
type started struct {
	in    *installation
	walls walls
}

// prove remembers that the walls work here.
func (d *Driver) prove() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.proven = true
}

// drop gives up a wall that turned out not to work, and reports whether to
// try again without it. One that has worked before is not given up.
func (d *Driver) drop(refused *wire.WallError) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.proven {
		return false
	}
	w, ok := d.walls.drop(refused.Name, refused.Why, d.cfg.mayMiss())
	if ok {
		d.cfg.Logger.Warn("a sandbox wall is missing", "wall", w.Name, "why", w.Why, "advice", w.Advice)
	}
	return ok
}

// start starts one process and waits for its greeting.
func (d *Driver) start(ctx context.Context) (*warm, started, error) {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	p, with, err := d.launch()
	if err != nil {
		return nil, with, err
	}
	stop := context.AfterFunc(ctx, func() { p.Kill(python.KilledCancelled) })
	defer stop()
	session := wire.NewSession(p.messages, p.commands, p)
	if _, err = session.Greet(); err == nil {
		err = p.limit(with.walls, noLimit) // a wall that can't be put up is known here, and not when a run waits
	}
	if err != nil {
		return nil, with, errors.Join(p.giveUp(err), ctx.Err())
	}
	return &warm{session: session, process: p, walls: with.walls}, with, nil
}

// launch starts a process that is known to the driver from its first moment.
func (d *Driver) launch() (*process, started, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	with := started{d.ready, d.walls}
	if d.closed {
		return nil, with, errClosed
	}
	p, err := newProcess(d.starter, with.in, with.walls)
	if err != nil {
		return nil, with, err
	}
	d.live[p] = struct{}{}
	d.gone.Go(func() {
		p.reap()
		d.mu.Lock()
		delete(d.live, p)
		d.mu.Unlock()
	})
	return p, with, nil
}

// Close kills every interpreter, waits until all are gone, and ends the
// driver's goroutines. Interpreters started before fail from now on.
func (d *Driver) Close() {
	d.pool.Close()
	d.mu.Lock()
	d.closed = true
	for p := range d.live {
		p.Kill(python.KilledCancelled)
	}
	d.mu.Unlock()
	d.gone.Wait()
	d.starter.close()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.walls.close()
}
