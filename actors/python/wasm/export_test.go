package wasm

// CompiledFolder is where the machine code lies.
var CompiledFolder = compiledFolder
