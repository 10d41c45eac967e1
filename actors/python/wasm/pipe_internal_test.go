package wasm

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPipe(t *testing.T) {
	p := newPipe()
	sent := bytes.Repeat([]byte("0123456789"), pipeSize) // ten times what it holds
	written := make(chan error, 1)
	go func() {
		_, err := p.Write(sent)
		written <- err
	}()
	got := make([]byte, len(sent))
	_, err := io.ReadFull(p, got)
	require.NoError(t, err)
	require.NoError(t, <-written)
	require.Equal(t, sent, got)
	require.LessOrEqual(t, p.buffer.Cap(), 4*pipeSize)
}

func TestPipeEnds(t *testing.T) {
	p := newPipe()
	_, err := p.Write([]byte("left"))
	require.NoError(t, err)
	p.end()
	n, err := p.Write([]byte("late"))
	require.ErrorIs(t, err, io.ErrClosedPipe)
	require.Zero(t, n)
	got, err := io.ReadAll(p)
	require.NoError(t, err)
	require.Equal(t, "left", string(got), "what was written before comes first")
}

// An end ends those who wait.
func TestPipeEndsWaiting(t *testing.T) {
	full, empty := newPipe(), newPipe()
	_, err := full.Write(make([]byte, pipeSize))
	require.NoError(t, err)
	ends := make(chan error, 2)
	go func() {
		_, err := full.Write([]byte{1})
		ends <- err
	}()
	go func() {
		_, err := empty.Read(make([]byte, 1))
		ends <- err
	}()
	full.end()
	empty.end()
	require.ElementsMatch(t, []error{io.ErrClosedPipe, io.EOF}, []error{<-ends, <-ends})
}

func TestLimitedBuffer(t *testing.T) {
	b := limitedBuffer{limit: 5}
	for range 3 {
		n, err := b.Write([]byte("abc"))
		require.NoError(t, err)
		require.Equal(t, 3, n)
	}
	require.Equal(t, "abcab", b.String())
}

func TestMemory(t *testing.T) {
	m, err := newMemory(3<<16, 1<<30)
	require.NoError(t, err)
	first := m.Reallocate(1 << 16)
	require.Len(t, first, 1<<16)
	first[0] = 1
	grown := m.Reallocate(2 << 16)
	require.Len(t, grown, 2<<16)
	require.Equal(t, byte(1), grown[0])
	grown[len(grown)-1] = 1 // it is open
	require.False(t, m.denied.Load())
	require.Nil(t, m.Reallocate(4<<16), "beyond the limit")
	require.True(t, m.denied.Load())
	require.Equal(t, uint64(2<<16), m.size.Load())
	m.limit.Store(1 << 40)
	require.Nil(t, m.Reallocate(1<<31), "beyond the reservation")
	require.NoError(t, m.release())
	require.NoError(t, m.release())
}
