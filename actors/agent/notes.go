package agent

import (
	"fmt"

	"github.com/troupe-go/troupe/messages"
)

// note is a sentence for people, in both languages; the formats take the same
// arguments in the same order.
type note struct{ en, zh string }

func (n note) in(lang string, args ...any) string {
	f := n.en
	if lang == messages.ZH {
		f = n.zh
	}
	if len(args) == 0 {
		return f
	}
	return fmt.Sprintf(f, args...)
}

var notes = struct {
	rejected, modelLost, noTool, callLimit, stopping, abandoned, toolLost, deadline, adopted,
	cut, lateResult, lateError, unknown, busy,
	endedModel, endedCode, endedCall, endedAgent, endedAbandoned note
}{
	rejected:       note{"the model's answer could not be used (%s); it is asked again", "模型的输出无法使用（%s），正在请它重新作答"},
	modelLost:      note{"the model actor crashed and was replaced; the question is asked again", "模型 actor 崩溃并已更换，正在重新提问"},
	noTool:         note{"there is no tool named %q here", "这里没有名为 %q 的工具"},
	callLimit:      note{"a block may make %d tool calls; do the rest in a next step", "一个代码块最多可调用 %d 次工具；其余请放到下一步"},
	stopping:       note{"the run is being stopped; no further calls begin", "运行正在停止，不再开始新的调用"},
	abandoned:      note{"%s did not answer its cancel in time and was abandoned", "%s 没有及时响应取消，已被放弃"},
	toolLost:       note{"the tool %s crashed during the call and was restarted; what the call did is unknown", "工具 %s 在调用中崩溃并已重启；该调用是否生效未知"},
	deadline:       note{"the run reached its deadline (%s) and was ended", "运行已到截止时间（%s），已结束"},
	adopted:        note{"the agent crashed and goes on from its log", "智能体崩溃，已从日志恢复并继续"},
	cut:            note{"The call of %s was cut off when the block ended; whether it took effect is not known yet.", "代码块结束时 %s 的调用被中断；是否已生效尚不可知。"},
	lateResult:     note{"The call of %s that was cut off did finish; its result: %s", "先前被中断的 %s 调用其实已完成，结果为：%s"},
	lateError:      note{"The call of %s that was cut off ended with %s: %s", "先前被中断的 %s 调用以 %s 结束：%s"},
	unknown:        note{"whether this call of %s took effect before the take-over is not known; it was not repeated", "接管之前对 %s 的这次调用是否已生效未知；没有重复执行"},
	busy:           note{"waiting for a free executor, %d ahead", "正在等待空闲的执行器，前面还有 %d 个"},
	endedModel:     note{"the model call was cancelled", "模型调用已取消"},
	endedCode:      note{"the running code was ended", "正在运行的代码已终止"},
	endedCall:      note{"the call was cancelled", "调用已取消"},
	endedAgent:     note{"the invocation ended", "调用已结束"},
	endedAbandoned: note{"did not answer in time and was abandoned", "未及时响应，已被放弃"},
}

// Faults that end a run.
var (
	errProtocol = &messages.Fault{Code: "model_output_protocol_exhausted", Class: messages.Permanent,
		EN: "the model did not keep to the output format in %d answers in a row (%s); try another model, or simplify the agent's instructions",
		ZH: "模型连续 %d 次没有遵守输出格式（%s）；请更换模型，或简化智能体的指令"}
	errModelCrashed = &messages.Fault{Code: "model_actor_crashed", Class: messages.Bug,
		EN: "the model actor crashed again and again; the node's log has the stack", ZH: "模型 actor 反复崩溃；节点日志中有调用栈"}
	errCrashed = &messages.Fault{Code: "agent_crashed", Class: messages.Bug,
		EN: "the agent crashed %d times in a row without getting further, and was given up; the node's log has the stacks", ZH: "智能体连续崩溃 %d 次而没有进展，已放弃；节点日志中有调用栈"}
)
