package wasm

import (
	"context"
	"encoding/binary"
	"math"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

// instanceKey finds the instance in the context of its calls.
type instanceKey struct{}

// WASI's numbers, as far as poll needs them.
const (
	errnoBadFile  = 8
	errnoFault    = 21
	errnoInvalid  = 28
	eventClock    = 0
	clockRealtime = 0
	flagAbsolute  = 1
	subscription  = 48 // bytes
	event         = 32
	maxPoll       = 1024 // subscriptions of one call; the library makes one
)

// instantiateHost gives a guest what it imports: wazero's WASI, which reaches
// only what an instance is configured with, and a poll of ours.
func instantiateHost(ctx context.Context, rt wazero.Runtime) error {
	builder := rt.NewHostModuleBuilder(wasi_snapshot_preview1.ModuleName)
	wasi_snapshot_preview1.NewFunctionExporter().ExportFunctions(builder)
	i32 := api.ValueTypeI32
	builder.NewFunctionBuilder().
		WithGoModuleFunction(api.GoModuleFunc(poll), []api.ValueType{i32, i32, i32, i32}, []api.ValueType{i32}).
		Export("poll_oneoff")
	_, err := builder.Instantiate(ctx)
	return err
}

// poll is poll_oneoff for clocks, relative and absolute: wazero's knows no
// absolute times, with which Python sleeps. Descriptors can't be waited for.
func poll(ctx context.Context, m api.Module, stack []uint64) {
	stack[0] = uint64(pollOnce(ctx.Value(instanceKey{}).(*instance), m.Memory(),
		uint32(stack[0]), uint32(stack[1]), uint32(stack[2]), uint32(stack[3])))
}

func pollOnce(i *instance, memory api.Memory, in, out, count, ready uint32) uint32 {
	if count == 0 || count > maxPoll {
		return errnoInvalid
	}
	asked, ok := memory.Read(in, count*subscription)
	if !ok {
		return errnoFault
	}
	var clocks, others []byte // answers
	shortest := time.Duration(math.MaxInt64)
	for ; len(asked) > 0; asked = asked[subscription:] {
		if asked[8] != eventClock {
			others = appendEvent(others, asked, errnoBadFile)
			continue
		}
		switch wait := i.until(asked[16:]); {
		case wait < shortest:
			shortest, clocks = wait, appendEvent(nil, asked, 0)
		case wait == shortest:
			clocks = appendEvent(clocks, asked, 0)
		}
	}
	answer := others
	if others == nil {
		i.sleep(shortest)
		answer = clocks
	}
	if !memory.Write(out, answer) || !memory.WriteUint32Le(ready, uint32(len(answer)/event)) {
		return errnoFault
	}
	return 0
}

// until gives how long a clock's subscription waits from now.
func (i *instance) until(clock []byte) time.Duration {
	t := binary.LittleEndian.Uint64(clock[8:])
	wait := time.Duration(min(t, math.MaxInt64))
	if binary.LittleEndian.Uint16(clock[24:])&flagAbsolute == 0 {
		return wait
	}
	if binary.LittleEndian.Uint32(clock) == clockRealtime {
		return max(time.Until(time.Unix(0, int64(wait))), 0)
	}
	return max(wait-time.Since(i.began), 0)
}

func appendEvent(events, subscribed []byte, errno uint16) []byte {
	e := make([]byte, event)
	copy(e, subscribed[:8]) // the guest's own mark
	binary.LittleEndian.PutUint16(e[8:], errno)
	e[10] = subscribed[8]
	return append(events, e...)
}
