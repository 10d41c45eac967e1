package python

import (
	"context"
	"time"

	"github.com/troupe-go/troupe/messages"
)

const (
	// snapshotAfter is the processor time since the last snapshot from which on
	// another is taken: what costs less is run again.
	snapshotAfter = 2 * time.Second
	// snapshotLimit bounds a snapshot, in bytes; larger variables are computed
	// again, within the limit for that.
	snapshotLimit = 16 << 20
	// snapshotTime bounds the taking and the keeping of one.
	snapshotTime = 30 * time.Second
)

// snapshot keeps the variables when the blocks since the last snapshot cost
// more than is worth doing again, or when this block can't be done again. nil:
// none was due, or it could not be had, which the log says.
func (j *job) snapshot(ctx context.Context, it Interpreter, d *blockDone) *messages.Snapshot {
	o := d.outcome
	if j.cfg.Blobs == nil || o.Killed != "" || o.IsFinal {
		return nil
	}
	cost := o.CPU
	for i := len(j.m.Past) - 1; i >= 0 && j.m.Past[i].Snapshot == nil; i-- {
		cost += j.m.Past[i].CPU
	}
	if cost < snapshotAfter && len(o.Unrepeatable) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, snapshotTime)
	defer cancel()
	state, err := it.Snapshot(ctx, snapshotLimit)
	if err == nil {
		var hash string
		if hash, err = j.cfg.Blobs.PutBlob(ctx, state.Data); err == nil {
			return &messages.Snapshot{Blob: hash, Bytes: len(state.Data), Missing: state.Missing}
		}
	}
	j.cfg.System.Logger().Warn("the variables of a block could not be kept; they are computed again when needed",
		"run", j.cfg.Run, "step", j.m.Step, "error", err)
	return nil
}
