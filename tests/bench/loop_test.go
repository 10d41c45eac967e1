package bench

import (
	"context"
	"encoding/json"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/agent/action"
	"github.com/troupe-go/troupe/actors/agent/prompt"
	"github.com/troupe-go/troupe/actors/agent/window"
	"github.com/troupe-go/troupe/actors/model"
	"github.com/troupe-go/troupe/messages"
)

// BenchmarkLoop is the floor for [BenchmarkStep]: the same turns written as
// one plain loop on one goroutine. The same stub model, parser, window and
// observation, the same tool, and the same events made and encoded; no actors,
// no log, no observer, nothing that could be stopped, watched or resumed.
func BenchmarkLoop(b *testing.B) {
	for _, steps := range []int{10, 100, 1000} {
		b.Run("N="+strconv.Itoa(steps), func(b *testing.B) {
			b.ReportAllocs()
			b.ResetTimer()
			meter := startMeter(b)
			for range b.N {
				l := &loop{model: &stubModel{steps: steps}}
				answer, err := l.run("Count.")
				require.NoError(b, err)
				require.Equal(b, "That was the last one.", answer)
				require.Equal(b, steps, l.step)
			}
			b.StopTimer()
			meter.perStep(steps)
		})
	}
}

// loop is an agent as one would write it by hand.
type loop struct {
	model  *stubModel
	window *window.Window
	step   int
	events uint64
	buffer []byte
}

func (l *loop) run(task string) (string, error) {
	w, err := window.New("You are an agent.", nil, action.Visible)
	if err != nil {
		return "", err
	}
	l.window = w
	l.add("user", prompt.Task(task, time.Unix(0, 0)))
	l.emit(messages.Event{Type: messages.AgentNewRun, Content: task})
	for {
		l.step++
		answer, done, err := l.turn()
		if err != nil || done {
			l.emit(messages.Event{Type: messages.FinalAnswer, Content: answer, Status: messages.StatusAnswered})
			return answer, err
		}
	}
}

// turn is one think → act → observe.
func (l *loop) turn() (answer string, done bool, err error) {
	l.emit(messages.Event{Type: messages.StepCount, Content: "\n**Step " + strconv.Itoa(l.step) + "** \n"})
	attempt := messages.Event{Type: messages.ModelAttemptControl, AttemptID: "attempt-" + strconv.Itoa(l.step), Attempt: 1}
	attempt.Phase = messages.PhaseBegin
	l.emit(attempt)
	reply, err := l.model.Stream(context.Background(), &model.Request{Messages: l.window.Messages()}, func(d model.Delta) {
		l.emit(messages.Event{Type: messages.ModelOutputThinking, Content: d.Content, AttemptID: attempt.AttemptID})
	})
	if err != nil {
		return "", false, err
	}
	out := action.Parse(action.Reply{Text: reply.Text, FinishReason: reply.FinishReason}, messages.CodeAction)
	attempt.Phase = messages.PhaseCommit
	l.emit(attempt)
	if out.Kind != action.Run {
		return out.Text, true, nil
	}
	l.add("assistant", action.Visible(reply.Text))
	l.emit(messages.Event{Type: messages.Parse, Content: out.Code})
	output, err := l.call(json.RawMessage(`{"a":1,"b":1}`))
	if err != nil {
		return "", false, err
	}
	l.emit(messages.Event{Type: messages.ExecutionLogs, Content: output})
	l.add("user", prompt.Observation(messages.EN, prompt.ObservationData{Logs: output}))
	l.emit(messages.Event{Type: messages.TokenCount, Content: `{"step_number":` + strconv.Itoa(l.step) +
		`,"estimated_context_tokens":` + strconv.Itoa(l.window.EstimatedTokens()) + `}`})
	return "", false, nil
}

// call is the tool: its arguments come and go as JSON, as a model's code gives
// them.
func (l *loop) call(args json.RawMessage) (string, error) {
	l.emit(messages.Event{Type: messages.Tool, ToolName: "add", ToolArguments: args, ToolCallID: "call-" + strconv.Itoa(l.step)})
	var in addArgs
	if err := json.Unmarshal(args, &in); err != nil {
		return "", err
	}
	value, err := json.Marshal(in.A + in.B)
	return string(value) + "\n", err
}

func (l *loop) add(role, text string) {
	l.window.Add(messages.NewChatMessage(role, text, nil))
}

// emit encodes an event as a subscriber would get it.
func (l *loop) emit(e messages.Event) {
	l.events++
	e.RunID, e.Step, e.Time = "run", l.step, time.Unix(0, 0)
	e.ID = messages.EventID{Invocation: "run", Epoch: 1, N: l.events}
	l.buffer = e.AppendJSON(l.buffer[:0])
}
