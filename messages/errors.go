package messages

import (
	"errors"
	"fmt"
)

// Class says who acts on a failure (DESIGN §4).
type Class string

// The failure classes.
const (
	Transient Class = "transient" // tried again
	Permanent Class = "permanent" // the next model, or the end
	Expected  Class = "expected"  // a tool's error: the model's code sees it
	Bug       Class = "bug"       // a panic of ours: restarted
	Overrun   Class = "overrun"   // over its time or memory: killed and replaced
	Pause     Class = "pause"     // the log can't be written: nothing new starts
	Loss      Class = "loss"      // a node is gone
	Runaway   Class = "runaway"   // a budget or a loop
)

// Fault is an error with a stable code. Text says what was tried, what came
// and what to do, in both languages; it never holds a secret.
type Fault struct {
	Code      string // stable, snake_case
	Class     Class
	Retryable bool
	EN, ZH    string
	Cause     error
}

// Error gives the English text, with the cause when there is one.
func (f *Fault) Error() string {
	if f.Cause != nil {
		return f.EN + ": " + f.Cause.Error()
	}
	return f.EN
}

// Unwrap gives the cause.
func (f *Fault) Unwrap() error { return f.Cause }

// Is matches another Fault by code.
func (f *Fault) Is(target error) bool {
	t, ok := target.(*Fault)
	return ok && t.Code == f.Code
}

// In gives the text in a language, without the cause.
func (f *Fault) In(lang string) string {
	if lang == ZH && f.ZH != "" {
		return f.ZH
	}
	return f.EN
}

// With returns a copy with a cause.
func (f *Fault) With(cause error) *Fault { g := *f; g.Cause = cause; return &g }

// Withf returns a copy whose texts are formatted with args; EN and ZH are the
// formats and take the same arguments in the same order.
func (f *Fault) Withf(args ...any) *Fault {
	g := *f
	g.EN = fmt.Sprintf(f.EN, args...)
	if f.ZH != "" {
		g.ZH = fmt.Sprintf(f.ZH, args...)
	}
	return &g
}

// AsFault finds the Fault in err's chain, or wraps err as one of class Bug
// with code "internal".
func AsFault(err error) *Fault {
	var f *Fault
	if errors.As(err, &f) {
		return f
	}
	return &Fault{Code: "internal", Class: Bug, EN: "internal error", ZH: "内部错误", Cause: err}
}

// Faults that more than one part raises. Each part declares its own beside it.
var (
	ErrBusy         = &Fault{Code: "busy", Class: Transient, Retryable: true, EN: "the node runs as many runs as it may and its queue is full; try again later or raise limits.max_runs", ZH: "节点的运行数已达上限且队列已满；请稍后重试，或调高 limits.max_runs"}
	ErrUnknownRun   = &Fault{Code: "unknown_run", Class: Permanent, EN: "no run %q is known here; it may have ended long ago, or its id is another", ZH: "这里没有运行 %q；它可能早已结束，或编号有误"}
	ErrForbidden    = &Fault{Code: "forbidden", Class: Permanent, EN: "run %q belongs to another user", ZH: "运行 %q 属于其他用户"}
	ErrUnknownAgent = &Fault{Code: "unknown_agent", Class: Permanent, EN: "no agent %q is defined; defined are: %s", ZH: "没有定义智能体 %q；已定义：%s"}
	ErrConflict     = &Fault{Code: "idempotency_conflict", Class: Permanent, EN: "idempotency key %q was used with another request", ZH: "幂等键 %q 已用于另一个请求"}
	ErrShutdown     = &Fault{Code: "shutting_down", Class: Transient, Retryable: true, EN: "the node is shutting down", ZH: "节点正在关闭"}
)
