package cases

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe"
	"github.com/troupe-go/troupe/messages"
	"github.com/troupe-go/troupe/tests/scripted"
)

// answers is a script that gives replies one after the other.
func answers(replies ...scripted.Reply) *scripted.Script {
	return &scripted.Script{Turns: []scripted.Turn{{Name: "answers", Replies: replies}}}
}

// says is a script whose model writes texts, one a call. They come in pieces
// of three bytes or so, so that every tag is cut.
func says(texts ...string) *scripted.Script {
	script := answers()
	script.Chunk = 3
	for _, text := range texts {
		script.Turns[0].Replies = append(script.Turns[0].Replies, scripted.Reply{Text: text})
	}
	return script
}

// code is a block as the system prompt asks for it.
func code(lines ...string) string {
	return "<code>\n" + strings.Join(lines, "\n") + "\n</code>"
}

// sse is a stream of raw data lines.
func sse(data ...string) scripted.Reply {
	var reply scripted.Reply
	for _, d := range data {
		reply.Lines = append(reply.Lines, "data: "+d, "")
	}
	return reply
}

// content is a chunk with a piece of text, as raw JSON.
func content(text string) string {
	return `{"choices":[{"index":0,"delta":{"content":` + string(messages.AppendJSONString(nil, text)) + `}}]}`
}

// Raw ends of a stream.
const (
	finishStop = `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	done       = "[DONE]"
)

// finish is a step that ends a run.
const finish = "<code>\nfinal_answer('done')\n</code>"

// ask runs one query on a model that writes texts and requires that it ends
// with finish, after as many calls as there are texts.
func ask(t *testing.T, texts ...string) (*stage, trace) {
	t.Helper()
	s := play(t, says(append(texts, finish)...))
	tr := s.run(troupe.RunRequest{Query: "Go."})
	tr.answered(t, "done")
	s.calls(len(texts) + 1)
	return s, tr
}

// calls requires how often the model was called.
func (s *stage) calls(n int) {
	s.t.Helper()
	require.Len(s.t, s.model.Requests(), n, "model calls")
}

// sent is the text of the last message of the n-th model call, from 1.
func (s *stage) sent(n int) string {
	s.t.Helper()
	requests := s.model.Requests()
	require.GreaterOrEqual(s.t, len(requests), n, "model calls")
	list := requests[n-1].Messages
	return list[len(list)-1].Text
}

// answered requires a run's answer.
func (tr trace) answered(t *testing.T, text string) {
	t.Helper()
	require.Equal(t, messages.StatusAnswered, tr.last().Status, "%s", tr.last().Content)
	require.Equal(t, text, tr.last().Content)
}

// ran requires the blocks that ran, in order, and that watchers read the same
// text as the executor got.
func (tr trace) ran(t *testing.T, blocks ...string) {
	t.Helper()
	parsed := tr.of(messages.Parse)
	require.Len(t, parsed, len(blocks), "blocks that ran")
	for i, block := range blocks {
		require.Contains(t, parsed[i].Content, "```python\n"+block+"\n```", "block %d", i+1)
	}
}

// prints requires what all blocks printed.
func (tr trace) prints(t *testing.T, text string) {
	t.Helper()
	require.Equal(t, text, tr.text(messages.ExecutionLogs))
}

// shown are the texts of the model that watchers see.
var shown = []messages.ProcessType{messages.ModelOutputThinking, messages.ModelOutputDeepThinking, messages.ModelOutputCode}

// tagless requires that no event of the model's text, nor the answer, has a
// tag or the beginning of one, and that none is empty.
func (tr trace) tagless(t *testing.T) {
	t.Helper()
	for _, ev := range tr.of(append(shown, messages.FinalAnswer)...) {
		require.NotEmpty(t, ev.Content, "an empty %s event", ev.Type)
		require.NotContains(t, ev.Content, "<", "%s", ev.Type)
		require.NotContains(t, ev.Content, "think", "%s", ev.Type)
		require.NotContains(t, ev.Content, "/code", "%s", ev.Type)
	}
}

// spoken is the model's visible text of one kind, pieces joined.
type spoken struct {
	Type messages.ProcessType
	Text string
}

// speech is what watchers see of the model's text, in order.
func (tr trace) speech() []spoken {
	var out []spoken
	for _, ev := range tr.of(shown...) {
		if n := len(out); n > 0 && out[n-1].Type == ev.Type {
			out[n-1].Text += ev.Content
			continue
		}
		out = append(out, spoken{ev.Type, ev.Content})
	}
	return out
}
