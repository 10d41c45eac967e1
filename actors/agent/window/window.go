// Package window is what one invocation's model sees: the growing list of
// messages that every request shares, and the attachments of a query.
//
// # Sharing
//
// A message is encoded once, when it joins. [Window.Messages] hands out a view
// of the list in constant time: a step costs the same at step 1,000 as at
// step 1. A view stays valid, and unchanged, while the window grows.
//
// # Concurrency
//
// A Window belongs to one goroutine (its agent's mailbox turn). The views it
// hands out may be read on any.
package window

import (
	"fmt"
	"strings"

	"github.com/troupe-go/troupe/messages"
)

// Roles of chat messages.
const (
	System    = "system"
	User      = "user"
	Assistant = "assistant"
)

// ErrHistoryRole is a turn of the history that is neither the user's nor the
// assistant's. The seeds drop such turns silently; a caller who sends one means
// something by it.
var ErrHistoryRole = &messages.Fault{
	Code: "history_role", Class: messages.Permanent,
	EN: "turn %d of the history has the role %q; give user or assistant",
	ZH: "历史记录第 %d 条的角色是 %q；只能是 user 或 assistant",
}

// Window is the growing list of messages of one invocation.
type Window struct {
	list   []messages.ChatMessage
	tokens int
}

// New starts a window with the system prompt ("" for none) and the turns of an
// earlier conversation. visible takes the thinking out of an assistant's text;
// nil keeps it as it is. A turn with nothing in it is left out: providers
// refuse empty messages. The error is an [ErrHistoryRole].
func New(system string, history []messages.Turn, visible func(string) string) (*Window, error) {
	w := &Window{}
	if system != "" {
		w.Add(messages.NewChatMessage(System, system, nil))
	}
	for i, turn := range history {
		switch turn.Role {
		case User:
			w.turn(turn, nil)
		case Assistant:
			w.turn(turn, visible)
		default:
			return nil, ErrHistoryRole.Withf(i+1, turn.Role)
		}
	}
	return w, nil
}

func (w *Window) turn(turn messages.Turn, visible func(string) string) {
	parts := turn.Parts
	text := turn.Content
	if len(parts) > 0 {
		text = partsText(parts)
	}
	if visible != nil {
		text = visible(text)
		parts = nil // an assistant's turn is text on the wire
	}
	if strings.TrimSpace(text) == "" {
		return
	}
	if !hasImages(parts) {
		parts = nil
	}
	w.Add(messages.NewChatMessage(turn.Role, text, parts))
}

// Add appends a message. Views handed out before don't change.
func (w *Window) Add(m messages.ChatMessage) {
	w.list = append(w.list, m)
	w.tokens += messages.EstimateTokens(m.Text)
}

// Messages gives the list as it is now, in constant time. It has no spare
// capacity: appending to it copies.
func (w *Window) Messages() []messages.ChatMessage {
	n := len(w.list)
	return w.list[:n:n]
}

// EstimatedTokens is the sum of the estimates of all texts. Images are not
// counted: what they cost depends on the provider.
func (w *Window) EstimatedTokens() int { return w.tokens }

// partsText is what a model that takes no images reads of a message in parts.
func partsText(parts []messages.ContentPart) string {
	var b strings.Builder
	images := 0
	for _, p := range parts {
		if p.ImageURL != nil {
			images++
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(p.Text)
	}
	if images > 0 {
		fmt.Fprintf(&b, "\n[%d image(s)]", images)
	}
	return b.String()
}

func hasImages(parts []messages.ContentPart) bool {
	for _, p := range parts {
		if p.ImageURL != nil {
			return true
		}
	}
	return false
}
