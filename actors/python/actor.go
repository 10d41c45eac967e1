package python

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/troupe-go/troupe/actors/python/slots"
	"github.com/troupe-go/troupe/actors/system"
	"github.com/troupe-go/troupe/messages"
)

// Config is what an executor actor works with.
type Config struct {
	Driver Driver
	Spec   Spec
	System *system.System
	// BlockTimeout bounds a whole block, what it waits for included; 0: none.
	BlockTimeout time.Duration
	// Slots bound the blocks that compute at a time on a node; nil: no bound.
	// Run is whose turn a block takes in their queue.
	Slots *slots.Slots
	Run   string
	// Blobs keep snapshots of variables; nil: none are taken.
	Blobs Blobs
	// RebuildLimit is the processor time that past blocks may cost when they
	// are run again; 0: DefaultRebuildLimit.
	RebuildLimit time.Duration
	// Metrics count rebuilds and waits for slots; nil: nobody counts.
	Metrics *Metrics
}

// Blobs keep bytes by their hash. Both methods may take their time.
type Blobs interface {
	PutBlob(ctx context.Context, data []byte) (hash string, err error)
	GetBlob(ctx context.Context, hash string) ([]byte, error)
}

// Producer makes executor actors. An agent spawns one as its child when its
// first block is to run.
//
// It takes *messages.Execute and *messages.CancelExecute from its parent, one
// block at a time, and answers its parent with exactly one *messages.Executed a
// block. In between, the parent gets a *messages.CallTool for each call that
// the code makes and answers it with *messages.ToolReturned; what comes late is
// ignored. A block that waits for a slot says so with one
// *messages.ExecutorBusy. The interpreter is started when first needed. One
// that is gone is replaced at the next block: the blocks that it builds on are
// run again (Execute.Past), with their calls answered from the log; variables
// that don't come back are in Executed.Lost.
//
// The pipe is served by one goroutine a block, with one cancel, which the actor
// owns: stopping it kills the interpreter.
func Producer(cfg Config) actor.Producer {
	return func() actor.Actor { return &executor{cfg: cfg} }
}

// executor owns an interpreter and the goroutine of the block it runs.
type executor struct {
	cfg   Config
	slot  *slot // of the interpreter; nil before the first block and after a loss
	block *block
}

// block is a block at work.
type block struct {
	id     uint64
	cancel context.CancelFunc
	calls  calls
	start  time.Time
}

// Receive is the table of messages to handlers.
func (e *executor) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *messages.Execute:
		e.execute(ctx, m)
	case *messages.ToolReturned:
		if e.block != nil && m.Block == e.block.id {
			e.block.calls.settle(m)
		}
	case *messages.CancelExecute:
		if e.block != nil && m.ID == e.block.id {
			e.block.cancel()
		}
	case *blockDone:
		e.done(ctx, m)
	case *actor.Stopping, *actor.Restarting:
		e.letGo()
	case *actor.Started, *actor.Stopped:
	default:
		system.Unknown(ctx)
	}
}

func (e *executor) execute(ctx actor.Context, m *messages.Execute) {
	if e.block != nil {
		ctx.Send(ctx.Parent(), &messages.Executed{ID: m.ID, Err: &messages.PyError{
			Type: "RuntimeError", Message: fmt.Sprintf("block %d still runs", e.block.id),
		}})
		return
	}
	if e.slot == nil {
		e.slot = &slot{}
	}
	ctxOfBlock, cancel := context.WithCancel(context.Background())
	self, root := ctx.Self(), e.cfg.System.Root()
	b := &block{id: m.ID, cancel: cancel, start: e.cfg.System.World().Now(),
		calls: calls{root: root, self: self, parent: ctx.Parent(), block: m.ID, step: m.Step}}
	e.block = b
	j := &job{cfg: &e.cfg, slot: e.slot, calls: &b.calls, m: m}
	e.cfg.System.Go(func() {
		defer cancel()
		root.Send(self, j.run(ctxOfBlock))
	})
}

// done reports the end of a block and lets go of an interpreter that is gone.
func (e *executor) done(ctx actor.Context, d *blockDone) {
	if e.block == nil || d.id != e.block.id {
		return
	}
	b := e.block
	e.block = nil
	out := &messages.Executed{ID: d.id, Lost: d.lost, Interrupted: d.interrupted, Snapshot: d.snapshot,
		Duration: e.cfg.System.World().Now().Sub(b.start)}
	if o := d.outcome; o != nil {
		out.Output, out.Printed, out.Value, out.Repr = o.Output, o.Printed, o.Value, o.Repr
		out.IsFinal, out.Final, out.FinalText = o.IsFinal, o.Final, o.FinalText
		out.Err, out.Killed, out.CPU, out.Unrepeatable = o.Err, o.Killed, o.CPU, o.Unrepeatable
		out.State = o.State
	}
	if d.err != nil {
		e.cfg.System.Logger().Error("a block has no outcome", "error", d.err)
		e.failed(out, d.err)
	}
	if out.Killed != "" {
		e.closeSlot()
	}
	ctx.Send(ctx.Parent(), out)
}

// failed says what became of a block that has no outcome.
func (e *executor) failed(out *messages.Executed, err error) {
	out.Killed = KilledDied
	var start *startError
	if errors.As(err, &start) {
		out.Fault = messages.AsFault(start.error)
	}
}

func (e *executor) letGo() {
	if e.block != nil {
		e.block.cancel()
	}
	e.closeSlot()
}

// closeSlot lets go of the interpreter. That takes a while when it holds much
// memory, so not in the actor's turn.
func (e *executor) closeSlot() {
	if e.slot != nil {
		e.cfg.System.Go(e.slot.close)
		e.slot = nil
	}
}
