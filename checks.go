package troupe

import (
	"fmt"

	"github.com/troupe-go/troupe/messages"
)

// What comes from Go is held to the same bounds as a configuration file.

// checkDefinitions refuses what no node can run with.
func checkDefinitions(d *messages.Definitions) error {
	if err := oneOf("lang", d.Lang, "", messages.ZH, messages.EN); err != nil {
		return err
	}
	for i := range d.Agents {
		if err := checkAgent(&d.Agents[i]); err != nil {
			return err
		}
	}
	l := d.Limits
	return notNegative(map[string]int64{
		"limits.max_runs": int64(l.MaxRuns), "limits.max_executors": int64(l.MaxExecutors), "limits.queue_size": int64(l.QueueSize), "limits.queue_wait": int64(l.QueueWait),
		"sandbox.warm_interpreters": int64(warmOf(d.Sandbox)),
		"limits.run_deadline":       int64(l.RunDeadline), "limits.keep_runs": int64(l.KeepRuns), "limits.keep_events": int64(l.KeepEvents),
	})
}

// checkAgent refuses values that an agent's definition can't have.
func checkAgent(a *messages.AgentConfig) error {
	if err := oneOf("agents."+a.Name+".lang", a.Lang, "", messages.ZH, messages.EN); err != nil {
		return err
	}
	if err := oneOf("agents."+a.Name+".output_protocol", a.OutputProtocol, "", messages.CodeAction, messages.FinalAnswerEnvelope); err != nil {
		return err
	}
	return notNegative(map[string]int64{
		"agents." + a.Name + ".max_steps":               int64(a.MaxSteps),
		"agents." + a.Name + ".requested_output_tokens": int64(a.RequestedOutputTokens),
		"agents." + a.Name + ".tool_calls_per_block":    int64(a.ToolCallLimit),
	})
}

// checkRequest refuses values that a request can't have.
func checkRequest(r *messages.RunAgent) error {
	if err := oneOf("lang", r.Lang, "", messages.ZH, messages.EN); err != nil {
		return err
	}
	if d := r.Overrides.Definition; d != nil {
		if err := checkAgent(d); err != nil {
			return err
		}
	}
	return notNegative(map[string]int64{"overrides.max_steps": int64(r.Overrides.MaxSteps)})
}

func oneOf[T ~string](key string, v T, allowed ...T) error {
	for _, a := range allowed {
		if v == a {
			return nil
		}
	}
	return errValue.Withf(key, string(v), fmt.Sprintf("%q", allowed[1:]))
}

func notNegative(values map[string]int64) error {
	for key, v := range values {
		if v < 0 {
			return errValue.Withf(key, fmt.Sprint(v), ">= 0")
		}
	}
	return nil
}

var errValue = &messages.Fault{Code: "invalid_value", Class: messages.Permanent,
	EN: "%s can't be %q; expected: %s", ZH: "%s 不能是 %q；应为：%s"}
