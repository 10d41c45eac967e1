package python_test

import (
	"flag"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	flag.Parse()
	if flag.Lookup("rapid.checks").Value.String() == "100" { // real interpreters take their time
		_ = flag.Set("rapid.checks", checks) // a number always parses
	}
	goleak.VerifyTestMain(m)
}
