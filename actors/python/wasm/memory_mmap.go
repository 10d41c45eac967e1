//go:build linux || darwin || freebsd || netbsd || dragonfly

package wasm

import (
	"fmt"
	"sync/atomic"

	"github.com/tetratelabs/wazero/experimental"
	"golang.org/x/sys/unix"
)

// memory is an instance's linear memory: a reservation of address space of
// which the beginning is open. So it grows without a move, takes nothing that
// isn't touched, and goes back to the system at once, not when Go collects.
type memory struct {
	region []byte
	size   atomic.Uint64 // that is open; the guest's goroutine sets it
	limit  atomic.Uint64
	denied atomic.Bool // it was to grow beyond its limit
}

// newMemory reserves most bytes, of which the first limit may be used.
func newMemory(limit, most uint64) (*memory, error) {
	region, err := unix.Mmap(-1, 0, int(most), unix.PROT_NONE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil, fmt.Errorf("reserve %d bytes of address space: %w", most, err)
	}
	m := &memory{region: region}
	m.limit.Store(limit)
	return m, nil
}

// Allocate implements experimental.MemoryAllocator.
func (m *memory) Allocate(_, _ uint64) experimental.LinearMemory { return m }

// Reallocate implements experimental.LinearMemory. It gives nil beyond the
// limit, which the guest sees as a lack of memory.
func (m *memory) Reallocate(size uint64) []byte {
	if size > m.limit.Load() || size > uint64(len(m.region)) {
		m.denied.Store(true)
		return nil
	}
	if open := m.size.Load(); size > open {
		if err := unix.Mprotect(m.region[open:size], unix.PROT_READ|unix.PROT_WRITE); err != nil {
			m.denied.Store(true) // the system's own limit
			return nil
		}
		m.size.Store(size)
	}
	return m.region[:size:size]
}

// Free implements experimental.LinearMemory. It does nothing: a guest that
// exits frees its memory while its code is still on the stack.
func (m *memory) Free() {}

// release gives the memory back. No code of the guest may run any more.
func (m *memory) release() error {
	region := m.region
	m.region = nil
	if region == nil {
		return nil
	}
	return unix.Munmap(region)
}
