package tool

import (
	"errors"

	"github.com/troupe-go/troupe/messages"
)

// Codes of the faults that this package raises.
const (
	CodeArguments = "tool_arguments"        // a call doesn't fit the tool's inputs
	CodeSpec      = "tool_spec"             // a tool describes itself wrongly
	CodeConfig    = "tool_config"           // a tool's configuration is wrong
	CodeTimeout   = "tool_timeout"          // a call took too long
	CodeCancelled = "tool_cancelled"        // a call was cancelled
	CodePanicked  = "tool_panicked"         // a tool, or another call of it, panicked
	CodeUnknown   = "tool_outcome_unknown"  // a call with outside effects was cut off
	CodeTooLarge  = "tool_result_too_large" // a result is over the limit
	CodeBadResult = "tool_bad_result"       // a result has no form in Python
)

// Classes of the exceptions that calls raise in the model's code.
const (
	ClassToolError      = "ToolError" // what a tool returned as error; the base of the other Tool… classes
	ClassToolTimeout    = "ToolTimeout"
	ClassToolPanicked   = "ToolPanicked"
	ClassToolCancelled  = "ToolCancelled"
	ClassOutcomeUnknown = "ToolOutcomeUnknown"
	ClassTypeError      = "TypeError"
	ClassValueError     = "ValueError"
)

// Exception is an error that says which Python class it raises in the model's
// code. A tool may return one; any other error raises ToolError.
type Exception struct {
	Class string // e.g. ValueError
	Fault *messages.Fault
}

// Error gives the English text.
func (e *Exception) Error() string { return e.Fault.Error() }

// Unwrap gives the fault.
func (e *Exception) Unwrap() error { return e.Fault }

// toolError is what the model's code sees of err. A fault speaks the model's
// language; a fault that another error wraps keeps that error's words where
// the language allows.
func toolError(err error, lang string) *messages.ToolError {
	te := &messages.ToolError{Type: ClassToolError, Message: err.Error()}
	if e, ok := errors.AsType[*Exception](err); ok {
		te.Type = e.Class
	}
	if f, ok := errors.AsType[*messages.Fault](err); ok {
		te.Code = f.Code
		if lang == messages.ZH && f.ZH != "" {
			te.Message = f.ZH
			if f.Cause != nil {
				te.Message += "：" + f.Cause.Error()
			}
		}
	}
	te.Message = clip(te.Message, maxErrorText)
	return te
}

// maxErrorText bounds the bytes of an error's text that reach a model.
const maxErrorText = 16 << 10

func specFault(en, zh string, args ...any) *messages.Fault {
	return newFault(CodeSpec, messages.Permanent, en, zh, args...)
}

func newFault(code string, class messages.Class, en, zh string, args ...any) *messages.Fault {
	f := &messages.Fault{Code: code, Class: class, EN: en, ZH: zh}
	if len(args) == 0 {
		return f
	}
	return f.Withf(args...)
}
