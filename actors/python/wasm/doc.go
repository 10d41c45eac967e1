// Package wasm is the sandbox level `wasm`: CPython 3.12 for WASI, compiled by
// wazero and run in this process. It runs wherever wazero compiles, needs no
// kernel feature, and its wall is the strongest: what runs there can do nothing
// but compute and call the few functions that it is given. It is slower than
// level local, 10 to 30 times in tight loops, and has no threads.
//
// # Usage
//
// [Install] fetches the interpreter once, with the user's npm client or from a
// file, and checks it against the hash in the lock file that is part of this
// package. [New] then gives a [Driver], which compiles in the background; what
// it makes stays in the cache folder.
//
// # Walls
//
// A guest has two pipes, a stderr of which the first bytes are kept, one
// environment variable, the time of day in milliseconds and the time since its
// start. It has no file, no folder, no socket, no process; its own library is
// part of its module. Random bytes are the same for every instance: what has
// to differ comes from the seed in its spec.
//
// The module is changed to have 8 MiB of stack for C code: deep recursion is a
// RecursionError, not a breakdown. Its memory is limited where it grows: what goes beyond is a MemoryError, and
// the interpreter goes on. It lies in a reservation of address space, not in
// Go's heap.
//
// # Time
//
// The module is changed so that it calls its host after every few thousand
// loop heads, some 100 µs. There it is frozen between blocks, and ended: at
// once, whatever handlers the code has. Without these calls Go's garbage
// collector could wait forever for a guest in a tight loop, and with it all of
// the process. One operation on a very large value, such as filling a
// gigabyte, is not interrupted and holds up the collector while it lasts.
//
// # Concurrency
//
// A [Driver] may be used from any goroutine. Each interpreter has one
// goroutine, in which the guest runs; the driver has one until it has compiled.
// [Driver.Close] ends all of them.
package wasm
