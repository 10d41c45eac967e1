// Package peers measures other agent frameworks at what tests/bench measures
// of ours. It is a module of its own, so that Troupe depends on none of them.
package peers

import (
	"context"
	"fmt"
	"strconv"
	"testing"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/flow/agent/react"
	"github.com/cloudwego/eino/schema"
)

// stubModel asks for one tool call in each step but the last, which ends it.
type stubModel struct{ steps int }

func (m *stubModel) Generate(_ context.Context, in []*schema.Message, _ ...model.Option) (*schema.Message, error) {
	step := (len(in) - 1) / 2 // the task, then two a step
	if step >= m.steps-1 {
		return schema.AssistantMessage("That was the last one.", nil), nil
	}
	n := strconv.Itoa(step)
	return schema.AssistantMessage("Thought: the next number.", []schema.ToolCall{{
		ID:       "call-" + n,
		Function: schema.FunctionCall{Name: "add", Arguments: `{"a":` + n + `,"b":1}`},
	}}), nil
}

func (m *stubModel) Stream(ctx context.Context, in []*schema.Message, opts ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	msg, err := m.Generate(ctx, in, opts...)
	if err != nil {
		return nil, err
	}
	return schema.StreamReaderFromArray([]*schema.Message{msg}), nil
}

func (m *stubModel) WithTools([]*schema.ToolInfo) (model.ToolCallingChatModel, error) { return m, nil }

type addArgs struct {
	A int `json:"a"`
	B int `json:"b"`
}

func newAgent(b *testing.B, steps int) *react.Agent {
	b.Helper()
	ctx := context.Background()
	add, err := utils.InferTool("add", "Adds two numbers.", func(_ context.Context, in addArgs) (int, error) { return in.A + in.B, nil })
	if err != nil {
		b.Fatal(err)
	}
	agent, err := react.NewAgent(ctx, &react.AgentConfig{
		ToolCallingModel: &stubModel{steps: steps},
		ToolsConfig:      compose.ToolsNodeConfig{Tools: []tool.BaseTool{add}},
		MaxStep:          2*steps + 2, // it counts nodes: model and tools are one each
	})
	if err != nil {
		b.Fatal(err)
	}
	return agent
}

// BenchmarkEinoReact is the counterpart of BenchmarkStep: N steps of Eino's
// react agent, each one model call and one tool call, without callbacks.
// Building the agent is not measured.
func BenchmarkEinoReact(b *testing.B) {
	for _, mode := range []string{"generate", "stream"} {
		for _, steps := range []int{10, 100, 1000} {
			b.Run(fmt.Sprintf("%s/N=%d", mode, steps), func(b *testing.B) {
				agent := newAgent(b, steps)
				b.ReportAllocs()
				b.ResetTimer()
				for b.Loop() {
					if answer := ask(b, agent, mode); answer != "That was the last one." {
						b.Fatalf("unexpected answer %q", answer)
					}
				}
				b.StopTimer()
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*steps), "ns/step")
			})
		}
	}
}

func ask(b *testing.B, agent *react.Agent, mode string) string {
	ctx := context.Background()
	task := []*schema.Message{schema.UserMessage("Count.")}
	if mode == "generate" {
		out, err := agent.Generate(ctx, task)
		if err != nil {
			b.Fatal(err)
		}
		return out.Content
	}
	stream, err := agent.Stream(ctx, task)
	if err != nil {
		b.Fatal(err)
	}
	out, err := schema.ConcatMessageStream(stream)
	if err != nil {
		b.Fatal(err)
	}
	return out.Content
}
