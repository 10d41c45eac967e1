package prompt

import (
	"fmt"
	"strings"

	"github.com/troupe-go/troupe/messages"
)

// Bounds of one list in an interruption, so that a block with thousands of
// calls stays readable.
const (
	maxListed    = 40  // calls
	maxArguments = 200 // bytes of a call's arguments or result
)

// InterruptedCall is a tool call as the model is told of it.
type InterruptedCall struct {
	Tool      string
	Arguments string              // e.g. their JSON; cut when long
	Result    string              // of a finished call; cut when long
	Err       *messages.ToolError // of a call that ended with an error
}

// InterruptedData is what is known of a block that a take-over ended.
type InterruptedData struct {
	Done     []InterruptedCall // finished calls
	InDoubt  []InterruptedCall // begun, outcome unknown
	Children []string          // sub-agents that go on
}

// Interrupted gives the observation of a block that ends with
// BlockInterrupted: what was done, what is in doubt, which sub-agents run
// (DESIGN §5, take-over).
func Interrupted(lang string, d InterruptedData) string {
	p := sentences(lang)
	var b strings.Builder
	b.WriteString(p.interrupted)
	if len(d.Done)+len(d.InDoubt)+len(d.Children) == 0 {
		return b.String() + "\n" + p.nothing
	}
	list(&b, lang, p.doneHead, d.Done)
	list(&b, lang, p.doubtHead, d.InDoubt)
	children := make([]InterruptedCall, len(d.Children))
	for i, name := range d.Children {
		children[i].Tool = name
	}
	list(&b, lang, p.childHead, children)
	return b.String() + "\n" + p.interEnd
}

func list(b *strings.Builder, lang, head string, calls []InterruptedCall) {
	if len(calls) == 0 {
		return
	}
	b.WriteString("\n" + head)
	for i, c := range calls {
		if i == maxListed {
			b.WriteString("\n" + fmt.Sprintf(sentences(lang).more, len(calls)-i))
			return
		}
		b.WriteString("\n- " + c.Tool)
		if c.Arguments != "" {
			b.WriteString(" " + Clip(c.Arguments, maxArguments, lang))
		}
		if c.Err != nil {
			b.WriteString(" -> " + Clip(c.Err.Type+": "+c.Err.Message, maxArguments, lang))
		} else if c.Result != "" {
			b.WriteString(" -> " + Clip(c.Result, maxArguments, lang))
		}
	}
}
