package scripted

import (
	"encoding/json"
	"errors"
	"net/http"
	"time"
)

// errClientGone ends a reply whose client closed its connection.
var errClientGone = errors.New("the client went away")

// player gives one reply.
type player struct {
	w     http.ResponseWriter
	r     *http.Request
	reply *Reply
	model string
	sent  int // deltas or lines
}

// play gives the whole reply. errClientGone says that the client left before
// its end.
func (p *player) play() error {
	if err := p.pause(p.reply.Wait); err != nil {
		return err
	}
	if p.reply.Hang == HangHeaders {
		return p.hang()
	}
	for name, value := range p.reply.Headers {
		p.w.Header().Set(name, value)
	}
	if p.reply.Body != "" || p.reply.Status != http.StatusOK {
		return p.plain()
	}
	p.w.Header().Set("Content-Type", kindOr(p.reply.ContentType, "text/event-stream"))
	p.w.WriteHeader(p.reply.Status)
	if err := p.flush(); err != nil {
		return err
	}
	if p.reply.Hang == HangBody {
		return p.hang()
	}
	if len(p.reply.Lines) > 0 {
		return p.lines()
	}
	return p.stream()
}

func kindOr(kind, otherwise string) string {
	if kind == "" {
		return otherwise
	}
	return kind
}

// plain answers without a stream.
func (p *player) plain() error {
	body := p.reply.Body
	if body == "" && p.reply.Error != nil {
		b, err := json.Marshal(object{"error": p.reply.Error})
		if err != nil {
			return err
		}
		body = string(b)
	}
	p.w.Header().Set("Content-Type", kindOr(p.reply.ContentType, "application/json"))
	p.w.WriteHeader(p.reply.Status)
	return p.write(body)
}

// lines gives raw lines.
func (p *player) lines() error {
	for _, line := range p.reply.Lines {
		if err := p.delta(line + "\n"); err != nil {
			return err
		}
	}
	p.cutIf(p.reply.CutAfter != nil)
	return nil
}

// stream gives text as a well-behaved server does, but for what it is told.
func (p *player) stream() error {
	for _, line := range p.reply.opening(p.model) {
		if err := p.write(line); err != nil {
			return err
		}
	}
	deltas := p.reply.deltas()
	for round := 0; round == 0 || p.reply.Endless; round++ {
		for _, text := range deltas {
			if err := p.delta(chunkLine(p.model, object{"content": text}, nil)); err != nil {
				return err
			}
		}
	}
	p.cutIf(p.reply.CutAfter != nil)
	for _, line := range p.reply.closing(p.model) {
		if err := p.write(line); err != nil {
			return err
		}
	}
	return nil
}

// delta gives one counted piece.
func (p *player) delta(line string) error {
	p.cutIf(p.reply.CutAfter != nil && p.sent >= *p.reply.CutAfter)
	p.sent++
	if err := p.pause(p.reply.Delay); err != nil {
		return err
	}
	return p.write(line)
}

// cutIf breaks the connection: net/http does so for this panic, silently.
func (p *player) cutIf(cut bool) {
	if cut {
		panic(http.ErrAbortHandler)
	}
}

func (p *player) write(text string) error {
	step := len(text)
	if p.reply.Bytewise {
		step = 1
	}
	for len(text) > 0 {
		n := min(step, len(text))
		if _, err := p.w.Write([]byte(text[:n])); err != nil {
			return errClientGone
		}
		if err := p.flush(); err != nil {
			return err
		}
		text = text[n:]
	}
	return nil
}

func (p *player) flush() error {
	if http.NewResponseController(p.w).Flush() != nil || p.r.Context().Err() != nil {
		return errClientGone
	}
	return nil
}

// pause waits in real time: the client is another program.
func (p *player) pause(d time.Duration) error {
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-p.r.Context().Done():
		return errClientGone
	}
}

func (p *player) hang() error {
	<-p.r.Context().Done()
	return errClientGone
}
