package rewrite

import "fmt"

// The opcodes that are treated in their own way.
const (
	opBlock        = 0x02
	opLoop         = 0x03
	opIf           = 0x04
	opEnd          = 0x0b
	opBrTable      = 0x0e
	opCall         = 0x10
	opCallIndirect = 0x11
	opDrop         = 0x1a
	opSelectTyped  = 0x1c
	opGlobalGet    = 0x23
	opGlobalSet    = 0x24
	opI32Const     = 0x41
	opI64Const     = 0x42
	opF32Const     = 0x43
	opF64Const     = 0x44
	opI32Eqz       = 0x45
	opI32Sub       = 0x6b
	opRefNull      = 0xd0
	opRefFunc      = 0xd2
	opPrefixed     = 0xfc
	typeVoid       = 0x40
	typeI32        = 0x7f
)

// body copies a function's body with probe at the head of each loop.
func body(code, probe []byte) (out []byte, loops int, err error) {
	r := &reader{b: code}
	if err := locals(r); err != nil {
		return nil, 0, err
	}
	from := 0
	for r.left() > 0 {
		op, err := r.byte()
		if err != nil {
			return nil, 0, err
		}
		if err := immediates(r, op); err != nil {
			return nil, 0, err
		}
		if op == opLoop {
			out = append(append(out, code[from:r.pos]...), probe...)
			from = r.pos
			loops++
		}
	}
	if len(code) == 0 || code[len(code)-1] != opEnd {
		return nil, 0, fmt.Errorf("a function that doesn't end")
	}
	return append(out, code[from:]...), loops, nil
}

// locals passes over the declarations before a body.
func locals(r *reader) error {
	n, err := r.u32()
	if err != nil {
		return err
	}
	for range n {
		if err := r.number(5); err != nil {
			return err
		}
		if err := r.skip(1); err != nil {
			return err
		}
	}
	return nil
}

// immediates passes over what belongs to an instruction. It knows those of
// WebAssembly 2.0 without vectors; anything else is an error.
func immediates(r *reader, op byte) error {
	switch {
	case op == opBlock || op == opLoop || op == opIf:
		return r.number(5) // a type, as a signed number of 33 bits
	case op == 0x0c || op == 0x0d || op == opCall || // br, br_if, call
		(op >= 0x20 && op <= 0x26) || // local, global and table, get and set
		op == 0x3f || op == 0x40 || // memory.size, memory.grow
		op == opI32Const || op == opRefFunc:
		return r.number(5)
	case op == opCallIndirect || (op >= 0x28 && op <= 0x3e): // loads and stores: alignment and offset
		return numbers(r, 2)
	case op == opI64Const:
		return r.number(10)
	case op == opF32Const:
		return r.skip(4)
	case op == opF64Const:
		return r.skip(8)
	case op == opRefNull:
		return r.skip(1)
	case op == opBrTable:
		n, err := r.u32()
		if err != nil {
			return err
		}
		return numbers(r, uint64(n)+1)
	case op == opSelectTyped:
		_, err := r.block()
		return err
	case op == opPrefixed:
		return prefixed(r)
	case op <= 0x01, op == 0x05, op == opEnd, op == 0x0f, op == opDrop, op == 0x1b, // unreachable, nop, else, end, return, drop, select
		op >= opI32Eqz && op <= 0xc4, // arithmetic
		op == 0xd1:                   // ref.is_null
		return nil
	}
	return fmt.Errorf("an instruction that isn't known here: 0x%02x", op)
}

// prefixed passes over an instruction of the second table.
func prefixed(r *reader) error {
	op, err := r.u32()
	if err != nil {
		return err
	}
	switch {
	case op <= 7: // conversions
		return nil
	case op == 8, op == 10, op == 12, op == 14: // init and copy
		return numbers(r, 2)
	case op == 9, op == 11, op == 13, op >= 15 && op <= 17: // drop, fill, table.grow, size, fill
		return numbers(r, 1)
	}
	return fmt.Errorf("an instruction that isn't known here: 0xfc %d", op)
}

func numbers(r *reader, n uint64) error {
	for range n {
		if err := r.number(5); err != nil {
			return err
		}
	}
	return nil
}
