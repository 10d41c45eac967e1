package tool

import (
	"errors"

	"github.com/troupe-go/troupe/messages"
)

// The errors of calls that ended otherwise than by the tool's own return.

func (f *flight) ended(class, code, en, zh string, args ...any) *messages.ToolError {
	return toolError(&Exception{Class: class, Fault: newFault(code, messages.Overrun, en, zh, args...)}, f.cfg.Lang)
}

// cutError tells a time-out or a cancel, and whether the call had begun.
func (f *flight) cutError() *messages.ToolError {
	class, code, en, zh := ClassToolTimeout, CodeTimeout, "%s took longer than %v and was cancelled", "%s 超过 %v 未完成，已被取消"
	args := []any{f.name(), f.cfg.Timeout}
	if errors.Is(f.why, errCancelled) {
		class, code, en, zh = ClassToolCancelled, CodeCancelled, "%s was cancelled", "%s 已被取消"
		args = args[:1]
	}
	switch {
	case !f.begun.Load():
		en += "; it had to wait for other calls and was never begun"
		zh += "；它一直在等待其他调用，尚未开始执行"
	case f.cfg.Tool.Spec().Effects.external():
		en += "; what it has changed by then is not known, check before you call it again"
		zh += "；取消前已产生的影响未知，再次调用前请先核实"
	}
	return f.ended(class, code, en, zh, args...)
}

func (f *flight) panicked(p *PanicError) *messages.ToolError {
	return f.ended(ClassToolPanicked, CodePanicked, "%s failed inside and is restarted: %s", "%s 内部出错，正在重启：%s",
		f.name(), p.text())
}

// dropped tells a call that its actor ended, by a panic of another call or by
// a stop.
func (f *flight) dropped(crashed bool) *messages.ToolError {
	switch {
	case !crashed:
		return f.ended(ClassToolCancelled, CodeCancelled, "%s was stopped", "%s 已停止", f.name())
	case f.begun.Load() && f.cfg.Tool.Spec().Effects.external():
		return f.ended(ClassOutcomeUnknown, CodeUnknown,
			"%s failed inside during another call, and this call was cut off; what it has changed is not known, check before you call it again",
			"%s 在另一次调用中内部出错，本次调用被中断；已产生的影响未知，再次调用前请先核实", f.name())
	}
	return f.ended(ClassToolPanicked, CodePanicked, "%s failed inside during another call and is restarted; this call was cancelled, you may make it again",
		"%s 在另一次调用中内部出错并正在重启；本次调用已取消，可重新调用", f.name())
}
