package troupe

import (
	"errors"

	"go.opentelemetry.io/otel/metric"

	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/actors/python/slots"
	"github.com/troupe-go/troupe/messages"
	"github.com/troupe-go/troupe/supervisor"
)

// defaultWarm is how many interpreters are kept started.
const defaultWarm = 1

// openExecutors opens what all blocks of the node share: the driver, with its
// figures, and the slots in which blocks compute.
func (p *planner) openExecutors(cfg Config) error {
	if p.driver == nil {
		if err := p.openSandbox(cfg); err != nil {
			return err
		}
	}
	metrics, err := python.NewMetrics(meterOf(cfg))
	if err != nil {
		return errors.Join(errMetrics.With(err), p.close())
	}
	p.closers = append(p.closers, metrics.Close)
	p.slots = slots.New(supervisor.WithDefaults(p.defs.Limits).MaxExecutors)
	metrics.WatchSlots(p.slots.Stats)
	p.metrics, p.driver = metrics, metrics.Driver(p.driver, p.system.World())
	return nil
}

func meterOf(cfg Config) metric.Meter {
	if cfg.Meters == nil {
		return nil
	}
	return cfg.Meters.Meter("github.com/troupe-go/troupe")
}

func warmOf(s messages.SandboxConfig) int {
	if s.WarmInterpreters == nil {
		return defaultWarm
	}
	return *s.WarmInterpreters
}

var errMetrics = &messages.Fault{Code: "metrics", Class: messages.Permanent,
	EN: "the metrics can't be made; look at the meter provider that was given", ZH: "无法创建指标；请检查所提供的 meter provider"}
