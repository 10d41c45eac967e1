package supervisor

import (
	"context"

	"github.com/troupe-go/troupe/actors/agent"
	"github.com/troupe-go/troupe/actors/observer"
	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/messages"
	"github.com/troupe-go/troupe/messages/fact"
)

// Log is the node's log as the supervisor needs it. Both calls may block; they
// are made on goroutines that a run owns, and honour ctx.
type Log interface {
	// Begin writes run_started as an invocation's first fact; nothing is changed
	// in it from then on.
	Begin(ctx context.Context, run, invocation string, start *fact.RunStarted) (observer.Journal, error)
	// Adopt makes the caller the owner of an invocation from the next epoch on.
	Adopt(ctx context.Context, run, invocation, cause, reason string) (*Adoption, error)
	// Blobs keeps what is too large for an invocation's facts.
	Blobs(run, invocation string) python.Blobs
	// Forget drops what is kept of an ended run. It doesn't block.
	Forget(run string)
}

// Adoption is an invocation taken over.
type Adoption struct {
	Journal    observer.Journal
	Records    []*fact.Record
	CrashCount int
	Finished   *fact.RunFinished // set when it had ended: nothing is left to do
}

// Planner resolves a request to what runs it. Plan may block on files; an
// error is told to the caller and no run exists.
type Planner interface {
	Plan(ctx context.Context, run string, req *messages.RunAgent) (*Plan, error)
}

// Plan is what a run needs on this node.
type Plan struct {
	Equipment *agent.Equipment
	Start     *fact.RunStarted
	Task      agent.Task
	// Release lets go of what was made for the run, its files included; keep
	// says that its answer handed some of them over, which stay until the run
	// is forgotten. It may be called again, and blocks on files.
	Release func(keep bool)
}
