package runlog

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"iter"
	"sync"

	"github.com/troupe-go/troupe/messages"
)

// MemoryConfig bounds what a Memory keeps.
type MemoryConfig struct {
	// KeepEvents of each run, the newest; default 65,536, far more than a run
	// has.
	KeepEvents int
	// KeepBytes of them, an event's struct and content counted; default 32 MiB,
	// which KeepEvents of streamed text take. The newest event is kept however
	// large it is.
	KeepBytes int
}

// Memory is a Store in memory, for library use, tests and benchmarks. It keeps
// every fact of a run, and its newest events, until Forget.
type Memory struct {
	keep  int
	bytes int

	mu   sync.RWMutex
	runs map[string]*memoryRun
}

var (
	_ Store     = (*Memory)(nil)
	_ Local     = (*Memory)(nil)
	_ Forgetter = (*Memory)(nil)
)

// NewMemory makes an empty store.
func NewMemory(cfg MemoryConfig) *Memory {
	if cfg.KeepEvents <= 0 {
		cfg.KeepEvents = 65536
	}
	if cfg.KeepBytes <= 0 {
		cfg.KeepBytes = 32 << 20
	}
	return &Memory{keep: cfg.KeepEvents, bytes: cfg.KeepBytes, runs: make(map[string]*memoryRun)}
}

// memoryRun is one run; its lock is held for moments only.
type memoryRun struct {
	mu     sync.Mutex
	root   *memoryLog            // the first invocation; most runs have no other
	others map[string]*memoryLog // by invocation
	events ring
	blobs  map[string][]byte
}

// memoryLog is one invocation: facts at positions from 1, and how far the
// events of each epoch are stored.
type memoryLog struct {
	invocation string
	facts      []*Frozen
	marks      []mark
}

// mark is the number of an epoch's last stored event. Owners publish in the
// order of the numbers, so that what is at or below it is stored, or will
// never be: nobody repeats it.
type mark struct{ epoch, n uint64 }

// Local implements Local.
func (s *Memory) Local() {}

func (s *Memory) run(id string) *memoryRun {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.runs[id]
}

func (s *Memory) runOrNew(id string) *memoryRun {
	if r := s.run(id); r != nil {
		return r
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.runs[id]
	if r == nil {
		r = &memoryRun{events: ring{keep: s.keep, bytes: s.bytes}}
		s.runs[id] = r
	}
	return r
}

// log gives an invocation's log, or nil.
func (r *memoryRun) log(invocation string) *memoryLog {
	if r.root != nil && r.root.invocation == invocation {
		return r.root
	}
	return r.others[invocation]
}

func (r *memoryRun) logOrNew(invocation string) *memoryLog {
	l := r.log(invocation)
	if l != nil {
		return l
	}
	l = &memoryLog{invocation: invocation}
	switch {
	case r.root == nil:
		r.root = l
	case r.others == nil:
		r.others = map[string]*memoryLog{invocation: l}
	default:
		r.others[invocation] = l
	}
	return l
}

// Append implements Store.
func (s *Memory) Append(_ context.Context, inv Invocation, expected uint64, rec *Frozen) (uint64, error) {
	var r *memoryRun
	if expected == 0 {
		r = s.runOrNew(inv.Run)
	} else if r = s.run(inv.Run); r == nil {
		return 0, messages.ErrUnknownRun.Withf(inv.Run)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.logOrNew(inv.Invocation)
	if uint64(len(l.facts)) != expected {
		return 0, ErrWrongSequence
	}
	l.facts = append(l.facts, rec)
	return expected + 1, nil
}

// Read implements Store.
func (s *Memory) Read(_ context.Context, inv Invocation, from uint64) ([]Stored, error) {
	r := s.run(inv.Run)
	if r == nil {
		return nil, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.log(inv.Invocation)
	from = max(from, 1)
	if l == nil || from > uint64(len(l.facts)) {
		return nil, nil
	}
	facts := l.facts[from-1:]
	records := make([]Stored, len(facts))
	for i, f := range facts {
		records[i] = Stored{Seq: from + uint64(i), Record: f}
	}
	return records, nil
}

// Publish implements Store. It keeps the events: nobody changes them.
func (s *Memory) Publish(_ context.Context, inv Invocation, events []*messages.Event) (int, error) {
	r := s.run(inv.Run)
	if r == nil {
		return 0, messages.ErrUnknownRun.Withf(inv.Run)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.logOrNew(inv.Invocation)
	for _, ev := range events {
		if l.isNew(ev.ID) {
			r.events.add(ev)
		}
	}
	return len(events), nil
}

// isNew reports whether an event is above its epoch's mark, and moves that.
func (l *memoryLog) isNew(id messages.EventID) bool {
	for i := len(l.marks) - 1; i >= 0; i-- {
		if m := &l.marks[i]; m.epoch == id.Epoch {
			higher := id.N > m.n
			m.n = max(m.n, id.N)
			return higher
		}
	}
	l.marks = append(l.marks, mark{id.Epoch, id.N})
	return true
}

// PutBlob implements Store. Blobs live as long as their run.
func (s *Memory) PutBlob(_ context.Context, inv Invocation, data []byte) (string, error) {
	if len(data) > MaxBlob {
		return "", ErrTooLarge
	}
	r := s.runOrNew(inv.Run)
	sum := sha256.Sum256(data)
	hash := hex.EncodeToString(sum[:])
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.blobs == nil {
		r.blobs = make(map[string][]byte)
	}
	if _, ok := r.blobs[hash]; !ok {
		r.blobs[hash] = append([]byte(nil), data...)
	}
	return hash, nil
}

// GetBlob implements Store.
func (s *Memory) GetBlob(_ context.Context, inv Invocation, hash string) ([]byte, error) {
	r := s.run(inv.Run)
	if r == nil {
		return nil, ErrNoBlob
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	data, ok := r.blobs[hash]
	if !ok {
		return nil, ErrNoBlob
	}
	return data, nil
}

// Forget implements Forgetter. Readers of the run end with ErrUnknownRun.
func (s *Memory) Forget(run string) {
	s.mu.Lock()
	r := s.runs[run]
	delete(s.runs, run)
	s.mu.Unlock()
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events.drop()
}

// Subscribe implements Store.
func (s *Memory) Subscribe(ctx context.Context, run string, from uint64) iter.Seq2[messages.Event, error] {
	return func(yield func(messages.Event, error) bool) {
		r := s.run(run)
		if r == nil {
			yield(messages.Event{}, messages.ErrUnknownRun.Withf(run))
			return
		}
		c := cursor{run: r, name: run, after: from}
		for c.more(ctx, yield) {
		}
	}
}
