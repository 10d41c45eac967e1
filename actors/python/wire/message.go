package wire

import (
	"encoding/json"
	"slices"
	"unicode/utf8"

	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/actors/python/value"
	"github.com/troupe-go/troupe/messages"
)

// The kinds of lines from the guest.
const (
	kindReady = "ready"
	kindWall  = "wall"
	kindOut   = "out"
	kindCall  = "call"
	kindFinal = "final"
	kindDone  = "done"
	// kindBroken: code broke the driver program, which ends.
	kindBroken   = "broken"
	kindSnapshot = "snapshot"
	kindRestored = "restored"
)

// message is any line from the guest; a kind uses the fields its comment says.
type message struct {
	Kind    string            `json:"t"`
	Block   uint64            `json:"b"`
	Version string            `json:"version"` // ready
	Head    string            `json:"head"`    // out: appended
	Tail    *string           `json:"tail"`    // out: instead of the tail before
	Cut     int64             `json:"cut"`     // out: bytes left out between head and tail
	Tool    string            `json:"tool"`    // call; wall: its name
	Args    []json.RawMessage `json:"args"`    // call
	Kwargs  json.RawMessage   `json:"kwargs"`  // call
	Value   json.RawMessage   `json:"value"`   // final, done
	Text    string            `json:"text"`    // final; wall: why it is missing; broken: what ended it
	Repr    string            `json:"repr"`    // done
	Error   *messages.PyError `json:"error"`   // done
	Marks   []string          `json:"marks"`   // done: why the block can't be run again
	State   string            `json:"state"`   // done: a mark of what the variables hold
	Data    []byte            `json:"data"`    // snapshot
	Missing []string          `json:"missing"` // snapshot: names that are not in data
}

// The lines to the guest.
type (
	initCommand struct {
		Op          string   `json:"op"`
		Tools       []string `json:"tools"`
		Imports     []string `json:"imports"`
		OutputLimit int      `json:"output_limit"`
		Lang        string   `json:"lang"`
		Seed        string   `json:"seed"`
	}
	execCommand struct {
		Op     string `json:"op"`
		Block  uint64 `json:"block"`
		Number uint64 `json:"number"` // as people count
		Code   string `json:"code"`
		Clock  int64  `json:"clock,omitempty"` // nanoseconds since 1970
		Replay bool   `json:"replay,omitempty"`
	}
	snapshotCommand struct {
		Op    string `json:"op"`
		Limit int    `json:"limit"`
	}
	restoreCommand struct {
		Op   string `json:"op"`
		Data []byte `json:"data"`
	}
	resultCommand struct {
		Value json.RawMessage     `json:"value,omitempty"`
		Error *messages.ToolError `json:"error,omitempty"`
		Clock int64               `json:"clock,omitempty"` // nanoseconds since 1970
	}
)

// Bounds of texts, in bytes; the driver program keeps within them.
const (
	maxRepr      = 128 << 10
	maxFinalText = 4 << 20
	maxTypeName  = 256
	maxErrorText = 128 << 10
	maxTraceback = 64 << 10
)

// refusedValue stands for a value that didn't pass the checks.
const refusedValue = `{"$repr":"<a value that is nested too deep>","type":"object"}`

func checkedValue(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	if value.Check(raw) != nil {
		return json.RawMessage(refusedValue)
	}
	return raw
}

func checkedError(e *messages.PyError) *messages.PyError {
	if e == nil {
		return nil
	}
	return &messages.PyError{
		Type:      bounded(e.Type, maxTypeName),
		Message:   bounded(e.Message, maxErrorText),
		Line:      max(e.Line, 0),
		Traceback: bounded(e.Traceback, maxTraceback),
	}
}

// checkedMarks keeps the marks that exist.
func checkedMarks(marks []string) []string {
	var known []string
	for _, m := range []string{python.UsedThreads, python.UsedCPUTime} {
		if slices.Contains(marks, m) {
			known = append(known, m)
		}
	}
	return known
}

// checkedCall reports whether a call's arguments can be passed on.
func checkedCall(m *message) error {
	if len(m.Kwargs) > 0 && m.Kwargs[0] != '{' {
		m.Kwargs = nil
	}
	if string(m.Kwargs) == "{}" {
		m.Kwargs = nil
	}
	for _, raw := range append(m.Args, m.Kwargs) {
		if err := value.Check(raw); err != nil {
			return err
		}
	}
	return nil
}

// bounded cuts s to at most limit bytes, between characters.
func bounded(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}
