package openai

import (
	"github.com/troupe-go/troupe/actors/model"
	"github.com/troupe-go/troupe/messages"
)

// usage is what providers report, under the names they use for it.
type usage struct {
	PromptTokens     *int `json:"prompt_tokens"`
	CompletionTokens *int `json:"completion_tokens"`
	TotalTokens      *int `json:"total_tokens"`
	InputTokens      *int `json:"input_tokens"`
	OutputTokens     *int `json:"output_tokens"`

	PromptTokensDetails *cachedDetails `json:"prompt_tokens_details"`
	InputTokensDetails  *cachedDetails `json:"input_tokens_details"`
	InputTokenDetails   *struct {
		CacheRead            *int `json:"cache_read"`
		CacheReadInputTokens *int `json:"cache_read_input_tokens"`
	} `json:"input_token_details"`
	CachedTokens         *int `json:"cached_tokens"`
	CacheReadInputTokens *int `json:"cache_read_input_tokens"`
	PromptCacheHitTokens *int `json:"prompt_cache_hit_tokens"`
}

type cachedDetails struct {
	CachedTokens *int `json:"cached_tokens"`
}

// The values of messages.Usage.CacheSource that name no field (nexent-core §11.5).
const (
	cacheNone    = "none"
	cacheUnknown = "capability_unknown"
)

// reportsCache says whether the definition knows the provider to report cached
// tokens; without that nothing is taken for a hit.
func (c *Client) reportsCache() bool { return c.cfg.PromptCache || c.cfg.ModelFactory == "openai" }

// count turns a report into ours; false when it counts nothing.
func (c *Client) count(u *usage) (messages.Usage, bool) {
	in, hasIn := first(u.PromptTokens, u.InputTokens)
	out, hasOut := first(u.CompletionTokens, u.OutputTokens)
	if !hasOut && u.TotalTokens != nil {
		out, hasOut = max(*u.TotalTokens-in, 0), true
	}
	if !hasIn && !hasOut {
		return messages.Usage{}, false
	}
	counted := messages.Usage{InputTokens: in, OutputTokens: out, CacheSource: cacheUnknown}
	if c.reportsCache() {
		counted.CachedTokens, counted.CacheSource = u.cached()
	}
	return counted, true
}

// cached gives the first report of cached tokens and the field it stood in.
func (u *usage) cached() (int, string) {
	for _, f := range u.cacheFields() {
		if f.value != nil {
			return *f.value, f.name
		}
	}
	return 0, cacheNone
}

type cacheField struct {
	name  string
	value *int
}

func (u *usage) cacheFields() []cacheField {
	fields := make([]cacheField, 0, 7)
	if d := u.PromptTokensDetails; d != nil {
		fields = append(fields, cacheField{"prompt_tokens_details.cached_tokens", d.CachedTokens})
	}
	if d := u.InputTokensDetails; d != nil {
		fields = append(fields, cacheField{"input_tokens_details.cached_tokens", d.CachedTokens})
	}
	if d := u.InputTokenDetails; d != nil {
		fields = append(fields,
			cacheField{"input_token_details.cache_read", d.CacheRead},
			cacheField{"input_token_details.cache_read_input_tokens", d.CacheReadInputTokens})
	}
	return append(fields,
		cacheField{"cached_tokens", u.CachedTokens},
		cacheField{"cache_read_input_tokens", u.CacheReadInputTokens},
		cacheField{"prompt_cache_hit_tokens", u.PromptCacheHitTokens})
}

// first gives the first value there is.
func first(values ...*int) (int, bool) {
	for _, v := range values {
		if v != nil {
			return *v, true
		}
	}
	return 0, false
}

// estimate counts for a provider that doesn't.
func (c *Client) estimate(req *model.Request, r *model.Reply) messages.Usage {
	u := messages.Usage{Estimated: true, CacheSource: cacheUnknown}
	if c.reportsCache() {
		u.CacheSource = cacheNone
	}
	for i := range req.Messages {
		u.InputTokens += messages.EstimateTokens(req.Messages[i].Text)
	}
	u.OutputTokens = max(1, messages.EstimateTokens(r.Text)+messages.EstimateTokens(r.Reasoning))
	return u
}
