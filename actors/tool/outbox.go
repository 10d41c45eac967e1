package tool

import (
	"encoding/json"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/troupe-go/troupe/messages"
)

// maxEventContent bounds the bytes of one event that a tool publishes.
const maxEventContent = 256 << 10

// outbox is where a call's events and files go. After close, which its end or
// its cancel does, no event leaves any more; files still count, for they are
// there.
type outbox struct {
	root     *actor.RootContext
	observer *actor.PID // nil: nobody watches
	callID   string
	lang     string
	record   bool                            // keep the events, for the cache
	complain func(what string, attrs ...any) // tells operators what a tool does wrong

	mu        sync.Mutex
	closed    bool
	refused   bool // an event came after close
	badEvent  bool // operators were told of an event that may not be
	badFile   bool // and of a file
	events    []messages.Event
	artifacts []messages.Artifact
}

// emit publishes an event, if it is one that a tool may publish.
func (o *outbox) emit(t messages.ProcessType, content string) {
	ev := messages.Event{Type: t, ToolCallID: o.callID}
	info := processType(t)
	switch {
	case !info.Tools:
		o.complainOnce(&o.badEvent, "a tool published an event of a type that isn't a tool's; it was left out", "type", clip(string(t), 64))
		return
	case info.ObjectContent && !isObject(content):
		o.complainOnce(&o.badEvent, "a tool published an event whose content must be a JSON object and isn't; it was left out", "type", t)
		return
	case len(content) > maxEventContent && json.Valid([]byte(content)):
		ev.Type = messages.Warning
		ev.Content = pick(o.lang, "an event was left out, it is larger than 256 KiB: ", "事件超过 256 KiB，已省略：") + string(t)
	case info.ObjectContent:
		ev.Object = json.RawMessage(content)
	default:
		ev.Content = clip(content, maxEventContent)
	}
	o.publish(ev)
}

// processType gives what the table says; a type that isn't in it is nobody's.
func processType(t messages.ProcessType) messages.ProcessTypeInfo {
	for _, info := range messages.ProcessTypes {
		if info.Type == t {
			return info
		}
	}
	return messages.ProcessTypeInfo{}
}

func isObject(content string) bool {
	return strings.HasPrefix(strings.TrimLeft(content, " \t\r\n"), "{") && json.Valid([]byte(content))
}

// complainOnce tells operators of the first mistake of its kind: a tool that
// makes one makes it again.
func (o *outbox) complainOnce(told *bool, what string, attrs ...any) {
	o.mu.Lock()
	first := !*told
	*told = true
	o.mu.Unlock()
	if first {
		o.complain(what, attrs...)
	}
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

// changed notes a file of the workspace.
func (o *outbox) changed(a messages.Artifact) {
	if !isWorkspacePath(a.Path) || a.Size < 0 {
		o.complainOnce(&o.badFile, "a tool named a changed file by no path within the workspace, or with a negative size; it was left out",
			"path", clip(a.Path, 200), "size", a.Size)
		return
	}
	a.Path = path.Clean(a.Path)
	if a.Name == "" {
		a.Name = path.Base(a.Path)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.artifacts = append(o.artifacts, a)
}

// isWorkspacePath reports whether p names something within a folder. Backslashes
// separate on some systems and not on others: a path with one is nobody's.
func isWorkspacePath(p string) bool {
	return !strings.ContainsAny(p, "\\\x00") && filepath.IsLocal(filepath.FromSlash(p)) && path.Clean(p) != "."
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
