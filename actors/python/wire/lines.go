package wire

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"time"
)

// Bounds of what a guest may send. The driver program stays far below them.
const (
	maxLine      = 32 << 20 // bytes of one line
	linesAtOnce  = 10_000   // of a block, calls not counted
	linesASecond = 10_000
	bytesAtOnce  = 64 << 20
	bytesASecond = 4 << 20
)

// errBroken says that the guest doesn't keep to the protocol's bounds.
var errBroken = errors.New("the interpreter broke the protocol")

// errDriver says that code broke the driver program it runs in.
var errDriver = errors.New("the code broke the interpreter it runs in")

// lines reads a guest's lines within bounds.
type lines struct {
	r     *bufio.Reader
	long  []byte // a line longer than the buffer
	began time.Time
	count int64
	bytes int64
}

// begin starts a block's budget.
func (l *lines) begin() { l.began, l.count, l.bytes = time.Now(), 0, 0 }

// next gives a line, valid until the next call.
func (l *lines) next() ([]byte, error) {
	line, err := l.r.ReadSlice('\n')
	if err == nil {
		return line, nil
	}
	if !errors.Is(err, bufio.ErrBufferFull) {
		return nil, err
	}
	l.long = append(l.long[:0], line...)
	for errors.Is(err, bufio.ErrBufferFull) {
		line, err = l.r.ReadSlice('\n')
		if len(l.long)+len(line) > maxLine {
			return nil, fmt.Errorf("%w: a line of more than %d bytes", errBroken, maxLine)
		}
		l.long = append(l.long, line...)
	}
	if err != nil {
		return nil, err
	}
	return l.long, nil
}

// charge takes a line that was no call off the block's budget.
func (l *lines) charge(size int) error {
	l.count++
	l.bytes += int64(size)
	if l.count <= linesAtOnce && l.bytes <= bytesAtOnce {
		return nil
	}
	seconds := time.Since(l.began).Seconds()
	if float64(l.count) > linesAtOnce+linesASecond*seconds || float64(l.bytes) > bytesAtOnce+bytesASecond*seconds {
		return fmt.Errorf("%w: %d lines of %d bytes in one block", errBroken, l.count, l.bytes)
	}
	return nil
}

// release lets a long line's memory go.
func (l *lines) release() {
	if cap(l.long) > 1<<20 {
		l.long = nil
	}
}

func newLines(r io.Reader) *lines { return &lines{r: bufio.NewReaderSize(r, 64<<10)} }
