package agent_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/agent"
	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/actors/tool"
	"github.com/troupe-go/troupe/messages"
	"github.com/troupe-go/troupe/messages/fact"
)

// The facts that earlier owners may have left.
var (
	started  = &fact.RunStarted{Agent: "worker", Query: "Do it."}
	acted    = &fact.Thought{Step: 1, Text: "<think>x</think>" + code("work()"), Code: "work()", Clock: time.Date(2026, 1, 2, 3, 4, 6, 0, time.UTC), FinishReason: "stop", Usage: messages.Usage{InputTokens: 100, OutputTokens: 10}}
	ran      = &fact.Executed{Step: 1, Observation: "Execution logs:\n7\n"}
	prose    = &fact.Thought{Step: 1, Text: "Here it is.", FinishReason: "stop", Usage: messages.Usage{InputTokens: 3, OutputTokens: 2}}
	broken   = &fact.Thought{Step: 1, Text: malformed, FinishReason: "stop", Rejected: "malformed_action"}
	whom     = []json.RawMessage{json.RawMessage(`"to whom"`)}
	hi       = json.RawMessage(`{"text":"hi"}`)
	intended = &fact.Intended{Step: 1, ToolCallID: "c1", Call: 2, Tool: "send", Args: whom, Kwargs: hi, Hash: fact.CallHash("send", whom, hi),
		IdempotencyKey: "key", Calls: []fact.Call{{Call: 1, Tool: "look", Hash: fact.CallHash("look", nil, nil), Value: json.RawMessage("5")}}}
	returned = &fact.Returned{Step: 1, ToolCallID: "c1", Call: 2, Tool: "send", Value: json.RawMessage(`"sent hi"`),
		Changes: []messages.Artifact{{Name: "a.txt", Path: "a.txt"}}}
)

// from makes a stage whose agent goes on from facts.
func from(left []fact.Fact, change func(*agent.Config)) func(*agent.Config) {
	return func(c *agent.Config) {
		for i, f := range append([]fact.Fact{started}, left...) {
			r := &fact.Record{N: uint64(i + 1), Facts: []fact.Fact{f}}
			if i == 1 { // what the first step had published was settled by its first fact
				r.Settles = []messages.Event{{Type: messages.AgentNewRun}, {Type: messages.StepCount, Step: 1}}
			}
			c.Records = append(c.Records, r)
		}
		c.Crash, c.CrashCount = "it panicked", 1
		if change != nil {
			change(c)
		}
	}
}

// Where the agent goes on, for every place where its predecessor can have been.
func TestResume(t *testing.T) {
	for name, c := range map[string]struct {
		facts  []fact.Fact
		change func(*agent.Config)
		// What the open block does when it is run again; nil: none is.
		block func(*block)
		// What the model is asked next: its last message, and how many there are.
		// Nothing: it is not asked, and the run ends.
		asked []string
		count int
		// How it ends at once.
		status messages.Status
		answer string
		// Events that are published, and none but these of their types.
		events map[messages.ProcessType]int
	}{
		"before anything": {
			asked: []string{"[Current time: 2026-01-02 03:04:05]\n\nDo it."}, count: 2,
			events: map[messages.ProcessType]int{messages.AgentNewRun: 1, messages.StepCount: 1, messages.Warning: 1},
		},
		"code not run": {
			facts: []fact.Fact{acted}, block: ends,
			asked: []string{"Execution logs:\n7\n"}, count: 4,
			events: map[messages.ProcessType]int{messages.AgentNewRun: 0, messages.StepCount: 1, messages.Parse: 1, messages.TokenCount: 1, messages.Warning: 1},
		},
		"a call in doubt": {
			facts: []fact.Fact{acted, intended}, block: func(b *block) {
				require.Equal(b.stage.t, "5", string(b.call(1, "look", "").value))
				require.Equal(b.stage.t, "ToolOutcomeUnknown", b.sendAgain().err.Type)
				ends(b)
			},
			asked: []string{"Execution logs:\n7\n"}, count: 4,
		},
		"calls that are done": {
			facts: []fact.Fact{acted, intended, returned}, block: func(b *block) {
				require.Equal(b.stage.t, "5", string(b.call(1, "look", "").value))
				require.Equal(b.stage.t, `"sent hi"`, string(b.sendAgain().value))
				ends(b)
			},
			asked: []string{"Execution logs:\n7\n"}, count: 4,
			events: map[messages.ProcessType]int{messages.Tool: 0, messages.Warning: 1},
		},
		"a block that goes another way": {
			facts: []fact.Fact{acted, intended}, block: func(b *block) { b.call(1, "send", `{"text":"hi"}`) },
			asked: []string{"BlockInterrupted", "finished:\n- look -> 5\n", `not known whether they took effect. They were not repeated:` + "\n" + `- send ["to whom"] {"text":"hi"}`}, count: 4,
			events: map[messages.ProcessType]int{messages.TokenCount: 1, messages.Warning: 2},
		},
		"a block that ends too early": {
			facts: []fact.Fact{acted, intended, returned}, block: ends,
			asked: []string{"BlockInterrupted", `- send ["to whom"] {"text":"hi"} -> "sent hi"`}, count: 4,
		},
		"another executor": {
			facts: []fact.Fact{acted, intended, returned}, change: otherExecutor,
			asked: []string{"BlockInterrupted", `- send ["to whom"] {"text":"hi"} -> "sent hi"`}, count: 4,
		},
		"another executor, nothing called": {
			facts: []fact.Fact{acted, ran, again}, change: otherExecutor, block: ends,
			asked: []string{"Execution logs:\n7\n", "The interpreter was replaced"}, count: 6,
		},
		"after a block": {
			facts: []fact.Fact{acted, ran},
			asked: []string{"Execution logs:\n7\n"}, count: 4,
			events: map[messages.ProcessType]int{messages.AgentNewRun: 0, messages.StepCount: 1, messages.Warning: 1},
		},
		"after a rejected answer": {
			facts: []fact.Fact{broken},
			asked: []string{"Your last reply had code tags inside a sentence"}, count: 3,
			events: map[messages.ProcessType]int{messages.StepCount: 0},
		},
		"after the last rejected answer": {
			facts:  []fact.Fact{broken, broken, broken},
			status: messages.StatusFailed, answer: "the model did not keep to the output format in 3 answers in a row (malformed_action); try another model, or simplify the agent's instructions",
		},
		"an answer in prose": {
			facts:  []fact.Fact{prose},
			status: messages.StatusAnswered, answer: "Here it is.",
			events: map[messages.ProcessType]int{messages.StepCount: 0, messages.TokenCount: 1},
		},
		"a filtered answer": {
			facts:  []fact.Fact{&fact.Thought{Step: 1, Text: "I", FinishReason: "content_filter"}},
			status: messages.StatusBlocked, answer: "I can't answer this: the answer was held back by a content filter.",
		},
		"final_answer": {
			facts:  []fact.Fact{acted, intended, returned, &fact.Executed{Step: 1, IsFinal: true, FinalText: "7 it is"}},
			status: messages.StatusAnswered, answer: "7 it is",
			events: map[messages.ProcessType]int{messages.TokenCount: 0, messages.FileArtifact: 1},
		},
		"at the step limit": {
			facts: []fact.Fact{acted, ran}, change: steps(1),
			asked: []string{"Do it."}, count: 5,
			events: map[messages.ProcessType]int{messages.StepCount: 1},
		},
		"interrupted at the step limit": {
			facts: []fact.Fact{acted, intended}, change: steps(1), block: ends,
			asked: []string{"Do it."}, count: 5,
			events: map[messages.ProcessType]int{messages.MaxStepsReached: 1},
		},
		"a summary": {
			facts: []fact.Fact{acted, ran, &fact.Thought{Step: 2, Text: "So far 7.", Purpose: "final_answer"}}, change: steps(1),
			status: messages.StatusMaxSteps, answer: "So far 7.",
		},
		"a stop": {
			facts:  []fact.Fact{acted, ran, &fact.StopRequested{After: messages.StopStep}},
			status: messages.StatusStopped, answer: messages.UserBreak,
		},
		"a stop in a block": {
			facts:  []fact.Fact{acted, intended, &fact.StopRequested{After: messages.StopStep}, &fact.StopRequested{After: messages.StopNow}},
			status: messages.StatusStopped, answer: messages.UserBreak,
		},
		"crashed too often": {
			facts: []fact.Fact{acted, ran}, change: func(c *agent.Config) { c.CrashCount = agent.MaxCrashes },
			status: messages.StatusFailed, answer: "the agent crashed 3 times in a row without getting further, and was given up; the node's log has the stacks",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := begun(t, from(c.facts, c.change))
			if c.block != nil {
				c.block(s.running())
			}
			if len(c.asked) > 0 {
				q := s.question()
				for _, part := range c.asked {
					require.Contains(t, q.last(), part)
				}
				require.Len(t, q.texts(), c.count)
				require.NotContains(t, strings.Join(q.texts(), "\n"), "<think>")
				q.say("Done.")
				require.NotEqual(t, messages.StatusFailed, s.end().Status)
			} else {
				require.Equal(t, c.status, s.end().Status)
				last := s.events()[len(s.events())-1]
				require.Equal(t, c.answer, last.Content)
			}
			require.Empty(t, s.sent, "nothing is done again")
			for typ, n := range c.events {
				if len(c.asked) > 0 && (typ == messages.TokenCount) {
					n++ // of the answer
				}
				require.Len(t, s.events(typ), n, typ)
			}
		})
	}
}

// A step's tokens are its own, the running total is the run's.
func TestResumeTokens(t *testing.T) {
	s := begun(t, from([]fact.Fact{acted, ran}, nil))
	s.question().say("Done.")
	s.endsWith(messages.StatusAnswered, "Done.")
	count := s.events(messages.TokenCount)[0].Content
	for _, field := range []string{`"step_number":2`, `"step_input_tokens":0`, `"total_output_tokens":10`} {
		require.Contains(t, count, field)
	}
}

// again is the thought of a second step.
var again = &fact.Thought{Step: 2, Text: code("work()"), Code: "work()", FinishReason: "stop"}

func ends(b *block) { b.end(python.Outcome{Output: "7\n"}) }

func otherExecutor(c *agent.Config) {
	other := *started
	other.Executor = "local/CPython 3.0/abc"
	c.Records[0].Facts[0] = &other
}

// sendAgain makes the call that intended stands for.
func (b *block) sendAgain() result {
	r := b.host.Call(b.ctx, python.Call{Ordinal: 2, Tool: "send", Args: whom, Kwargs: hi})
	return result{r.Value, r.Err}
}

// A call in doubt whose tool takes the same key twice is made again, as the
// same call: with its id, its key and no second intent.
func TestResumeIdempotentCall(t *testing.T) {
	once := *intended
	once.Args, once.Hash = nil, fact.CallHash("send", nil, hi)
	s := begun(t, from([]fact.Fact{acted, &once}, func(c *agent.Config) {
		for i := range c.Equipment.Tools {
			spec := *c.Equipment.Tools[i].Spec
			spec.Effects = tool.EffectsIdempotent
			c.Equipment.Tools[i].Spec = &spec
		}
	}))
	b := s.running()
	b.call(1, "look", "")
	done := b.begin(2, "send", `{"text":"hi"}`)
	require.Equal(t, "hi", take(s, s.sent, "the call to begin"))
	s.mail <- struct{}{}
	require.Equal(t, `"sent hi"`, string(take(s, done, "the call to return").value))
	ends(b)
	s.question().say("Done.")
	s.endsWith(messages.StatusAnswered, "Done.")
	require.Empty(t, facts[*fact.Intended](s))
	require.Equal(t, "c1", facts[*fact.Returned](s)[0].ToolCallID)
}

// A stop that comes before the work, stronger than the one on the log.
func TestResumeUnderAStop(t *testing.T) {
	s := setup(t, from([]fact.Fact{acted, ran, &fact.StopRequested{After: messages.StopStep}}, nil))
	s.tell(&messages.Stop{After: messages.StopNow})
	s.tell(&agent.Begin{})
	s.endsWith(messages.StatusStopped, messages.UserBreak)
	require.Len(t, facts[*fact.StopRequested](s), 1, "the new one is logged")
}
