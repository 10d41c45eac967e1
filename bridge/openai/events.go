package openai

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// Bounds of what a provider may send.
const (
	maxLine   = 1 << 20  // bytes of a line of the stream
	maxStream = 64 << 20 // bytes of a whole answer
)

// events turns what servers send as an event stream into the one form that
// go-openai reads without losing anything: a line "data: <JSON>" an event. It
// drops comments and fields that say nothing here; it joins an event's lines;
// it accepts every line end, a missing last one, and JSON without "data:"; it
// keeps error objects from go-openai, which would end the stream on them and
// forget what it can't decode; and it remembers whether [DONE] came.
type events struct {
	in    *bufio.Reader
	total int

	out  []byte // normalised, not yet read
	data []byte // of the event that is being gathered
	name string // of that event
	done bool
	err  error // once the input has ended
}

func newEvents(body *bufio.Reader) *events { return &events{in: body} }

// Read implements io.Reader.
func (e *events) Read(p []byte) (int, error) {
	for len(e.out) == 0 {
		if e.err != nil {
			return 0, e.err
		}
		line, err := e.line()
		if tooLong := e.feed(line); tooLong != nil {
			err = tooLong
		}
		if err != nil {
			e.flush()
			e.err = err
		}
	}
	n := copy(p, e.out)
	e.out = e.out[n:]
	return n, nil
}

// errTooLong says which bound an answer broke.
var errTooLong = errors.New("too long an answer")

// line reads a line without its end, within bounds.
func (e *events) line() ([]byte, error) {
	var line []byte
	for {
		part, err := e.in.ReadSlice('\n')
		e.total += len(part)
		if len(line)+len(part) > maxLine {
			return nil, fmt.Errorf("%w: a line of more than %d bytes", errTooLong, maxLine)
		}
		if e.total > maxStream {
			return nil, fmt.Errorf("%w: more than %d bytes", errTooLong, maxStream)
		}
		if line == nil && err == nil {
			return trimEnd(part), nil
		}
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return trimEnd(line), err
		}
	}
}

func trimEnd(line []byte) []byte { return bytes.TrimRight(line, "\r\n") }

var byteOrderMark = []byte("\xef\xbb\xbf")

// feed takes one line of the stream.
func (e *events) feed(line []byte) error {
	line = bytes.TrimPrefix(line, byteOrderMark)
	switch {
	case len(line) == 0:
		e.flush()
	case line[0] == ':':
	case line[0] == '{':
		return e.gather(line)
	default:
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(name) {
		case "data":
			return e.gather(value)
		case "event":
			e.name = string(value)
		}
	}
	return nil
}

// gather takes a piece of an event's data. An event on one line is handed on
// at once: some servers put no blank line between events. One of several lines
// ends at the blank line, where it is read for the first time.
func (e *events) gather(piece []byte) error {
	piece = bytes.TrimSpace(piece)
	if len(piece) == 0 {
		return nil
	}
	if len(e.data) == 0 && (string(piece) == "[DONE]" || json.Valid(piece)) {
		e.emit(piece)
		return nil
	}
	if len(e.data)+len(piece) >= maxLine {
		e.data = nil
		return fmt.Errorf("%w: an event of more than %d bytes", errTooLong, maxLine)
	}
	if len(e.data) > 0 {
		e.data = append(e.data, ' ') // a line break in JSON is white space
	}
	e.data = append(e.data, piece...)
	return nil
}

// flush ends an event, whole or not; what isn't is an error of the reader.
func (e *events) flush() {
	if len(e.data) > 0 {
		e.emit(e.data)
	}
	e.name = ""
}

var errorPrefix = []byte(`{"error":`)

// emit hands an event on as one line. A blank behind the brace hides an error
// object from go-openai; an event named error becomes such an object.
func (e *events) emit(data []byte) {
	e.done = e.done || string(data) == "[DONE]"
	e.out = append(e.out[:0], "data: "...)
	switch {
	case e.name == "error" && json.Valid(data):
		e.out = append(append(append(e.out, `{ "error":`...), data...), '}')
	case bytes.HasPrefix(data, errorPrefix):
		e.out = append(append(e.out, "{ "...), data[1:]...)
	default:
		e.out = append(e.out, data...)
	}
	e.out = append(e.out, '\n')
	e.data = e.data[:0]
}
