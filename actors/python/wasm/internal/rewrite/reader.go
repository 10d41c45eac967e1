package rewrite

import (
	"errors"
	"fmt"
)

// errShort says that a module ends in the middle of something.
var errShort = errors.New("the module ends too early")

// reader takes a module apart. It never reads past its bytes; after an error
// nothing else it gives is to be used.
type reader struct {
	b   []byte
	pos int
}

func (r *reader) left() int { return len(r.b) - r.pos }

func (r *reader) byte() (byte, error) {
	if r.left() < 1 {
		return 0, errShort
	}
	r.pos++
	return r.b[r.pos-1], nil
}

// take gives the next n bytes, not a copy.
func (r *reader) take(n uint32) ([]byte, error) {
	if uint64(n) > uint64(r.left()) {
		return nil, errShort
	}
	r.pos += int(n)
	return r.b[r.pos-int(n) : r.pos], nil
}

func (r *reader) skip(n uint32) error {
	_, err := r.take(n)
	return err
}

// u32 reads an unsigned number of at most 32 bits in LEB128.
func (r *reader) u32() (uint32, error) {
	var v uint64
	for shift := 0; shift < 35; shift += 7 {
		b, err := r.byte()
		if err != nil {
			return 0, err
		}
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			if v > 1<<32-1 {
				return 0, fmt.Errorf("a number of more than 32 bits at byte %d", r.pos)
			}
			return uint32(v), nil
		}
	}
	return 0, fmt.Errorf("a number of more than 5 bytes at byte %d", r.pos)
}

// number passes over a LEB128 number, of either sign, of at most size bytes.
func (r *reader) number(size int) error {
	for range size {
		b, err := r.byte()
		if err != nil || b < 0x80 {
			return err
		}
	}
	return fmt.Errorf("a number of more than %d bytes at byte %d", size, r.pos)
}

// block gives the bytes whose number comes before them.
func (r *reader) block() ([]byte, error) {
	n, err := r.u32()
	if err != nil {
		return nil, err
	}
	return r.take(n)
}

// appendU32 writes an unsigned number in LEB128.
func appendU32(b []byte, v uint32) []byte {
	for v >= 0x80 {
		b = append(b, byte(v)|0x80)
		v >>= 7
	}
	return append(b, byte(v))
}

// appendS32 writes a signed number in LEB128.
func appendS32(b []byte, v int32) []byte {
	for {
		low := byte(v) & 0x7f
		v >>= 7
		if (v == 0 && low&0x40 == 0) || (v == -1 && low&0x40 != 0) {
			return append(b, low)
		}
		b = append(b, low|0x80)
	}
}
