package agent

import (
	"cmp"
	"slices"

	"github.com/troupe-go/troupe/messages"
	"github.com/troupe-go/troupe/messages/fact"
)

// blocks is what the facts say of the code that ran: the blocks whose
// variables later ones build on, and the one that is open. It is folded from
// facts, the owner's own and those of owners before it, in one way.
type blocks struct {
	past     []messages.PastBlock
	open     *openBlock // nil: none
	executor string     // kind, version and driver hash that the past ran in
}

// openBlock is a block that has not ended.
type openBlock struct {
	messages.PastBlock // its calls are those that returned
	intents            []*fact.Intended
	returned           map[string]bool // by tool call id
}

// note takes a fact.
func (b *blocks) note(f fact.Fact) {
	switch f := f.(type) {
	case *fact.RunStarted:
		b.executor = f.Executor
	case *fact.Thought:
		if f.Code != "" && f.Rejected == "" {
			b.open = &openBlock{PastBlock: messages.PastBlock{Step: f.Step, Code: f.Code, Clock: f.Clock}}
		}
	case *fact.Intended:
		if b.open != nil {
			b.open.intents = append(b.open.intents, f)
			b.open.Calls = append(b.open.Calls, f.Calls...)
		}
	case *fact.Returned:
		b.noteReturned(f)
	case *fact.Executed:
		b.noteExecuted(f)
	}
}

func (b *blocks) noteReturned(f *fact.Returned) {
	if b.open == nil {
		return
	}
	i := slices.IndexFunc(b.open.intents, func(i *fact.Intended) bool { return i.ToolCallID == f.ToolCallID })
	if i < 0 || b.open.returned[f.ToolCallID] {
		return // of a block that has ended
	}
	if b.open.returned == nil {
		b.open.returned = make(map[string]bool, 1)
	}
	b.open.returned[f.ToolCallID] = true
	b.open.Calls = append(b.open.Calls, messages.RecordedCall{
		Call: f.Call, Tool: f.Tool, Hash: b.open.intents[i].Hash, Value: f.Value, Err: f.Err, At: f.At,
	})
}

// noteExecuted ends the open block. One that was killed, or interrupted, took
// its variables with it: nothing builds on it.
func (b *blocks) noteExecuted(f *fact.Executed) {
	if f.Lost != nil && f.Lost.Names == nil {
		b.past = nil
	}
	if f.Executor != "" {
		b.executor = f.Executor
	}
	open := b.open
	b.open = nil
	if open == nil || f.Killed != "" || f.Interrupted || f.IsFinal {
		return
	}
	p := open.PastBlock
	p.Calls = append(p.Calls, f.Calls...)
	sortCalls(p.Calls)
	p.OutputHash, p.State, p.CPU, p.Unrepeatable, p.Snapshot = f.OutputHash, f.State, f.CPU, f.Unrepeatable, f.Snapshot
	if f.Err != nil {
		p.Err = f.Err.Type
	}
	b.past = append(b.past, p)
}

// before gives the blocks that the next one builds on; nobody changes them.
func (b *blocks) before() []messages.PastBlock { return slices.Clip(b.past) }

// inDoubt gives the intents of the open block whose outcome isn't known.
func (o *openBlock) inDoubt() []*fact.Intended {
	var list []*fact.Intended
	for _, i := range o.intents {
		if !o.returned[i.ToolCallID] {
			list = append(list, i)
		}
	}
	return list
}

func sortCalls(calls []messages.RecordedCall) {
	slices.SortStableFunc(calls, func(x, y messages.RecordedCall) int { return cmp.Compare(x.Call, y.Call) })
}
