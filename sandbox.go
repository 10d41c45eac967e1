package troupe

import (
	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/messages"
)

// sandbox gives the limits of a run: the node's and, where the run asks for
// less, that. A run never gets more than its node has, nor another level.
func (p *planner) sandbox(asked *messages.SandboxConfig) (messages.SandboxConfig, error) {
	s := python.Defaults(p.defs.Sandbox)
	if asked == nil {
		return s, nil
	}
	if l := asked.Level; l != "" && l != s.Level && l != p.driver.Describe().Level {
		return s, errLevel.Withf(l)
	}
	if asked.Unsafe && !s.Unsafe {
		return s, errUnsafe
	}
	s.MemoryLimitMB = lower(s.MemoryLimitMB, asked.MemoryLimitMB)
	s.TimeoutSeconds = lower(s.TimeoutSeconds, asked.TimeoutSeconds)
	s.BlockTimeout = lower(s.BlockTimeout, asked.BlockTimeout)
	s.OutputLimit = lower(s.OutputLimit, asked.OutputLimit)
	s.ObservationLimit = lower(s.ObservationLimit, asked.ObservationLimit)
	return python.Defaults(s), nil
}

// lower gives what is asked for, unless that is nothing or more than there is.
func lower[N ~int | ~int64 | ~float64](have, asked N) N {
	if asked > 0 && asked < have {
		return asked
	}
	return have
}

var (
	errLevel = &messages.Fault{Code: "sandbox_level", Class: messages.Permanent,
		EN: "sandbox level %q can't be had here; use local, or leave it out", ZH: "此处不提供沙箱级别 %q；请使用 local，或不设置"}
	errUnsafe = &messages.Fault{Code: "sandbox_unsafe", Class: messages.Permanent,
		EN: "a run can't ask for an unsafe sandbox where its node's is safe; leave unsafe out", ZH: "节点沙箱为安全模式时，运行不能要求 unsafe；请移除该项"}
)
