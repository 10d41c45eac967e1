package action

import (
	"strings"

	"github.com/troupe-go/troupe/actors/agent/action/tags"
	"github.com/troupe-go/troupe/messages"
)

// Reply is a model's whole reply.
type Reply struct {
	Text         string // as written, think tags included; reasoning deltas are not part of it
	FinishReason string // stop, length, content_filter, tool_calls, "" or the provider's own word
	ToolCalls    []messages.ToolCallDelta
}

// Kind says what a reply asks for.
type Kind uint8

// The kinds of outcome. The zero kind is Repair: nothing runs by accident.
const (
	Repair  Kind = iota // Reason, Detail
	Run                 // Code
	Answer              // Text
	Blocked             // the provider's content filter cut the reply
)

// The reasons for a repair turn (nexent-core §2.5, wire names).
const (
	EmptyVisibleContent        = "empty_visible_content"          // nothing but thinking or white space
	UnsupportedOrTagOnly       = "unsupported_or_tag_only_output" // native tool calls, or tags and nothing else
	MalformedAction            = "malformed_action"               // code tags that don't make a block
	MissingExplicitTermination = "missing_explicit_termination"   // the reply ended for a tool call that isn't there
	TruncatedGeneration        = "truncated_generation"           // cut by the token limit or an error
	InvalidFinalEnvelope       = "invalid_final_envelope"         // not exactly one <FINAL_ANSWER> with a body
)

// What is malformed, as Outcome.Detail. The words are stable.
const (
	detailUnclosed  = "unclosed_block" // no closing tag, and the Python is unfinished
	detailEmpty     = "empty_block"    // nothing between the tags
	detailMisplaced = "misplaced_tag"  // the tags stand inside a sentence, quotation or open fence
	detailNoCall    = "no_tool_call"   // finish_reason says tool_calls, none came
)

// Outcome is what a reply asks for. Only the fields of its Kind are set.
type Outcome struct {
	Kind   Kind
	Code   string // blocks in order, joined by a blank line, common indentation removed
	Text   string // the answer without thinking; not yet [Display]
	Reason string // one of the reasons above
	Detail string // a stable word, or the names of native tool calls; for logs and RepairMessage
}

// Parse decides. In messages.CodeAction (also for "") prose without code is
// the answer; in messages.FinalAnswerEnvelope only a <FINAL_ANSWER> that is
// the whole visible reply is, and its body is not trimmed. In both, code runs.
func Parse(r Reply, protocol messages.OutputProtocol) Outcome {
	switch endOf(r.FinishReason) {
	case filtered:
		return Outcome{Kind: Blocked}
	case cut:
		return repair(TruncatedGeneration, "")
	}
	if len(r.ToolCalls) > 0 {
		return repair(UnsupportedOrTagOnly, callNames(r.ToolCalls))
	}
	c := collect(r.Text)
	if len(c.blocks) > 0 {
		return c.action()
	}
	if c.doubt {
		return repair(MalformedAction, detailMisplaced)
	}
	if protocol == messages.FinalAnswerEnvelope {
		return envelope(r.Text)
	}
	return c.answer(endOf(r.FinishReason))
}

func repair(reason, detail string) Outcome { return Outcome{Reason: reason, Detail: detail} }

// end is what a finish reason means.
type end uint8

const (
	clean end = iota
	cut
	filtered
	toolCalls
)

// endOf knows the finish reasons of the providers that speak this wire.
// A word that nobody knows is a clean end: the stream had its end mark.
func endOf(reason string) end {
	switch strings.ToLower(reason) {
	case "length", "max_tokens", "model_length", "model_context_window_exceeded",
		"error", "network_error", "insufficient_system_resource", "abort", "aborted", "cancelled":
		return cut
	case "content_filter", "sensitive", "safety", "content_filtered":
		return filtered
	case "tool_calls", "tool_call", "function_call":
		return toolCalls
	}
	return clean
}

// Filtered reports whether a finish reason says that a content filter ended
// the reply.
func Filtered(finishReason string) bool { return endOf(finishReason) == filtered }

// collector gathers the spans of a whole reply.
type collector struct {
	blocks []block
	prose  strings.Builder
	open   bool
	doubt  bool
	cut    bool // the last block has no closing tag and its Python is unfinished
}

func collect(text string) *collector {
	var c collector
	var s tags.Scanner
	s.Write(text, &c)
	s.Close(&c)
	_, c.cut = s.Unclosed()
	c.doubt = s.Doubt()
	return &c
}

// Span implements tags.Sink.
func (c *collector) Span(k tags.Kind, text string) {
	switch k {
	case tags.Prose:
		c.addProse(text)
	case tags.Open:
		c.open = true
		c.blocks = append(c.blocks, block{ownLine: strings.HasSuffix(text, "\n")})
	case tags.Code:
		b := &c.blocks[len(c.blocks)-1]
		b.text += text
	case tags.Mark:
		if c.open && strings.Contains(text, "\n") && c.blocks[len(c.blocks)-1].text == "" {
			c.blocks[len(c.blocks)-1].ownLine = true
		}
	case tags.Close:
		c.open = false
	case tags.Forget:
		c.blocks, c.open = nil, false
		c.prose.Reset()
	}
}

func (c *collector) addProse(text string) {
	if n := len(c.blocks); n > 0 {
		b := &c.blocks[n-1]
		b.mention = b.mention || !b.followed && b.padded() && beginsWithWord(text)
		b.followed = true
	}
	c.prose.WriteString(text)
}

// action joins the blocks.
func (c *collector) action() Outcome {
	if c.cut {
		return repair(MalformedAction, detailUnclosed)
	}
	var code strings.Builder
	for _, b := range c.blocks {
		if b.mention {
			return repair(MalformedAction, detailMisplaced)
		}
		src := b.source()
		if src == "" {
			continue
		}
		if code.Len() > 0 {
			code.WriteString("\n\n")
		}
		code.WriteString(src)
	}
	if code.Len() == 0 {
		return repair(MalformedAction, detailEmpty)
	}
	return Outcome{Kind: Run, Code: code.String()}
}

// answer takes prose for the answer.
func (c *collector) answer(e end) Outcome {
	text := trim(c.prose.String())
	switch {
	case text == "":
		return repair(EmptyVisibleContent, "")
	case unsupported(text):
		return repair(UnsupportedOrTagOnly, "")
	case e == toolCalls:
		return repair(MissingExplicitTermination, detailNoCall)
	}
	return Outcome{Kind: Answer, Text: withoutThought(text)}
}
