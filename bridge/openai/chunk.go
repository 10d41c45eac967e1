package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
)

// chunk is an event of the stream, or a whole completion, as providers really
// send them: any part may be missing or null.
type chunk struct {
	Choices []choice        `json:"choices"`
	Usage   *usage          `json:"usage"`
	Error   json.RawMessage `json:"error"`

	// An error that isn't wrapped: {"object":"error","message":…}.
	Object  string          `json:"object"`
	Message json.RawMessage `json:"message"`
	Code    json.RawMessage `json:"code"`
	Type    json.RawMessage `json:"type"`
}

type choice struct {
	Index        int     `json:"index"`
	Delta        *delta  `json:"delta"`
	Message      *delta  `json:"message"` // of a whole completion
	FinishReason *string `json:"finish_reason"`
}

type delta struct {
	Content          content         `json:"content"`
	Refusal          string          `json:"refusal"`
	Reasoning        lenient         `json:"reasoning"`
	ReasoningContent lenient         `json:"reasoning_content"`
	ToolCalls        []toolCall      `json:"tool_calls"`
	FunctionCall     *calledFunction `json:"function_call"`
}

type toolCall struct {
	Index    *int           `json:"index"`
	ID       string         `json:"id"`
	Function calledFunction `json:"function"`
}

type calledFunction struct {
	Name      string  `json:"name"`
	Arguments jsonArg `json:"arguments"`
}

// failure gives the error object of an event, nil when it has none.
func (c *chunk) failure() *providerError {
	if isSet(c.Error) {
		return readProviderError(c.Error)
	}
	if c.Object == "error" && len(c.Choices) == 0 {
		return &providerError{Message: looseText(c.Message), Type: looseText(c.Type), Code: looseText(c.Code)}
	}
	return nil
}

var null = []byte("null")

func isSet(raw json.RawMessage) bool { return len(raw) > 0 && !bytes.Equal(raw, null) }

// content is text: a string, null, or a list of parts, of which those of type
// thinking are reasoning.
type content struct{ text, thinking string }

type contentPart struct {
	Type     string          `json:"type"`
	Text     string          `json:"text"`
	Thinking json.RawMessage `json:"thinking"` // a string or parts
}

var errContent = errors.New("content is neither a string nor a list of parts")

// UnmarshalJSON implements json.Unmarshaler.
func (c *content) UnmarshalJSON(b []byte) error {
	switch {
	case bytes.Equal(b, null):
		return nil
	case b[0] == '"':
		return json.Unmarshal(b, &c.text)
	case b[0] != '[':
		return errContent
	}
	var parts []contentPart
	if err := json.Unmarshal(b, &parts); err != nil {
		return err
	}
	for _, p := range parts {
		c.text += p.Text
		if !isSet(p.Thinking) {
			continue
		}
		var inner content
		if err := inner.UnmarshalJSON(p.Thinking); err != nil {
			return err
		}
		c.thinking += inner.text
	}
	return nil
}

// lenient is a string; anything else is none.
type lenient string

// UnmarshalJSON implements json.Unmarshaler.
func (l *lenient) UnmarshalJSON(b []byte) error {
	if b[0] != '"' {
		return nil
	}
	return json.Unmarshal(b, (*string)(l))
}

// jsonArg is the text of a call's arguments: a string, or the JSON itself.
type jsonArg string

// UnmarshalJSON implements json.Unmarshaler.
func (a *jsonArg) UnmarshalJSON(b []byte) error {
	switch {
	case bytes.Equal(b, null):
		return nil
	case b[0] == '"':
		return json.Unmarshal(b, (*string)(a))
	}
	*a = jsonArg(b)
	return nil
}

// looseText gives a string, the strings of a list, or the JSON as it stands.
func looseText(raw json.RawMessage) string {
	if !isSet(raw) {
		return ""
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var list []string
	if json.Unmarshal(raw, &list) == nil {
		return strings.Join(list, "; ")
	}
	return string(raw)
}
