package troupe

import (
	"context"

	"github.com/troupe-go/troupe/actors/observer"
	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/bridge/runlog"
	"github.com/troupe-go/troupe/messages/fact"
	"github.com/troupe-go/troupe/supervisor"
)

// journals is the node's log as the supervisor needs it.
type journals struct{ log *runlog.Log }

func (j journals) Begin(ctx context.Context, run, invocation string, start *fact.RunStarted) (observer.Journal, error) {
	journal, err := j.log.Begin(ctx, run, invocation, start)
	if err != nil { // a nil *Journal must not become a non-nil interface
		return nil, err
	}
	return journal, nil
}

func (j journals) Adopt(ctx context.Context, run, invocation, cause, reason string) (*supervisor.Adoption, error) {
	a, err := j.log.Adopt(ctx, run, invocation, cause, reason)
	if err != nil {
		return nil, err
	}
	return &supervisor.Adoption{Journal: a.Journal, Records: a.Records, CrashCount: a.CrashCount, Finished: a.Finished}, nil
}

func (j journals) Blobs(run, invocation string) python.Blobs { return j.log.Blobs(run, invocation) }

func (j journals) Forget(run string) { j.log.Forget(run) }
