package cases

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe"
	"github.com/troupe-go/troupe/actors/tool"
	"github.com/troupe-go/troupe/messages"
	"github.com/troupe-go/troupe/tests/scripted"
)

// steps is the script of a model that writes one block of code a step. When
// the last one calls no final_answer, the model ends with "done" in prose.
func steps(blocks ...string) *scripted.Script {
	texts := make([]string, len(blocks), len(blocks)+1)
	for i, block := range blocks {
		texts[i] = code(block)
	}
	if !strings.Contains(blocks[len(blocks)-1], "final_answer(") {
		texts = append(texts, "done")
	}
	return says(texts...)
}

// perform runs the script to its end.
func (s *stage) perform() trace {
	s.t.Helper()
	return s.run(troupe.RunRequest{Query: "Play your part."})
}

// observation is what the model read after a step, from 1.
func (s *stage) observation(step int) string {
	s.t.Helper()
	return s.sent(step + 1)
}

// goTool makes a function a tool.
func goTool[In, Out any](t *testing.T, name string, fn func(context.Context, In) (Out, error)) tool.Tool {
	t.Helper()
	made, err := tool.Func(name, "For the test.", fn)
	require.NoError(t, err)
	return made
}

// goTools gives the agent tools that are written in Go.
func goTools(tools ...tool.Tool) func(*troupe.Config) {
	return func(cfg *troupe.Config) {
		for _, t := range tools {
			cfg.GoTools = append(cfg.GoTools, t)
			cfg.Agents[0].Tools = append(cfg.Agents[0].Tools, t.Spec().Name)
		}
	}
}

// types gives the events' types in order.
func (tr trace) types() []messages.ProcessType {
	out := make([]messages.ProcessType, len(tr))
	for i := range tr {
		out[i] = tr[i].Type
	}
	return out
}
