package messages

import "encoding/json"

// ContentPart is one part of a chat message: a text or an image URL (a data:
// URL included).
type ContentPart struct {
	Type     string    `json:"type"` // text | image_url
	Text     string    `json:"text,omitempty"`
	ImageURL *ImageURL `json:"image_url,omitempty"`
}

// ImageURL is the image of a ContentPart.
type ImageURL struct {
	URL string `json:"url"`
}

// ChatMessage is one message of a model request, encoded once when it joins
// the window and shared by every later request. It is immutable.
type ChatMessage struct {
	Role    string          // system | user | assistant
	Text    string          // the text, for windows and estimates
	Encoded json.RawMessage // the whole message object as it goes over the wire, text content
	Parts   json.RawMessage // the same with its content as list of parts, when it has images; else nil
}

// NewChatMessage encodes a message. parts may be nil.
func NewChatMessage(role, text string, parts []ContentPart) ChatMessage {
	m := ChatMessage{Role: role, Text: text, Encoded: encodeChat(role, text)}
	if len(parts) > 0 {
		b, err := json.Marshal(struct {
			Role    string        `json:"role"`
			Content []ContentPart `json:"content"`
		}{role, parts})
		if err == nil { // strings and structs of strings always encode
			m.Parts = b
		}
	}
	return m
}

func encodeChat(role, text string) json.RawMessage {
	b := make([]byte, 0, len(role)+len(text)+len(text)/16+32)
	b = append(b, `{"role":"`...)
	b = append(b, role...)
	b = append(b, `","content":`...)
	b = AppendJSONString(b, text)
	return append(b, '}')
}

// Usage counts tokens of one model call.
type Usage struct {
	InputTokens  int    `json:"input_tokens"`
	OutputTokens int    `json:"output_tokens"`
	CachedTokens int    `json:"cached_tokens,omitempty"`
	CacheSource  string `json:"cache_source,omitempty"` // the field the provider reported them in, or "none"
	Estimated    bool   `json:"estimated,omitempty"`    // the provider sent none: counted by us (nexent-core §13.9)
}

// ToolCallDelta is a native tool call some models write instead of code. Code
// is the action here, so a reply with any leads to one repair turn.
type ToolCallDelta struct {
	ID        string `json:"id,omitempty"`
	Name      string `json:"name"`
	Arguments string `json:"arguments,omitempty"`
}
