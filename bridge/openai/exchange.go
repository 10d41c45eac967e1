package openai

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/troupe-go/troupe/actors/model"
)

// readBuffer is the buffer of a stream, in bytes; most chunks are far smaller.
const readBuffer = 16 << 10

// maxRefusal is how many bytes of a refusal's body are read.
const maxRefusal = 64 << 10

// exchange is one request and its answer. It is the HTTP doer under a
// go-openai client, which serves this one call.
type exchange struct {
	client *Client
	body   *body
	watch  *watch
	plain  bool // no sampling parameters were sent

	events     *events // the answer, once its headers came
	usageKnown bool
}

// Do implements gopenai.HTTPDoer. Errors are Faults where the answer is known
// to be none; go-openai hands them back untouched.
func (x *exchange) Do(req *http.Request) (*http.Response, error) {
	x.prepare(req)
	resp, err := x.client.http.Do(req)
	if err != nil {
		return nil, err
	}
	if err := x.accept(resp); err != nil {
		resp.Body.Close()
		return nil, err
	}
	return resp, nil
}

// prepare puts our body and the definition's headers in.
func (x *exchange) prepare(req *http.Request) {
	req.Body = x.body.open()
	req.ContentLength = x.body.length
	req.GetBody = func() (io.ReadCloser, error) { return x.body.open(), nil } // for a kept connection that had died
	req.URL.RawQuery = x.client.endpoint.query
	req.Header.Set("User-Agent", "troupe")
	req.Header.Set("Accept-Encoding", "identity") // without it a server may choose
	req.Header.Del("Connection")                  // go-openai asks for keep-alive, which is the default and not allowed in HTTP/2
	for name, value := range x.client.cfg.ExtraHeaders {
		req.Header.Set(name, value.Reveal())
	}
}

// accept checks the answer's status and kind and puts the event stream in
// place of its body.
func (x *exchange) accept(resp *http.Response) error {
	if resp.StatusCode < 200 || resp.StatusCode >= 300 {
		return x.refusal(resp)
	}
	in := bufio.NewReaderSize(&livelyReader{resp.Body, x.watch.alive}, readBuffer)
	if err := x.client.checkEncoding(resp, in); err != nil {
		return err
	}
	kind, err := x.kind(resp, in)
	if err != nil {
		return err
	}
	if kind == wholeAnswer {
		if in, err = x.whole(resp, in); err != nil {
			return err
		}
	}
	x.events = newEvents(in)
	resp.Body = struct {
		io.Reader
		io.Closer
	}{x.events, resp.Body}
	return nil
}

// drain reads what follows [DONE], the end of the body as a rule: a connection
// whose answer was read to its end is kept for the next call.
func (x *exchange) drain() {
	if !x.events.done {
		return
	}
	x.watch.settle(afterDone)
	// How the connection ends doesn't matter any more: the answer is whole.
	_, _ = io.Copy(io.Discard, io.LimitReader(x.events.in, maxRefusal))
}

type answerKind int

const (
	streamed answerKind = iota
	wholeAnswer
)

// kind tells a stream from a whole completion and both from anything else. A
// declared event stream is believed; else the first bytes decide, because
// servers declare all sorts of things.
func (x *exchange) kind(resp *http.Response, in *bufio.Reader) (answerKind, error) {
	declared, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err == nil && declared == "text/event-stream" {
		return streamed, nil
	}
	first, err := firstByte(in)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	switch first {
	case '{':
		return wholeAnswer, nil
	case 'd', ':', 'e', 'i', 'r': // data, comment, event, id, retry
		return streamed, nil
	}
	return 0, x.client.noAnswer(resp, snippet(in))
}

// firstByte looks at the first byte that isn't white space.
func firstByte(in *bufio.Reader) (byte, error) {
	for {
		b, err := in.ReadByte()
		if err != nil {
			return 0, err
		}
		if bytes.IndexByte([]byte(" \t\r\n"), b) < 0 {
			return b, in.UnreadByte()
		}
	}
}

// snippet is what has come of a body that is no answer.
func snippet(in *bufio.Reader) []byte {
	n := min(in.Buffered(), 200)
	b, err := in.Peek(n)
	if err != nil { // can't be: they are buffered
		return nil
	}
	return b
}

// whole turns a completion that isn't streamed into a stream of one event.
// JSON that is more than one value is a stream of bare JSON lines.
func (x *exchange) whole(resp *http.Response, in *bufio.Reader) (*bufio.Reader, error) {
	raw, err := io.ReadAll(io.LimitReader(in, maxStream+1))
	if err != nil {
		return nil, err
	}
	if len(raw) > maxStream {
		return nil, fmt.Errorf("%w: more than %d bytes", errTooLong, maxStream)
	}
	if !json.Valid(raw) {
		return bufio.NewReaderSize(bytes.NewReader(raw), readBuffer), nil
	}
	var shape chunk
	if err := json.Unmarshal(raw, &shape); err != nil || (len(shape.Choices) == 0 && shape.failure() == nil) {
		return nil, x.client.noAnswer(resp, raw)
	}
	var line bytes.Buffer
	line.WriteString("data: ")
	if err := json.Compact(&line, raw); err != nil {
		return nil, err
	}
	line.WriteString("\n\ndata: [DONE]\n")
	return bufio.NewReaderSize(&line, readBuffer), nil
}

// livelyReader reports each read that brought something.
type livelyReader struct {
	in    io.Reader
	alive func()
}

func (r *livelyReader) Read(p []byte) (int, error) {
	n, err := r.in.Read(p)
	if n > 0 {
		r.alive()
	}
	return n, err
}

// noAnswer says what came instead of an answer.
func (c *Client) noAnswer(resp *http.Response, body []byte) error {
	kind := c.secrets.clean(resp.Header.Get("Content-Type"))
	begins := c.secrets.clean(string(body[:min(len(body), 200)]))
	base := model.ErrBadResponse
	if strings.HasPrefix(kind, "text/html") {
		base = model.ErrWrongEndpoint
	}
	return c.fault(base,
		fmt.Sprintf("HTTP %d with content type %q that begins with %q", resp.StatusCode, kind, begins),
		fmt.Sprintf("HTTP %d，内容类型 %q，开头为 %q", resp.StatusCode, kind, begins))
}
