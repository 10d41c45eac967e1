package python

import (
	"context"
	"slices"
	"sync"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/troupe-go/troupe/messages"
)

// slot holds an interpreter that two sides let go of: the goroutine that
// starts it, and the actor, which may stop in the meantime.
type slot struct {
	mu     sync.Mutex
	interp Interpreter
	closed bool
}

// drop forgets an interpreter that is gone.
func (s *slot) drop() {
	s.mu.Lock()
	interp := s.interp
	s.interp = nil
	s.mu.Unlock()
	if interp != nil {
		interp.Close()
	}
}

// get gives the interpreter, and reports whether it is a new one: there was
// none.
func (s *slot) get(ctx context.Context, cfg *Config) (it Interpreter, fresh bool, err error) {
	s.mu.Lock()
	it, closed := s.interp, s.closed
	s.mu.Unlock()
	if closed {
		return nil, false, context.Canceled
	}
	if it != nil {
		return it, false, nil
	}
	if it, err = cfg.Driver.Start(ctx, cfg.Spec); err != nil {
		return nil, false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		it.Close()
		return nil, false, context.Canceled
	}
	s.interp = it
	return it, true, nil
}

// close kills the interpreter, or the one that is being started.
func (s *slot) close() {
	s.mu.Lock()
	interp := s.interp
	s.closed = true
	s.mu.Unlock()
	if interp != nil {
		interp.Close()
	}
}

// calls are the tool calls of one block in flight. It is the Host of the
// block's goroutine; the actor settles them.
type calls struct {
	root         *actor.RootContext
	self, parent *actor.PID
	block        uint64
	step         int

	mu      sync.Mutex
	waiting []*waiter
	few     [2]*waiter // where waiting lies while no more are in flight
}

// waiter is one call in flight. Its result is there once settled is closed.
type waiter struct {
	ordinal uint64
	settled chan struct{}
	result  *messages.ToolReturned
}

// Call implements Host.
func (c *calls) Call(ctx context.Context, call Call) Result {
	w := &waiter{ordinal: call.Ordinal, settled: make(chan struct{})}
	c.await(w)
	c.root.RequestWithCustomSender(c.parent, &messages.CallTool{
		Block: c.block, Call: call.Ordinal, Tool: call.Tool, Args: call.Args, Kwargs: call.Kwargs, Step: c.step,
	}, c.self)
	select {
	case <-w.settled:
		return Result{Value: w.result.Value, Err: w.result.Err, At: w.result.At}
	case <-ctx.Done():
		return Result{Err: &messages.ToolError{Type: "RuntimeError", Code: "cancelled", Message: "the block was ended while the call was out"}}
	}
}

func (c *calls) await(w *waiter) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waiting == nil {
		c.waiting = c.few[:0]
	}
	c.waiting = append(c.waiting, w)
}

// settle hands a result to the call that waits for it, once.
func (c *calls) settle(m *messages.ToolReturned) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.waiting, func(w *waiter) bool { return w.ordinal == m.Call })
	if i < 0 {
		return
	}
	w := c.waiting[i]
	c.waiting = slices.Delete(c.waiting, i, i+1)
	w.result = m
	close(w.settled)
}
