package wasm

import (
	"bytes"
	"io"
	"sync"
)

// pipeSize is how many bytes wait in a pipe before its writer does: as many
// as in an operating system's.
const pipeSize = 64 << 10

// pipe carries bytes one way between two goroutines.
type pipe struct {
	mu      sync.Mutex
	changed sync.Cond
	buffer  bytes.Buffer
	ended   bool
}

func newPipe() *pipe {
	p := &pipe{}
	p.changed.L = &p.mu
	return p
}

// Read waits for bytes, or for the end: what was written before comes first.
func (p *pipe) Read(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.buffer.Len() == 0 && !p.ended && len(b) > 0 {
		p.changed.Wait()
	}
	if p.buffer.Len() == 0 && len(b) > 0 {
		return 0, io.EOF
	}
	n, _ := p.buffer.Read(b) // EOF only where nothing was asked for
	p.changed.Broadcast()
	return n, nil
}

// Write waits until everything has found room, or for the end.
func (p *pipe) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	written := 0
	for {
		if p.ended {
			return written, io.ErrClosedPipe
		}
		n := min(len(b)-written, pipeSize-p.buffer.Len())
		p.buffer.Write(b[written : written+n])
		written += n
		if n > 0 {
			p.changed.Broadcast()
		}
		if written == len(b) {
			return written, nil
		}
		p.changed.Wait()
	}
}

// end lets nothing more in, and ends all waiting.
func (p *pipe) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	p.changed.Broadcast()
}

// limitedBuffer keeps the first bytes of what is written, up to its limit.
type limitedBuffer struct {
	mu    sync.Mutex
	limit int
	text  []byte
}

func (b *limitedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text = append(b.text, p[:min(len(p), b.limit-len(b.text))]...)
	return len(p), nil
}

func (b *limitedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return string(b.text)
}
