package python

import (
	"time"

	"github.com/troupe-go/troupe/messages"
)

// The defaults of SandboxConfig (nexent-core §9.1; ours where the seeds have
// none).
const (
	defaultMemoryMB         = 2048
	defaultTimeoutSeconds   = 120
	defaultBlockTimeout     = 30 * time.Minute // long enough for a sub-agent, short enough to free what is stuck
	defaultOutputLimit      = 1 << 20
	defaultObservationLimit = 20 << 10
	minOutputLimit          = 1 << 10 // less holds no error worth reading
)

// Defaults gives a SandboxConfig with every zero field replaced by its
// default. Level stays as it is: unset means the first that can be had.
func Defaults(cfg messages.SandboxConfig) messages.SandboxConfig {
	if cfg.MemoryLimitMB <= 0 {
		cfg.MemoryLimitMB = defaultMemoryMB
	}
	if cfg.TimeoutSeconds <= 0 {
		cfg.TimeoutSeconds = defaultTimeoutSeconds
	}
	if cfg.BlockTimeout <= 0 {
		cfg.BlockTimeout = defaultBlockTimeout
	}
	if cfg.RebuildLimit <= 0 {
		cfg.RebuildLimit = DefaultRebuildLimit
	}
	if cfg.OutputLimit <= 0 {
		cfg.OutputLimit = defaultOutputLimit
	}
	if cfg.ObservationLimit <= 0 {
		cfg.ObservationLimit = defaultObservationLimit
	}
	cfg.OutputLimit = max(cfg.OutputLimit, minOutputLimit)
	return cfg
}

// NewSpec gives what an interpreter offers under a SandboxConfig, whose zero
// fields mean their defaults. tools are the callable names, final_answer not
// among them: it is always there.
func NewSpec(cfg messages.SandboxConfig, tools, imports []string, lang string) Spec {
	cfg = Defaults(cfg)
	return Spec{
		Tools:       tools,
		Imports:     imports,
		MemoryLimit: int64(cfg.MemoryLimitMB) << 20,
		Timeout:     time.Duration(cfg.TimeoutSeconds * float64(time.Second)),
		OutputLimit: cfg.OutputLimit,
		Lang:        lang,
	}
}
