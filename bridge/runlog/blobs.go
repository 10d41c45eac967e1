package runlog

import "context"

// InvocationBlobs keeps values of one invocation that are too large for its
// facts. It is safe for concurrent use.
type InvocationBlobs struct {
	store Blobs
	inv   Invocation
}

// Blobs gives the blobs of an invocation; they live as long as its run.
func (l *Log) Blobs(run, invocation string) *InvocationBlobs {
	return &InvocationBlobs{store: l.store, inv: Invocation{Run: run, Invocation: invocation}}
}

// PutBlob stores data under its hash, SHA-256 in lower-case hexadecimal, and
// gives that. ErrTooLarge above MaxBlob.
func (b *InvocationBlobs) PutBlob(ctx context.Context, data []byte) (hash string, err error) {
	return b.store.PutBlob(ctx, b.inv, data)
}

// GetBlob gives the data, which the caller does not change. ErrNoBlob: it is
// not there.
func (b *InvocationBlobs) GetBlob(ctx context.Context, hash string) ([]byte, error) {
	return b.store.GetBlob(ctx, b.inv, hash)
}
