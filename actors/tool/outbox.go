package tool

import (
	"encoding/json"
	"sync"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/troupe-go/troupe/messages"
)

// maxEventContent bounds the bytes of one event that a tool publishes.
const maxEventContent = 1 << 20

// outbox is where a call's events and files go. After close, which its end or
// its cancel does, no event leaves any more; files still count, for they are
// there.
type outbox struct {
	root     *actor.RootContext
	observer *actor.PID // nil: nobody watches
	callID   string
	lang     string
	record   bool // keep the events, for the cache

	mu        sync.Mutex
	closed    bool
	refused   bool // an event came after close
	events    []messages.Event
	artifacts []messages.Artifact
}

// emit publishes an event. Content of a type whose events hold an object is a
// JSON object.
func (o *outbox) emit(t messages.ProcessType, content string) {
	ev := messages.Event{Type: t, ToolCallID: o.callID}
	switch {
	case len(content) > maxEventContent:
		ev.Type = messages.Warning
		ev.Content = pick(o.lang, "an event was left out, it is larger than 1 MiB: ", "事件超过 1 MiB，已省略：") + string(t)
	case objectContent(t) && json.Valid([]byte(content)):
		ev.Object = json.RawMessage(content)
	default:
		ev.Content = content
	}
	o.publish(ev)
}

func objectContent(t messages.ProcessType) bool {
	return t == messages.SkillArtifact || t == messages.FileArtifact || t == messages.HumanInteraction
}

// publish sends under the lock, so that nothing leaves after close. Sending to
// an actor doesn't wait.
func (o *outbox) publish(ev messages.Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		o.refused = true
		return
	}
	if o.record {
		o.events = append(o.events, ev)
	}
	if o.observer != nil {
		o.root.Send(o.observer, &messages.Emit{Event: ev})
	}
}

func (o *outbox) changed(a messages.Artifact) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.artifacts = append(o.artifacts, a)
}

// recorded closes the outbox and gives the call's events, if they were kept and
// all of them left.
func (o *outbox) recorded() (events []messages.Event, whole bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	return o.events, o.record && !o.refused
}

func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
}

func (o *outbox) files() []messages.Artifact {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.artifacts[:len(o.artifacts):len(o.artifacts)]
}

// replay publishes the events of an earlier call as this call's.
func (o *outbox) replay(events []messages.Event) {
	for _, ev := range events {
		ev.ToolCallID = o.callID
		o.publish(ev)
	}
}
