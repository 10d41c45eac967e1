package observer

import (
	"time"
	"unicode/utf8"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/troupe-go/troupe/actors/agent/action/tags"
	"github.com/troupe-go/troupe/actors/system"
	"github.com/troupe-go/troupe/messages"
)

// minJoinBytes is the shortest text that holds any character.
const minJoinBytes = utf8.UTFMax

// attempt is one attempt's text on its way from the model to events. It
// belongs to its observer's turn.
type attempt struct {
	observer *observer
	id       string
	number   int
	tags     tags.Scanner

	kind   messages.ProcessType // of the text that waits
	text   string               // text that waits, a single piece
	joined []byte               // or several
	last   time.Time            // when text was published last
	timer  system.Timer         // runs while text waits
}

// joinDue says that text has waited long enough.
type joinDue struct{ attempt *attempt }

// Span implements tags.Sink. Markers are no text.
func (a *attempt) Span(k tags.Kind, text string) {
	switch k {
	case tags.Prose:
		a.add(messages.ModelOutputThinking, text)
	case tags.Deep:
		a.add(messages.ModelOutputDeepThinking, text)
	case tags.Code:
		a.add(messages.ModelOutputCode, text)
	case tags.Open:
		a.flush() // each block begins an event
	}
}

// add lets text wait.
func (a *attempt) add(kind messages.ProcessType, text string) {
	if kind != a.kind {
		a.flush()
		a.kind = kind
	}
	switch {
	case len(a.joined) == 0 && a.text == "":
		a.text = text
	case len(a.joined) == 0:
		a.joined = append(a.joined, a.text...)
		a.text = ""
		fallthrough
	default:
		a.joined = append(a.joined, text...)
	}
}

func (a *attempt) waiting() int { return len(a.text) + len(a.joined) }

// schedule publishes the text that waits, or sees that it will be.
func (a *attempt) schedule(self *actor.PID) {
	cfg := a.observer.cfg
	if a.waiting() == 0 || a.timer != nil && a.waiting() < cfg.JoinBytes {
		return
	}
	now := cfg.System.World().Now()
	wait := cfg.JoinDelay - now.Sub(a.last)
	if a.last.IsZero() || wait <= 0 || a.waiting() >= cfg.JoinBytes {
		a.flush()
		return
	}
	root := cfg.System.Root()
	a.timer = cfg.System.World().AfterFunc(wait, func() { root.Send(self, &joinDue{a}) })
}

// flush publishes the text that waits, in events of at most JoinBytes.
func (a *attempt) flush() {
	a.disarm()
	text := a.text
	if len(a.joined) > 0 {
		text = string(a.joined)
	}
	a.text, a.joined = "", a.joined[:0]
	for text != "" {
		n := fit(text, a.observer.cfg.JoinBytes)
		a.publish(text[:n])
		text = text[n:]
	}
}

func (a *attempt) publish(text string) {
	ev := &messages.Event{Type: a.kind, Content: text, AttemptID: a.id}
	a.observer.stamp(ev)
	a.last = ev.Time
	a.observer.cfg.Journal.Publish(ev)
}

func (a *attempt) disarm() {
	if a.timer != nil {
		a.timer.Stop()
		a.timer = nil
	}
}

// fit is the length of the longest beginning of s of at most limit bytes that
// cuts no character.
func fit(s string, limit int) int {
	if len(s) <= limit {
		return len(s)
	}
	for n := limit; n > limit-utf8.UTFMax; n-- {
		if utf8.RuneStart(s[n]) {
			return n
		}
	}
	return limit // not UTF-8
}
