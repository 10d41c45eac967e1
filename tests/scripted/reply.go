package scripted

import (
	"encoding/json"
	"unicode/utf8"
)

// deltas are the pieces of the text, each a whole number of characters.
func (r *Reply) deltas() []string {
	if len(r.Deltas) > 0 {
		return r.Deltas
	}
	return split(r.Text, r.Chunk)
}

// split cuts text into pieces of at least size bytes, between characters.
func split(text string, size int) []string {
	var pieces []string
	for len(text) > 0 {
		n := min(size, len(text))
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n++
		}
		pieces = append(pieces, text[:n])
		text = text[n:]
	}
	return pieces
}

type object map[string]any

// chunkLine is an event with one choice.
func chunkLine(model string, delta object, finish any) string {
	return dataLine(object{
		"id": "chatcmpl-scripted", "object": "chat.completion.chunk", "created": 0, "model": model,
		"choices": []object{{"index": 0, "delta": delta, "finish_reason": finish}},
	})
}

func dataLine(v any) string {
	b, err := json.Marshal(v)
	if err != nil { // strings and numbers always encode; an Error.Code of another kind may not
		b = []byte(`{"error":{"message":"the script's error can't be written as JSON"}}`)
	}
	return "data: " + string(b) + "\n\n"
}

// opening are the lines before the text: the role, then the reasoning.
func (r *Reply) opening(model string) []string {
	lines := []string{chunkLine(model, object{"role": "assistant", "content": ""}, nil)}
	for _, piece := range split(r.Reasoning, r.Chunk) {
		lines = append(lines, chunkLine(model, object{r.ReasoningField: piece}, nil))
	}
	return lines
}

// closing are the lines after the text.
func (r *Reply) closing(model string) []string {
	var lines []string
	if r.Error != nil {
		lines = append(lines, dataLine(object{"error": r.Error}))
	} else if r.FinishReason != NoFinishReason {
		lines = append(lines, chunkLine(model, object{}, r.FinishReason))
	}
	if u := r.Usage; u != nil {
		lines = append(lines, dataLine(object{
			"id": "chatcmpl-scripted", "object": "chat.completion.chunk", "created": 0, "model": model, "choices": []object{},
			"usage": object{
				"prompt_tokens": u.PromptTokens, "completion_tokens": u.CompletionTokens, "total_tokens": u.PromptTokens + u.CompletionTokens,
				"prompt_tokens_details": object{"cached_tokens": u.CachedTokens},
			},
		}))
	}
	if !r.NoDone {
		lines = append(lines, "data: [DONE]\n\n")
	}
	return lines
}
