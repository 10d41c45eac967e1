package system

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// Failure is what a panic in Receive was.
type Failure struct {
	Reason  any    // what was given to panic
	Stack   []byte // where; nil when it came from code we don't guard
	Message any    // what was being handled; may be nil
}

// String says what happened, with the type of the message, never its content.
func (f *Failure) String() string {
	if f.Message == nil {
		return fmt.Sprintf("panic: %v", f.Reason)
	}
	return fmt.Sprintf("panic while handling %s: %v", typeName(f.Message), f.Reason)
}

// LogValue keeps messages out of logs.
func (f *Failure) LogValue() slog.Value { return slog.StringValue(f.String()) }

// FailureOf reads what protoactor hands to a strategy as reason; nil gives nil.
func FailureOf(reason any) *Failure {
	switch r := reason.(type) {
	case nil:
		return nil
	case *Failure:
		return r
	}
	return &Failure{Reason: reason}
}

// stopFailed is the strategy of StopFailed.
type stopFailed struct {
	on func(*actor.PID, *Failure)
}

// StopFailed is a strategy that stops a child that failed, never restarts it,
// and then tells on, in the parent's turn. on may be nil. The parent sees the
// child's Terminated later.
func StopFailed(on func(child *actor.PID, f *Failure)) actor.SupervisorStrategy {
	return &stopFailed{on: on}
}

// HandleFailure implements actor.SupervisorStrategy.
func (st *stopFailed) HandleFailure(_ *actor.ActorSystem, parent actor.Supervisor, child *actor.PID, _ *actor.RestartStatistics, reason, _ any) {
	parent.StopChildren(child)
	if st.on != nil {
		st.on(child, FailureOf(reason))
	}
}

// The default strategy restarts at once up to failuresAtOnce times in
// failureWindow; then it waits, longer each time.
const (
	failuresAtOnce = 10
	failureWindow  = 10 * time.Second
)

// restarter is the default strategy: it restarts the failed child, always,
// and says so.
type restarter struct{ s *System }

// HandleFailure implements actor.SupervisorStrategy.
func (st *restarter) HandleFailure(as *actor.ActorSystem, parent actor.Supervisor, child *actor.PID, rs *actor.RestartStatistics, reason, _ any) {
	f := FailureOf(reason)
	delay := st.delay(rs)
	st.s.log.Error("an actor panicked and is restarted", "actor", child.GetId(), "failure", f, "delay", delay, "stack", string(f.Stack))
	if delay == 0 {
		parent.RestartChildren(child)
		return
	}
	// The parent may be gone by then: speak to the child itself.
	st.s.world.AfterFunc(delay, func() {
		if p, ok := as.ProcessRegistry.Get(child); ok {
			p.SendSystemMessage(child, &actor.Restart{})
		}
	})
}

func (st *restarter) delay(rs *actor.RestartStatistics) time.Duration {
	if rs.NumberOfFailures(failureWindow) == 0 {
		rs.Reset() // it would keep every failure's time for ever
	}
	rs.Fail()
	n := rs.NumberOfFailures(failureWindow)
	if n <= failuresAtOnce {
		return 0
	}
	return DefaultModelBackoff.Delay(n-failuresAtOnce, st.s.world.Rand())
}
