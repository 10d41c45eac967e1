// Package pythontest is the contract that every sandbox level passes: one
// suite, run over a python.Driver. Run is for programs of ours, which are
// harmless and need no walls; RunHostile is for drivers behind walls.
package pythontest
