//go:build integration

package python_test

// checks is how many programs each property is tried on.
const checks = "100"
