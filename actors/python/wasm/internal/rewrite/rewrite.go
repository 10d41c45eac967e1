// Package rewrite makes a WebAssembly module one that its host can stop: at
// the head of each loop it counts down, and when the count is over it calls a
// function of the host's, which may come back, or not.
//
// The counter is a global that is added, so that nothing the module does to
// its memory reaches it. A count, and not a word that the host sets, because
// Go's garbage collector waits for goroutines that run compiled WebAssembly:
// meanwhile nobody could set the word. A module that calls its host every few
// microseconds is stopped, frozen and collected around like any Go code.
//
// The package trusts nothing in a module: what it doesn't know it refuses.
package rewrite

import (
	"bytes"
	"errors"
	"fmt"
)

// The sections that are treated in their own way.
const (
	sectionCustom = 0
	sectionType   = 1
	sectionImport = 2
	sectionMemory = 5
	sectionGlobal = 6
	sectionCode   = 10
)

// Options say how a module is changed.
type Options struct {
	// Module and Function name the import that is called: it takes nothing and
	// gives an i32, which is dropped.
	Module, Function string
	// Count is the number of loop heads between two calls, from 1.
	Count int32
	// Stack moves the stack of the module's C code behind its memory, where it
	// gets this many pages of 64 KiB. The module's first global is the stack
	// pointer, which begins at OldStack. 0: the stack stays.
	Stack, OldStack uint32
}

// page is the unit of a memory, in bytes; maxPages is what 32 bits address.
const (
	page     = 64 << 10
	maxPages = 1 << 16
)

// Stats says how many loops a module has, and its number of custom sections.
type Stats struct{ Loops, Stripped int }

var magic = []byte("\x00asm\x01\x00\x00\x00")

// Rewrite gives a copy of the module without custom sections and with the
// calls.
func Rewrite(module []byte, o Options) ([]byte, Stats, error) {
	var stats Stats
	if !bytes.HasPrefix(module, magic) {
		return nil, stats, errors.New("no WebAssembly module of version 1")
	}
	if o.Count < 1 {
		return nil, stats, errors.New("a count below 1")
	}
	w := &rewriter{options: o, callee: -1, out: append(make([]byte, 0, len(module)/2), magic...)}
	r := &reader{b: module, pos: len(magic)}
	for r.left() > 0 {
		id, err := r.byte()
		if err != nil {
			return nil, stats, err
		}
		content, err := r.block()
		if err != nil {
			return nil, stats, err
		}
		if err := w.section(id, content); err != nil {
			return nil, stats, fmt.Errorf("section %d: %w", id, err)
		}
	}
	if !w.complete {
		return nil, stats, errors.New("no code")
	}
	return w.out, w.stats, nil
}

type rewriter struct {
	options  Options
	types    [][]byte // as they are written
	callee   int64    // the function that is called, -1 when not found
	top      uint32   // end of the memory, in bytes; 0 before its section
	globals  uint32   // number of the module's own
	counter  bool     // the global is there
	complete bool     // the code is
	out      []byte
	stats    Stats
}

func (w *rewriter) section(id byte, content []byte) error {
	if id == sectionCustom {
		w.stats.Stripped++
		return nil
	}
	var err error
	switch id {
	case sectionType:
		err = w.readTypes(content)
	case sectionImport:
		err = w.readImports(content)
	case sectionMemory:
		content, err = w.extendMemory(content)
	case sectionGlobal:
		content, err = w.addCounter(content)
	case sectionCode:
		content, err = w.code(content)
	}
	if err != nil {
		return err
	}
	if uint64(len(content)) > 1<<32-1 {
		return errors.New("too large")
	}
	w.out = append(appendU32(append(w.out, id), uint32(len(content))), content...)
	return nil
}

// readTypes keeps the types of functions.
func (w *rewriter) readTypes(content []byte) error {
	r := &reader{b: content}
	n, err := r.u32()
	if err != nil {
		return err
	}
	for range n {
		from := r.pos
		if form, err := r.byte(); err != nil || form != 0x60 {
			return fmt.Errorf("a type of form 0x%02x: %w", form, err)
		}
		for range 2 { // parameters, results
			if _, err := r.block(); err != nil {
				return err
			}
		}
		w.types = append(w.types, content[from:r.pos])
	}
	return nil
}

// nothingToI32 is the type of the function that is called.
var nothingToI32 = []byte{0x60, 0, 1, typeI32}

func (w *rewriter) readImports(content []byte) error {
	r := &reader{b: content}
	n, err := r.u32()
	if err != nil {
		return err
	}
	var function int64
	for range n {
		module, err := r.block()
		if err != nil {
			return err
		}
		name, err := r.block()
		if err != nil {
			return err
		}
		kind, err := r.byte()
		if err != nil {
			return err
		}
		if kind != 0 { // a table, a memory or a global from outside
			return fmt.Errorf("an import of kind %d", kind)
		}
		typ, err := r.u32()
		if err != nil {
			return err
		}
		if string(module) == w.options.Module && string(name) == w.options.Function {
			if uint64(typ) >= uint64(len(w.types)) || !bytes.Equal(w.types[typ], nothingToI32) {
				return errors.New("the function to call is of another type")
			}
			w.callee = function
		}
		function++
	}
	return nil
}

// extendMemory adds the pages of the stack to those the memory begins with.
func (w *rewriter) extendMemory(content []byte) ([]byte, error) {
	if w.options.Stack == 0 {
		return content, nil
	}
	r := &reader{b: content}
	var head [3]uint32 // number of memories, flags, pages
	for i := range head {
		var err error
		if head[i], err = r.u32(); err != nil {
			return nil, err
		}
	}
	pages := uint64(head[2]) + uint64(w.options.Stack)
	if head[0] != 1 || head[1] != 0 || r.left() > 0 || pages >= maxPages {
		return nil, errors.New("a memory of another kind")
	}
	w.top = uint32(pages * page)
	return appendU32([]byte{1, 0}, uint32(pages)), nil
}

// moveStack gives the module's globals with the stack pointer at the end of
// the memory.
func (w *rewriter) moveStack(globals []byte) ([]byte, error) {
	if w.options.Stack == 0 {
		return globals, nil
	}
	old := append(appendS32([]byte{typeI32, 1, opI32Const}, int32(w.options.OldStack)), opEnd)
	if w.top == 0 || !bytes.HasPrefix(globals, old) {
		return nil, errors.New("the first global is not the stack pointer")
	}
	moved := append(appendS32([]byte{typeI32, 1, opI32Const}, int32(w.top)), opEnd)
	return append(moved, globals[len(old):]...), nil
}

// addCounter adds the counter behind the module's own globals.
func (w *rewriter) addCounter(content []byte) ([]byte, error) {
	r := &reader{b: content}
	n, err := r.u32()
	if err != nil {
		return nil, err
	}
	if n == 1<<32-1 {
		return nil, errors.New("too many globals")
	}
	w.globals, w.counter = n, true
	own, err := w.moveStack(content[r.pos:])
	if err != nil {
		return nil, err
	}
	out := append(appendU32(nil, n+1), own...)
	out = append(out, typeI32, 1, opI32Const)
	return append(appendS32(out, w.options.Count), opEnd), nil
}

// probe is what stands at the head of each loop.
func (w *rewriter) probe() []byte {
	p := appendU32([]byte{opGlobalGet}, w.globals)
	p = append(p, opI32Const, 1, opI32Sub, opGlobalSet)
	p = appendU32(p, w.globals)
	p = appendU32(append(p, opGlobalGet), w.globals)
	p = append(p, opI32Eqz, opIf, typeVoid, opCall)
	p = appendU32(p, uint32(w.callee))
	p = appendS32(append(p, opDrop, opI32Const), w.options.Count)
	p = appendU32(append(p, opGlobalSet), w.globals)
	return append(p, opEnd)
}

func (w *rewriter) code(content []byte) ([]byte, error) {
	if w.callee < 0 || !w.counter || w.complete {
		return nil, fmt.Errorf("%s.%s is not imported, or there is no global", w.options.Module, w.options.Function)
	}
	r := &reader{b: content}
	n, err := r.u32()
	if err != nil {
		return nil, err
	}
	probe := w.probe()
	out := appendU32(make([]byte, 0, len(content)+len(content)/8), n)
	for i := range n {
		function, err := r.block()
		if err != nil {
			return nil, err
		}
		function, loops, err := body(function, probe)
		if err != nil {
			return nil, fmt.Errorf("function %d: %w", i, err)
		}
		w.stats.Loops += loops
		out = append(appendU32(out, uint32(len(function))), function...)
	}
	w.complete = true
	return out, nil
}
