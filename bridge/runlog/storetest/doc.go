// Package storetest is the contract of a runlog.Store, and of a runlog.Log
// over one, as tests that every Store passes.
package storetest
