package python_test

import (
	"context"

	"github.com/troupe-go/troupe/actors/python"
)

// watchedDriver tells the process ids of what it starts.
type watchedDriver struct {
	python.Driver
	pids chan int
}

func (d *watchedDriver) Start(ctx context.Context, s python.Spec) (python.Interpreter, error) {
	it, err := d.Driver.Start(ctx, s)
	if err == nil {
		d.pids <- it.(interface{ PID() int }).PID()
	}
	return it, err
}
