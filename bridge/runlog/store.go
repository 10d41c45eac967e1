package runlog

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/troupe-go/troupe/messages"
)

// Invocation names the log of one invocation. Run and Invocation are unique;
// Tenant tells a store where to keep it and may be empty when reading.
type Invocation struct{ Tenant, Run, Invocation string }

// Stored is a record with its position in the invocation's fact log.
type Stored struct {
	Seq    uint64
	Record *Frozen
}

// Store keeps facts, events and blobs. It is safe for concurrent use. A
// method may wait for the network, a few seconds at most, and returns early
// when ctx ends. Any error but those a method names means that it is not known
// what happened: the caller repeats the call.
//
// Package storetest checks everything that is said here.
type Store interface {
	Facts
	Events
	Blobs
}

// Facts is the part of a Store that keeps what owners append.
type Facts interface {
	// Append stores rec as the invocation's next record if the position of its
	// last one is expected (0: there is none) and gives rec's position, which
	// is above expected. The store keeps rec; nobody changes it.
	//
	// ErrWrongSequence: the last position is another one; rec itself may be
	// there already, from an earlier call. ErrUndecided: another append was in
	// flight; repeat. ErrRefused: this record can never be stored.
	Append(ctx context.Context, inv Invocation, expected uint64, rec *Frozen) (seq uint64, err error)
	// Read gives all records at or above position from, in order. It sees
	// every append that returned before it was called. No records is no error.
	// ErrRefused: a record is damaged, or of a schema that this code doesn't
	// know.
	Read(ctx context.Context, inv Invocation, from uint64) ([]Stored, error)
}

// Events is the part of a Store that keeps what people watch.
type Events interface {
	// Publish stores events of one invocation in the given order and says how
	// many of them, from the first, are stored. With fewer than all comes an
	// error; the caller goes back to the first that is not stored. An event
	// whose id is stored already counts as stored and is not stored twice, for
	// as long as an owner repeats itself (minutes at least). An event is never
	// stored while an earlier one of the same call is not. The events are not
	// kept longer than the call unless nobody changes them: nobody does.
	//
	// ErrUnknownRun: the run is gone, or never was.
	Publish(ctx context.Context, inv Invocation, events []*messages.Event) (stored int, err error)
	// Subscribe gives the run's stored events above position from, in order,
	// with Seq filled in: first those there are, then each as it is stored. It
	// ends after the run's last event (Event.Last), and at once when that is
	// at or below from. Positions rise, but need not be dense.
	//
	// An error value is *Missed, after which it goes on; or the last value:
	// ErrUnknownRun, ctx's error, or why the store can't go on. A ctx whose
	// cause is messages.ErrShutdown (the Log is closed) ends it when what is
	// stored has been given; any other end of ctx at once.
	Subscribe(ctx context.Context, run string, from uint64) iter.Seq2[messages.Event, error]
}

// Blobs is the part of a Store that keeps values too large for a record.
type Blobs interface {
	// PutBlob stores data under its hash (SHA-256, lower-case hexadecimal) and
	// gives that. Storing it again is no error. ErrTooLarge above MaxBlob.
	PutBlob(ctx context.Context, inv Invocation, data []byte) (hash string, err error)
	// GetBlob gives the data, which the caller does not change. ErrNoBlob: it
	// is not there.
	GetBlob(ctx context.Context, inv Invocation, hash string) ([]byte, error)
}

// Local marks a Store that waits for nothing but memory. A journal over it
// calls Append and Publish on its caller's goroutine, so that a step costs no
// goroutine.
type Local interface{ Local() }

// Forgetter is a Store that can drop a run.
type Forgetter interface{ Forget(run string) }

// MaxBlob is the largest blob in bytes (DESIGN §5: workspace files up to
// 32 MiB).
const MaxBlob = 32 << 20

// What a Store answers.
var (
	// ErrWrongSequence says that the log's last position is not the expected
	// one (JetStream's 10071).
	ErrWrongSequence = errors.New("the last sequence of the log is not the expected one")
	// ErrUndecided says that another append was in flight (JetStream's 10164).
	ErrUndecided = errors.New("another append to the log is in flight")
	// ErrRefused says that repeating can't help.
	ErrRefused = errors.New("the log refused for good")
	// ErrNoBlob says that no blob has this hash.
	ErrNoBlob = errors.New("no blob with this hash is stored")
	// ErrTooLarge says that a blob is larger than MaxBlob.
	ErrTooLarge = fmt.Errorf("a blob may have %d bytes at most: keep a larger file on its node", MaxBlob)
)
