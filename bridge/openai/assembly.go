package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/troupe-go/troupe/actors/model"
	"github.com/troupe-go/troupe/messages"
)

// assembly puts an answer together from its chunks and hands the text on as it
// comes.
type assembly struct {
	client *Client
	on     func(model.Delta)

	text      strings.Builder
	reasoning strings.Builder
	finish    string
	usage     *usage
	calls     []openCall
	chunks    int
	odd       int // chunks that say nothing we know
}

// openCall is a tool call that may still grow.
type openCall struct {
	index *int
	call  messages.ToolCallDelta
}

// add takes one event's JSON.
func (a *assembly) add(raw []byte) error {
	var ch chunk
	if err := json.Unmarshal(raw, &ch); err != nil {
		begins := a.client.secrets.clean(string(raw[:min(len(raw), 200)]))
		return a.client.fault(model.ErrBadResponse, fmt.Sprintf("a chunk that can't be read: %q", begins), fmt.Sprintf("无法解析的数据块：%q", begins))
	}
	a.chunks++
	if f := ch.failure(); f != nil {
		return a.client.streamFault(f)
	}
	if ch.Usage != nil {
		a.usage = ch.Usage
	} else if ch.Choices == nil {
		a.odd++
	}
	for i := range ch.Choices {
		if ch.Choices[i].Index == 0 { // others are alternatives nobody asked for
			a.choice(&ch.Choices[i])
		}
	}
	return nil
}

func (a *assembly) choice(c *choice) {
	if c.FinishReason != nil && *c.FinishReason != "" {
		a.finish = *c.FinishReason
	}
	d := c.Delta
	if d == nil {
		d = c.Message
	}
	if d == nil {
		return
	}
	a.say(model.Delta{Content: d.Content.text + d.Refusal, Reasoning: d.thinking()})
	for i := range d.ToolCalls {
		a.grow(&d.ToolCalls[i])
	}
	if f := d.FunctionCall; f != nil {
		a.grow(&toolCall{Function: *f})
	}
}

// thinking gives a delta's reasoning; providers that fill both fields repeat
// themselves.
func (d *delta) thinking() string {
	switch {
	case d.Reasoning != "":
		return string(d.Reasoning)
	case d.ReasoningContent != "":
		return string(d.ReasoningContent)
	default:
		return d.Content.thinking
	}
}

func (a *assembly) say(d model.Delta) {
	if d.Content == "" && d.Reasoning == "" {
		return
	}
	a.text.WriteString(d.Content)
	a.reasoning.WriteString(d.Reasoning)
	a.on(d)
}

// grow adds a piece of a tool call to the call it belongs to, or begins one.
func (a *assembly) grow(t *toolCall) {
	at := a.belongs(t)
	if at < 0 {
		a.calls = append(a.calls, openCall{index: t.Index})
		at = len(a.calls) - 1
	}
	c := &a.calls[at].call
	if t.ID != "" {
		c.ID = t.ID
	}
	if c.Name == "" {
		c.Name = t.Function.Name
	}
	c.Arguments += string(t.Function.Arguments)
}

// belongs finds the call that a piece continues; -1 when it begins another.
// Providers leave out the index, the id, or either after the first piece; an
// id or a name that differs always begins another call.
func (a *assembly) belongs(t *toolCall) int {
	for i := len(a.calls) - 1; i >= 0; i-- {
		open := &a.calls[i]
		if t.Index != nil && open.index != nil && *t.Index != *open.index {
			continue
		}
		if t.ID != "" {
			if t.ID == open.call.ID || (open.call.ID == "" && t.Index != nil && open.index != nil) {
				return i
			}
			continue
		}
		if t.Index == nil && t.Function.Name != "" && open.call.Name != "" {
			return -1
		}
		return i
	}
	return -1
}

// finish turns the end of a stream into a reply, or into what was wrong. Once
// the answer is complete it doesn't matter how the connection ends.
func (c *Client) finish(x *exchange, a *assembly, err error) (*model.Reply, error) {
	complete := a.finish != "" || x.events.done
	switch {
	case !complete && errors.Is(err, io.EOF):
		n := a.text.Len() + a.reasoning.Len()
		return nil, c.fault(model.ErrConnection, fmt.Sprintf("the answer was cut after %d bytes", n), fmt.Sprintf("应答在 %d 字节后被截断", n))
	case !complete, errors.Is(err, errTooLong):
		return nil, err
	}
	r := &model.Reply{Text: a.text.String(), Reasoning: a.reasoning.String(), FinishReason: a.finish}
	for i := range a.calls {
		r.ToolCalls = append(r.ToolCalls, a.calls[i].call)
	}
	if a.usage != nil {
		r.Usage, x.usageKnown = c.count(a.usage)
	}
	c.log.Debug("model answered", "model", c.cfg.CiteName, "finish_reason", a.finish, "chunks", a.chunks, "odd_chunks", a.odd,
		"text_bytes", a.text.Len(), "reasoning_bytes", a.reasoning.Len(), "tool_calls", len(a.calls))
	return r, nil
}
