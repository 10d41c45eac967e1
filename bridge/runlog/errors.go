package runlog

import (
	"errors"

	"github.com/troupe-go/troupe/messages"
)

// What a Log and its journals report.
var (
	// ErrStale says that another owner has the invocation: stop quietly.
	ErrStale = &messages.Fault{Code: "stale_owner", Class: messages.Loss,
		EN: "another owner has taken this invocation over", ZH: "该调用已被其他所有者接管"}
	// ErrDiverged says that the log holds what no owner of ours wrote, or has
	// lost what this one wrote: the invocation is parked.
	ErrDiverged = &messages.Fault{Code: "log_diverged", Class: messages.Permanent,
		EN: "the log is not as this owner left it: the invocation is parked; look at its facts", ZH: "日志与所有者写入的内容不一致：该调用已被搁置；请检查其事实记录"}
	// ErrExists says that the invocation has a log already.
	ErrExists = &messages.Fault{Code: "run_exists", Class: messages.Permanent,
		EN: "the invocation has a log already; take another id, or adopt it", ZH: "该调用已有日志；请换一个标识，或接管它"}
	// ErrFinished says that nothing can follow run_finished.
	ErrFinished = &messages.Fault{Code: "run_finished", Class: messages.Permanent,
		EN: "the invocation has ended: nothing can be appended", ZH: "该调用已结束：不能再追加"}
	// ErrInput says that a caller's argument is missing or wrong.
	ErrInput = &messages.Fault{Code: "log_input", Class: messages.Bug,
		EN: "the log was given %s; expected: %s", ZH: "传给日志的参数为 %s；应为：%s"}
)

// permanent reports whether repeating a call of a store can't help.
func permanent(err error) bool {
	return errors.Is(err, ErrRefused) || errors.Is(err, messages.ErrUnknownRun)
}
