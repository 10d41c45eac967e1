//go:build (linux || darwin) && (amd64 || arm64)

package local

import (
	"context"
	"errors"

	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/actors/python/wire"
)

// warm implements pool.Warm: a process that has greeted.
type warm struct {
	session *wire.Session
	process *process
	walls   walls // it was started behind
}

// Begin implements pool.Warm. The memory limit comes first: nothing of a spec
// reaches an interpreter that has none.
func (w *warm) Begin(ctx context.Context, spec python.Spec) (python.Interpreter, error) {
	stop := context.AfterFunc(ctx, func() { w.process.Kill(python.KilledCancelled) })
	err := w.process.limit(w.walls, spec.MemoryLimit)
	if err == nil {
		err = w.session.Begin(spec)
	}
	if !stop() { // it is being killed
		err = errors.Join(err, ctx.Err())
	}
	if err != nil {
		return nil, w.walls.fault(w.process.giveUp(err))
	}
	return &interpreter{w.session, w.process}, nil
}

// Alive implements pool.Warm.
func (w *warm) Alive() context.Context { return w.process.Alive() }

// Close implements pool.Warm.
func (w *warm) Close() { w.process.end() }

// interpreter implements python.Interpreter.
type interpreter struct {
	*wire.Session
	process *process
}

// Close implements python.Interpreter: it kills the process and waits until
// it is gone, which takes about a millisecond.
func (i *interpreter) Close() { i.process.end() }

// Usage implements python.Measured.
func (i *interpreter) Usage() python.Usage { return i.process.usage() }

// PID gives the process id, for those who watch the process from outside.
func (i *interpreter) PID() int { return i.process.pid }

// end kills the process and waits until it is gone.
func (p *process) end() {
	p.Kill(python.KilledCancelled)
	<-p.alive.Done()
	p.close()
}
