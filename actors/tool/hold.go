package tool

import (
	"log/slog"
	"sync/atomic"
)

// hold keeps a tool open while its actor lives or a call of it runs: an
// abandoned call must not find it closed.
type hold struct {
	tool  Tool
	log   *slog.Logger
	users atomic.Int64
}

// newHold holds a tool for its actor, over all restarts.
func newHold(t Tool, log *slog.Logger) *hold {
	h := &hold{tool: t, log: log}
	h.enter()
	return h
}

func (h *hold) enter() { h.users.Add(1) }

// leaveAndClose lets go of the tool when the caller was the last; it may take
// time.
func (h *hold) leaveAndClose() {
	if h.users.Add(-1) > 0 {
		return
	}
	if err := closeTool(h.tool); err != nil {
		h.log.Warn("closing a tool failed", "tool", h.tool.Spec().Name, "error", err)
	}
}
