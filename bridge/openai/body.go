package openai

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/troupe-go/troupe/actors/model"
	"github.com/troupe-go/troupe/messages"
)

// head is what a request says before its messages. Keys of extra_body replace
// ours of the same name.
type head struct {
	fixed     []byte // {"model":…, stream and extra keys
	sampling  []byte // ,"temperature":…,"top_p":…
	maxTokens string // the key's name; "" when extra_body sets it
}

// ownKeys are the keys that extra_body may not set: the stream couldn't be
// read, or the conversation would be lost.
var ownKeys = []string{"messages", "stream"}

func newHead(m messages.ModelConfig) (head, error) {
	if m.ModelName == "" {
		return head{}, misconfigured(m, "model_name is missing", "缺少 model_name")
	}
	extra, err := extraBody(m)
	if err != nil {
		return head{}, err
	}
	temperature, err := inRange(m, "temperature", m.Temperature, DefaultTemperature, 2)
	if err != nil {
		return head{}, err
	}
	topP, err := inRange(m, "top_p", m.TopP, DefaultTopP, 1)
	if err != nil {
		return head{}, err
	}
	h := head{fixed: []byte(`{"stream":true`)}
	add := func(b []byte, key string, value []byte) []byte {
		if _, replaced := extra[key]; replaced {
			return b
		}
		return append(append(append(append(b, `,"`...), key...), `":`...), value...)
	}
	h.fixed = add(h.fixed, "model", messages.AppendJSONString(nil, m.ModelName))
	h.fixed = add(h.fixed, "stream_options", []byte(`{"include_usage":true}`))
	h.sampling = add(h.sampling, "temperature", strconv.AppendFloat(nil, temperature, 'g', -1, 64))
	h.sampling = add(h.sampling, "top_p", strconv.AppendFloat(nil, topP, 'g', -1, 64))
	h.maxTokens = maxTokensKey(m.ModelName)
	for _, key := range slices.Sorted(maps.Keys(extra)) {
		h.fixed = messages.AppendJSONString(append(h.fixed, ','), key)
		h.fixed = append(append(h.fixed, ':'), extra[key]...)
		if key == "max_tokens" || key == "max_completion_tokens" {
			h.maxTokens = ""
		}
	}
	return h, nil
}

func extraBody(m messages.ModelConfig) (map[string]json.RawMessage, error) {
	if len(m.ExtraBody) == 0 {
		return nil, nil
	}
	var extra map[string]json.RawMessage
	if err := json.Unmarshal(m.ExtraBody, &extra); err != nil {
		return nil, misconfigured(m, "extra_body must be a JSON object: "+err.Error(), "extra_body 必须是 JSON 对象："+err.Error())
	}
	for _, key := range ownKeys {
		if _, set := extra[key]; set {
			return nil, misconfigured(m, "extra_body may not set "+key, "extra_body 不可设置 "+key)
		}
	}
	return extra, nil
}

func inRange(m messages.ModelConfig, key string, value *float64, otherwise, most float64) (float64, error) {
	if value == nil {
		return otherwise, nil
	}
	if math.IsNaN(*value) || *value < 0 || *value > most {
		return 0, misconfigured(m, fmt.Sprintf("%s must lie between 0 and %g", key, most), fmt.Sprintf("%s 必须在 0 与 %g 之间", key, most))
	}
	return *value, nil
}

// maxTokensKey names the output limit: OpenAI's reasoning models refuse
// max_tokens.
func maxTokensKey(modelName string) string {
	for _, family := range []string{"o1", "o3", "o4", "gpt-5", "gpt-6"} {
		if strings.HasPrefix(modelName, family) {
			return "max_completion_tokens"
		}
	}
	return "max_tokens"
}

// body is a request body: a head of its own and the messages as they were
// encoded when they joined the window. Nothing of the history is copied.
type body struct {
	head     []byte
	messages []messages.ChatMessage
	parts    bool // send content as parts where a message has them
	length   int64
}

var (
	bodyComma = []byte(",")
	bodyTail  = []byte("]}")
)

func (c *Client) newBody(req *model.Request) (*body, error) {
	b := &body{
		head:     c.head.appendTo(make([]byte, 0, len(c.head.fixed)+128), req, c.cfg.MaxOutputTokens),
		messages: req.Messages,
		parts:    c.cfg.Images && !c.cfg.FlattenContent,
	}
	b.length = int64(len(b.head) + len(bodyTail) + max(len(b.messages)-1, 0))
	for i := range b.messages {
		n := len(b.message(i))
		if n == 0 {
			return nil, c.fault(model.ErrInvalidRequest, fmt.Sprintf("message %d isn't encoded", i+1), fmt.Sprintf("第 %d 条消息未编码", i+1))
		}
		b.length += int64(n)
	}
	return b, nil
}

func (h head) appendTo(b []byte, req *model.Request, configured int) []byte {
	b = append(b, h.fixed...)
	if !req.NoSampling {
		b = append(b, h.sampling...)
	}
	limit := req.MaxTokens
	if limit == 0 {
		limit = configured
	}
	if limit > 0 && h.maxTokens != "" {
		b = append(append(append(b, `,"`...), h.maxTokens...), `":`...)
		b = strconv.AppendInt(b, int64(limit), 10)
	}
	return append(b, `,"messages":[`...)
}

// message is the i-th message as it goes over the wire.
func (b *body) message(i int) []byte {
	if b.parts && b.messages[i].Parts != nil {
		return b.messages[i].Parts
	}
	return b.messages[i].Encoded
}

// piece gives the parts of the body in order: the head, each message with the
// comma before it, the tail.
func (b *body) piece(n int) ([]byte, bool) {
	switch last := 2 * len(b.messages); {
	case n == 0:
		return b.head, true
	case n == max(last, 1):
		return bodyTail, true
	case n > last:
		return nil, false
	case n%2 == 1:
		return b.message(n / 2), true
	default:
		return bodyComma, true
	}
}

// open starts to read the body; it may be opened more than once.
func (b *body) open() io.ReadCloser { return &bodyReader{body: b} }

type bodyReader struct {
	body *body
	next int
	rest []byte
}

func (r *bodyReader) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		if len(r.rest) == 0 {
			piece, ok := r.body.piece(r.next)
			if !ok {
				break
			}
			r.next++
			r.rest = piece
		}
		k := copy(p[n:], r.rest)
		r.rest = r.rest[k:]
		n += k
	}
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

func (r *bodyReader) Close() error { return nil }
