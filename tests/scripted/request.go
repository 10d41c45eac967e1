package scripted

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// readRequest reads a body as strict servers do: every message has a role and
// a content that is a string or a list of parts.
func readRequest(body []byte) (*Request, error) {
	var form struct {
		Model    string `json:"model"`
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(body, &form); err != nil {
		return nil, fmt.Errorf("the request is no JSON of a chat completion: %w", err)
	}
	req := &Request{Model: form.Model, Body: body}
	for i, m := range form.Messages {
		text, err := contentText(m.Content)
		if err != nil || m.Role == "" {
			return nil, fmt.Errorf("message %d needs a role and a content that is a string or a list of parts", i+1)
		}
		req.Messages = append(req.Messages, Message{Role: m.Role, Text: text})
	}
	if len(req.Messages) == 0 {
		return nil, fmt.Errorf("the request has no messages")
	}
	return req, nil
}

func contentText(raw json.RawMessage) (string, error) {
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if len(raw) > 0 && raw[0] == '[' {
		if err := json.Unmarshal(raw, &parts); err != nil {
			return "", err
		}
		var texts []string
		for _, p := range parts {
			if p.Type == "text" {
				texts = append(texts, p.Text)
			}
		}
		return strings.Join(texts, "\n"), nil
	}
	if len(raw) == 0 || raw[0] != '"' {
		return "", fmt.Errorf("content is %s", raw)
	}
	var text string
	return text, json.Unmarshal(raw, &text)
}

// shownHeaders are the headers whose values are recorded: any other may hold a
// key.
var shownHeaders = map[string]bool{
	"Accept": true, "Accept-Encoding": true, "Cache-Control": true, "Connection": true,
	"Content-Length": true, "Content-Type": true, "User-Agent": true,
}

// withoutKeys copies the headers; values that may be secret become ***.
func withoutKeys(h http.Header) http.Header {
	shown := http.Header{}
	for name, values := range h {
		if shownHeaders[name] {
			shown[name] = values
		} else {
			shown[name] = []string{"***"}
		}
	}
	return shown
}

// step is the number of the model call in its conversation, from 1.
func (r *Request) step() int {
	n := 1
	for _, m := range r.Messages {
		if m.Role == "assistant" {
			n++
		}
	}
	return n
}

func (r *Request) lastUser() string {
	for i := len(r.Messages) - 1; i >= 0; i-- {
		if r.Messages[i].Role == "user" {
			return r.Messages[i].Text
		}
	}
	return ""
}

// fits reports whether every key of the turn's match fits.
func (t *Turn) fits(r *Request) bool {
	m := &t.Match
	last := r.lastUser()
	switch {
	case m.Model != "" && m.Model != r.Model:
		return false
	case m.Step != 0 && m.Step != r.step():
		return false
	case !strings.Contains(last, m.LastUser) || !t.lastUser.MatchString(last):
		return false
	}
	if m.Any == "" && m.AnyRegexp == "" {
		return true
	}
	for _, msg := range r.Messages {
		if strings.Contains(msg.Text, m.Any) && t.any.MatchString(msg.Text) {
			return true
		}
	}
	return false
}
