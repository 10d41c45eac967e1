package rewrite_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/troupe-go/troupe/actors/python/wasm/internal/rewrite"
)

var header = []byte("\x00asm\x01\x00\x00\x00")

// section writes a section of fewer than 128 bytes.
func section(id byte, content ...byte) []byte {
	return append([]byte{id, byte(len(content))}, content...)
}

// Parts of a module with one function, which adds up its argument's numbers:
// 3 + 2 + 1.
var (
	types   = section(1, 2, 0x60, 0, 1, 0x7f, 0x60, 1, 0x7f, 1, 0x7f)            // () i32, (i32) i32
	imports = section(2, 1, 3, 'e', 'n', 'v', 5, 'y', 'i', 'e', 'l', 'd', 0, 0)  // env.yield, of type 0
	funcs   = section(3, 1, 1)                                                   // one of type 1
	globals = section(6, 1, 0x7f, 1, 0x41, 7, 0x0b)                              // a global of its own: 7
	exports = section(7, 2, 3, 's', 'u', 'm', 0, 1, 4, 's', 'e', 'v', 'e', 3, 0) // its function, its global
	custom  = section(0, 4, 'n', 'o', 't', 'e', 1, 2, 3)
)

// sum is the body: locals, then a loop in a block.
var sum = []byte{
	1, 1, 0x7f, // a local
	0x02, 0x40, // block
	0x03, 0x40, // loop
	0x20, 0, 0x45, 0x0d, 1, // out when the argument is 0
	0x20, 1, 0x20, 0, 0x6a, 0x21, 1, // add
	0x20, 0, 0x41, 1, 0x6b, 0x21, 0, // count down
	0x0c, 0, // again
	0x0b, 0x0b,
	0x20, 1, // result
	0x0b,
}

// module puts one together from sections.
func module(sections ...[]byte) []byte {
	return append(slices.Clone(header), slices.Concat(sections...)...)
}

func codeOf(body []byte) []byte {
	return section(10, append([]byte{1, byte(len(body))}, body...)...)
}

func good() []byte {
	return module(custom, types, imports, funcs, globals, exports, codeOf(sum), custom)
}

func options(count int32) rewrite.Options {
	return rewrite.Options{Module: "env", Function: "yield", Count: count}
}

// run calls sum and gives its result, the module's own global, and the number
// of yields.
func run(t *testing.T, wasm []byte, n uint64) (result, global uint64, yields int) {
	ctx := context.Background()
	rt := wazero.NewRuntime(ctx)
	defer func() { require.NoError(t, rt.Close(ctx)) }()
	_, err := rt.NewHostModuleBuilder("env").NewFunctionBuilder().
		WithGoFunction(api.GoFunc(func(context.Context, []uint64) { yields++ }), nil, []api.ValueType{api.ValueTypeI32}).
		Export("yield").Instantiate(ctx)
	require.NoError(t, err)
	m, err := rt.Instantiate(ctx, wasm)
	require.NoError(t, err)
	out, err := m.ExportedFunction("sum").Call(ctx, n)
	require.NoError(t, err)
	return out[0], m.ExportedGlobal("seve").Get(), yields
}

func TestRewrite(t *testing.T) {
	for count, want := range map[int32]int{1: 1001, 10: 100, 1000: 1, 5000: 0} {
		wasm, stats, err := rewrite.Rewrite(good(), options(count))
		require.NoError(t, err)
		require.Equal(t, rewrite.Stats{Loops: 1, Stripped: 2}, stats)
		result, global, yields := run(t, wasm, 1000)
		require.Equal(t, uint64(500_500), result)
		require.Equal(t, uint64(7), global, "the module's own global is not touched")
		require.Equal(t, want, yields, "one for every %d of 1001 loop heads", count)
	}
}

// The stack pointer is moved behind the memory, which grows by the stack.
func TestStack(t *testing.T) {
	memory := section(5, 1, 0, 2)
	moved := options(1000)
	moved.Stack, moved.OldStack = 3, 7
	wasm, _, err := rewrite.Rewrite(module(types, imports, funcs, memory, globals, exports, codeOf(sum)), moved)
	require.NoError(t, err)
	_, pointer, _ := run(t, wasm, 10)
	require.Equal(t, uint64(5*64<<10), pointer)
	for name, wasm := range map[string][]byte{
		"no memory":            module(types, imports, funcs, globals, codeOf(sum)),
		"a memory with a most": module(types, imports, funcs, section(5, 1, 1, 2, 3), globals, codeOf(sum)),
		"two memories":         module(types, imports, funcs, section(5, 2, 0, 2, 0, 2), globals, codeOf(sum)),
		"half a memory":        module(types, imports, funcs, section(5, 1, 0), globals, codeOf(sum)),
		"a full memory":        module(types, imports, funcs, section(5, 1, 0, 0x80, 0x80, 4), globals, codeOf(sum)),
		"another pointer":      module(types, imports, funcs, memory, section(6, 1, 0x7f, 1, 0x41, 8, 0x0b), codeOf(sum)),
		"a constant":           module(types, imports, funcs, memory, section(6, 1, 0x7f, 0, 0x41, 7, 0x0b), codeOf(sum)),
	} {
		_, _, err := rewrite.Rewrite(wasm, moved)
		require.Error(t, err, name)
	}
}

func TestRefused(t *testing.T) {
	taken := []byte{0x7f}
	for name, wasm := range map[string][]byte{
		"nothing":               nil,
		"another version":       []byte("\x00asm\x02\x00\x00\x00"),
		"no code":               module(types, imports, funcs, globals),
		"half a section":        good()[:40],
		"a section that's long": append(module(), 1, 100, 1),
		"no such import":        module(types, funcs, globals, codeOf(sum)),
		"another type of it":    module(types, section(2, 1, 3, 'e', 'n', 'v', 5, 'y', 'i', 'e', 'l', 'd', 0, 1), funcs, globals, codeOf(sum)),
		"a type out of range":   module(types, section(2, 1, 3, 'e', 'n', 'v', 5, 'y', 'i', 'e', 'l', 'd', 0, 9), funcs, globals, codeOf(sum)),
		"an imported global":    module(types, section(2, 1, 3, 'e', 'n', 'v', 1, 'g', 3, 0x7f, 0), funcs, globals, codeOf(sum)),
		"no globals":            module(types, imports, funcs, codeOf(sum)),
		"code before globals":   module(types, imports, funcs, codeOf(sum), globals),
		"code twice":            module(types, imports, funcs, globals, codeOf(sum), codeOf(sum)),
		"a vector instruction":  module(types, imports, funcs, globals, codeOf([]byte{0, 0xfd, 0x0c, 0x0b})),
		"an unknown one":        module(types, imports, funcs, globals, codeOf([]byte{0, 0x27, 0x0b})),
		"an unknown prefixed":   module(types, imports, funcs, globals, codeOf([]byte{0, 0xfc, 18, 0x0b})),
		"a body without end":    module(types, imports, funcs, globals, codeOf([]byte{0, 0x01})),
		"an empty body":         module(types, imports, funcs, globals, codeOf(nil)),
		"half an instruction":   module(types, imports, funcs, globals, codeOf([]byte{0, 0x41, 0x80})),
		"a number too long":     module(types, imports, funcs, globals, codeOf([]byte{0, 0x41, 0x80, 0x80, 0x80, 0x80, 0x80, 0x0b})),
		"a huge table of jumps": module(types, imports, funcs, globals, codeOf([]byte{0, 0x0e, 0xff, 0xff, 0xff, 0xff, 0x0f, 0x0b})),
		"huge locals":           module(types, imports, funcs, globals, codeOf([]byte{0xff, 0xff, 0xff, 0xff, 0x0f, 0x0b})),
		"a huge number":         module(section(1, append([]byte{0xff, 0xff, 0xff, 0xff, 0x1f}, taken...)...)),
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := rewrite.Rewrite(wasm, options(10))
			require.Error(t, err)
		})
	}
	_, _, err := rewrite.Rewrite(good(), options(0))
	require.Error(t, err)
}

// Every beginning of a module is refused, not read past.
func TestCutOff(t *testing.T) {
	whole := module(types, imports, funcs, globals, exports, codeOf(sum))
	for n := range len(whole) {
		_, _, err := rewrite.Rewrite(whole[:n], options(10))
		require.Error(t, err, "%d bytes", n)
	}
}

// FuzzRewrite: whatever comes in, nothing breaks; and what was a module before
// is one afterwards.
func FuzzRewrite(f *testing.F) {
	f.Add(good())
	f.Add(module(types, imports, funcs, globals, codeOf([]byte{0, 0x02, 0x40, 0x41, 0, 0x0e, 1, 0, 0, 0x0b, 0x42, 5, 0x1a, 0x43, 0, 0, 0, 0, 0x1a, 0x41, 1, 0x0b})))
	f.Add(module(types, imports, funcs, globals, codeOf([]byte{0, 0x03, 0x7f, 0x41, 1, 0x0b, 0x0b})))
	ctx := context.Background()
	rt := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	f.Cleanup(func() { rt.Close(ctx) })
	f.Fuzz(func(t *testing.T, wasm []byte) {
		out, _, err := rewrite.Rewrite(wasm, options(100))
		if err != nil {
			return
		}
		before, err := rt.CompileModule(ctx, wasm)
		if err != nil {
			return // it was none
		}
		require.NoError(t, before.Close(ctx))
		after, err := rt.CompileModule(ctx, out)
		require.NoError(t, err)
		require.NoError(t, after.Close(ctx))
	})
}
