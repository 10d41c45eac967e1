// Package bench measures what docs/performance.md promises. Its stubs stand in
// for the model and the executor only; everything else is what a node runs.
package bench

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
