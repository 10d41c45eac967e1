//go:build !(linux || darwin || freebsd || netbsd || dragonfly)

package wasm

import (
	"sync/atomic"

	"github.com/tetratelabs/wazero/experimental"
)

// memory is an instance's linear memory, in Go's: it moves when it grows, and
// is given back when Go collects.
type memory struct {
	most   uint64
	bytes  []byte
	size   atomic.Uint64 // of bytes
	limit  atomic.Uint64
	denied atomic.Bool // it was to grow beyond its limit
}

// newMemory gives a memory of at most most bytes, of which the first limit may
// be used.
func newMemory(limit, most uint64) (*memory, error) {
	m := &memory{most: most}
	m.limit.Store(limit)
	return m, nil
}

// Allocate implements experimental.MemoryAllocator.
func (m *memory) Allocate(_, _ uint64) experimental.LinearMemory { return m }

// Reallocate implements experimental.LinearMemory. It gives nil beyond the
// limit, which the guest sees as a lack of memory.
func (m *memory) Reallocate(size uint64) []byte {
	if size > m.limit.Load() || size > m.most {
		m.denied.Store(true)
		return nil
	}
	if size > uint64(len(m.bytes)) {
		grown := make([]byte, size)
		copy(grown, m.bytes)
		m.bytes = grown
		m.size.Store(size)
	}
	return m.bytes[:size:size]
}

// Free implements experimental.LinearMemory.
func (m *memory) Free() {}

// release gives the memory back. No code of the guest may run any more.
func (m *memory) release() error {
	m.bytes = nil
	return nil
}
