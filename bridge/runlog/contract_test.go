package runlog_test

import (
	"context"
	"iter"
	"testing"

	"github.com/troupe-go/troupe/bridge/runlog"
	"github.com/troupe-go/troupe/bridge/runlog/storetest"
	"github.com/troupe-go/troupe/messages"
)

func openMemory(*testing.T) runlog.Store { return runlog.NewMemory(runlog.MemoryConfig{}) }

// remote hides that a Memory is Local: journals use goroutines over it.
type remote struct{ store *runlog.Memory }

func openRemote(*testing.T) runlog.Store {
	return &remote{runlog.NewMemory(runlog.MemoryConfig{})}
}

func (r *remote) Append(ctx context.Context, inv runlog.Invocation, expected uint64, rec *runlog.Frozen) (uint64, error) {
	return r.store.Append(ctx, inv, expected, rec)
}

func (r *remote) Read(ctx context.Context, inv runlog.Invocation, from uint64) ([]runlog.Stored, error) {
	return r.store.Read(ctx, inv, from)
}

func (r *remote) Publish(ctx context.Context, inv runlog.Invocation, events []*messages.Event) (int, error) {
	return r.store.Publish(ctx, inv, events)
}

func (r *remote) Subscribe(ctx context.Context, run string, from uint64) iter.Seq2[messages.Event, error] {
	return r.store.Subscribe(ctx, run, from)
}

func (r *remote) PutBlob(ctx context.Context, inv runlog.Invocation, data []byte) (string, error) {
	return r.store.PutBlob(ctx, inv, data)
}

func (r *remote) GetBlob(ctx context.Context, inv runlog.Invocation, hash string) ([]byte, error) {
	return r.store.GetBlob(ctx, inv, hash)
}

func TestStoreContract(t *testing.T) {
	t.Run("memory", func(t *testing.T) { storetest.Run(t, openMemory) })
}

func TestLogContract(t *testing.T) {
	t.Run("memory", func(t *testing.T) { storetest.RunLog(t, openMemory) })
	t.Run("memory with goroutines", func(t *testing.T) { storetest.RunLog(t, openRemote) })
}
