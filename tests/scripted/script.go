package scripted

import (
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/goccy/go-yaml"
)

// defaultChunk is about what a token is in bytes, times four.
const defaultChunk = 16

// Script is what a model says; see the package comment. Parse makes one; one
// made in Go is checked by Start.
type Script struct {
	Chunk int    `yaml:"chunk"`
	Turns []Turn `yaml:"turns"`
}

// Turn answers the requests that it fits.
type Turn struct {
	Name    string  `yaml:"name"`
	Match   Match   `yaml:"match"`
	Times   int     `yaml:"times"`
	Repeat  bool    `yaml:"repeat"`
	Reply   *Reply  `yaml:"reply"`
	Replies []Reply `yaml:"replies"`

	lastUser, any *regexp.Regexp
}

// Match says which requests a turn fits; every key given must.
type Match struct {
	Model          string `yaml:"model"`
	Step           int    `yaml:"step"`
	LastUser       string `yaml:"last_user"`
	LastUserRegexp string `yaml:"last_user_regexp"`
	Any            string `yaml:"any"`
	AnyRegexp      string `yaml:"any_regexp"`
}

// Reply is one answer.
type Reply struct {
	Text           string   `yaml:"text"`
	Chunk          int      `yaml:"chunk"`
	Deltas         []string `yaml:"deltas"`
	Reasoning      string   `yaml:"reasoning"`
	ReasoningField string   `yaml:"reasoning_field"`
	FinishReason   string   `yaml:"finish_reason"`
	Usage          *Usage   `yaml:"usage"`

	Wait        time.Duration     `yaml:"wait"`
	Delay       time.Duration     `yaml:"delay"`
	Status      int               `yaml:"status"`
	Headers     map[string]string `yaml:"headers"`
	Error       *Error            `yaml:"error"`
	Body        string            `yaml:"body"`
	ContentType string            `yaml:"content_type"`
	Lines       []string          `yaml:"lines"`

	CutAfter *int   `yaml:"cut_after"`
	Hang     string `yaml:"hang"`
	Endless  bool   `yaml:"endless"`
	NoDone   bool   `yaml:"no_done"`
	Bytewise bool   `yaml:"bytewise"`
}

// Usage is what the reply says it cost.
type Usage struct {
	PromptTokens     int `yaml:"prompt_tokens"`
	CompletionTokens int `yaml:"completion_tokens"`
	CachedTokens     int `yaml:"cached_tokens"`
}

// Error is a provider's error object.
type Error struct {
	Message string `yaml:"message" json:"message"`
	Code    any    `yaml:"code" json:"code,omitempty"` // a number or a name
	Type    string `yaml:"type" json:"type,omitempty"`
	Param   string `yaml:"param" json:"param,omitempty"`
}

// Values of Reply.Hang and Reply.FinishReason.
const (
	HangHeaders    = "headers"
	HangBody       = "body"
	NoFinishReason = "none"
)

// Parse reads a script. Errors name line and column, or the turn.
func Parse(data []byte) (*Script, error) {
	var s Script
	if err := yaml.UnmarshalWithOptions(data, &s, yaml.Strict()); err != nil {
		return nil, fmt.Errorf("script: %w", err)
	}
	if _, err := s.prepared(); err != nil {
		return nil, err
	}
	return &s, nil
}

// prepared checks the script and gives a copy with its defaults filled in, so
// that one script serves many servers.
func (s *Script) prepared() (*Script, error) {
	p := &Script{Chunk: s.Chunk, Turns: make([]Turn, len(s.Turns))}
	if p.Chunk == 0 {
		p.Chunk = defaultChunk
	}
	if len(s.Turns) == 0 {
		return nil, errors.New("script: it has no turns")
	}
	var errs []error
	for i, t := range s.Turns {
		if t.Name == "" {
			t.Name = fmt.Sprintf("turn-%d", i+1)
		}
		if err := t.prepare(p.Chunk); err != nil {
			errs = append(errs, fmt.Errorf("script: turn %q: %w", t.Name, err))
		}
		p.Turns[i] = t
	}
	return p, errors.Join(errs...)
}

func (t *Turn) prepare(chunk int) error {
	var err error
	if t.lastUser, err = regexp.Compile(t.Match.LastUserRegexp); err != nil {
		return fmt.Errorf("last_user_regexp: %w", err)
	}
	if t.any, err = regexp.Compile(t.Match.AnyRegexp); err != nil {
		return fmt.Errorf("any_regexp: %w", err)
	}
	replies := append([]Reply(nil), t.Replies...)
	if t.Reply != nil {
		replies = append(replies, *t.Reply)
	}
	t.Replies, t.Reply = replies, nil
	switch {
	case len(replies) == 0:
		return errors.New("it has neither reply nor replies")
	case t.Repeat && t.Times != 0:
		return errors.New("times and repeat exclude each other")
	case t.Times < 0:
		return errors.New("times is negative")
	case t.Times == 0:
		t.Times = len(replies)
	}
	for i := range replies {
		if err := replies[i].prepare(chunk); err != nil {
			return fmt.Errorf("reply %d: %w", i+1, err)
		}
	}
	return nil
}

func (r *Reply) prepare(chunk int) error {
	if r.Chunk == 0 {
		r.Chunk = chunk
	}
	if r.Status == 0 {
		r.Status = 200
	}
	if r.FinishReason == "" {
		r.FinishReason = "stop"
	}
	if r.ReasoningField == "" {
		r.ReasoningField = "reasoning_content"
	}
	forms := 0
	for _, given := range []bool{r.Text != "", len(r.Deltas) > 0, r.Body != "", len(r.Lines) > 0} {
		if given {
			forms++
		}
	}
	switch {
	case forms > 1:
		return errors.New("text, deltas, body and lines exclude each other")
	case r.Chunk < 0:
		return errors.New("chunk is negative")
	case r.Status < 200 || r.Status > 599:
		return fmt.Errorf("status %d is none that a server sends", r.Status)
	case r.Hang != "" && r.Hang != HangHeaders && r.Hang != HangBody:
		return fmt.Errorf("hang is %q; it may be %s or %s", r.Hang, HangHeaders, HangBody)
	case r.ReasoningField != "reasoning_content" && r.ReasoningField != "reasoning":
		return fmt.Errorf("reasoning_field is %q; it may be reasoning_content or reasoning", r.ReasoningField)
	case r.Endless && len(r.deltas()) == 0:
		return errors.New("an endless reply needs text or deltas")
	}
	return nil
}
