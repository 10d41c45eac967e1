package python

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/troupe-go/troupe/messages"
	"github.com/troupe-go/troupe/messages/fact"
)

// DefaultRebuildLimit is the processor time that past blocks may cost when
// they are run again.
const DefaultRebuildLimit = 30 * time.Second

// rebuild brings the variables of blocks that ended into a new interpreter
// (DESIGN §5, take-over): from the last snapshot, or from nothing, it runs the
// blocks again with their calls answered from the log. Nothing is called.
type rebuild struct {
	it    Interpreter
	past  []messages.PastBlock
	blobs Blobs
	limit time.Duration
}

// run gives what could not be brought back; nil: all is there. With names, all
// else is there; without, the interpreter is of no more use.
func (r *rebuild) run(ctx context.Context) *messages.LostVariables {
	from, lost := r.plan()
	if lost != nil && lost.Names == nil {
		return lost
	}
	if from > 0 {
		if failed := r.restore(ctx, &r.past[from-1]); failed != nil {
			return failed
		}
	}
	for i := from; i < len(r.past); i++ {
		if failed := r.again(ctx, &r.past[i], lost == nil); failed != nil {
			return failed
		}
	}
	return lost
}

// plan decides with which block to begin: the first, or the one behind a
// snapshot. A whole one is as good as running all again, and faster. One with
// names missing is for when that can't be done.
func (r *rebuild) plan() (from int, lost *messages.LostVariables) {
	whole, any := r.behindSnapshot(true), r.behindSnapshot(false)
	reason, step := r.obstacle(whole)
	if reason == "" {
		return whole, nil
	}
	lost = &messages.LostVariables{Reason: reason, Step: step}
	if any > whole {
		if other, _ := r.obstacle(any); other == "" {
			lost.Names = r.past[any-1].Snapshot.Missing
			return any, lost
		}
	}
	return 0, lost
}

// behindSnapshot gives the index of the block behind the last snapshot, a whole
// one or any; 0: there is none.
func (r *rebuild) behindSnapshot(whole bool) int {
	for i := len(r.past) - 1; i >= 0; i-- {
		if s := r.past[i].Snapshot; s != nil && r.blobs != nil && !(whole && len(s.Missing) > 0) {
			return i + 1
		}
	}
	return 0
}

// obstacle says why the blocks from the given one on can't be run again; "":
// they can.
func (r *rebuild) obstacle(from int) (reason string, step int) {
	limit := r.limit
	if limit <= 0 {
		limit = DefaultRebuildLimit
	}
	var cost time.Duration
	for i := range r.past[from:] {
		b := &r.past[from+i]
		if len(b.Unrepeatable) > 0 {
			return messages.LostUnrepeatable, b.Step
		}
		if cost += b.CPU; cost > limit {
			return messages.LostCeiling, b.Step
		}
	}
	return "", 0
}

func (r *rebuild) restore(ctx context.Context, b *messages.PastBlock) *messages.LostVariables {
	data, err := r.blobs.GetBlob(ctx, b.Snapshot.Blob)
	if err == nil {
		err = r.it.Restore(ctx, data)
	}
	if err != nil {
		return &messages.LostVariables{Reason: messages.LostFailed, Step: b.Step, Detail: "the snapshot: " + err.Error()}
	}
	return nil
}

// again runs one block again and compares what came of it; what the variables
// hold only where all are there.
func (r *rebuild) again(ctx context.Context, b *messages.PastBlock, whole bool) *messages.LostVariables {
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	rec := &record{calls: b.Calls, end: cancel}
	out, err := r.it.Exec(inner, Block{Code: b.Code, Number: b.Step, Clock: b.Clock, Replay: true}, rec)
	if err != nil {
		return &messages.LostVariables{Reason: messages.LostFailed, Step: b.Step, Detail: err.Error()}
	}
	detail := rec.mismatch
	switch {
	case detail != "":
	case out.Killed != "":
		return &messages.LostVariables{Reason: messages.LostFailed, Step: b.Step, Detail: "killed: " + out.Killed}
	case rec.rest() != "":
		detail = rec.rest()
	case out.IsFinal:
		detail = "it called final_answer, which it had not"
	case errorClass(out.Err) != b.Err:
		detail = fmt.Sprintf("it ended with %q, not with %q", errorClass(out.Err), b.Err)
	case b.OutputHash != fact.HashOf([]byte(out.Output)):
		detail = "it printed something else"
	case whole && b.State != out.State:
		detail = "its variables hold something else"
	case !slices.Equal(out.Unrepeatable, b.Unrepeatable):
		detail = "it used " + strings.Join(out.Unrepeatable, ", ")
	}
	if detail != "" {
		return &messages.LostVariables{Reason: messages.LostDiverged, Step: b.Step, Detail: detail}
	}
	return nil
}

func errorClass(e *messages.PyError) string {
	if e == nil {
		return ""
	}
	return e.Type
}
