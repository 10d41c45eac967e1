package agent

import (
	"cmp"
	"math"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/troupe-go/troupe/messages"
)

// tally counts tokens: of this step, repair turns included, and of the whole
// invocation.
type tally struct {
	stepIn, stepOut int
	totalOut        int
	cached          int
	cacheSource     string
}

func (t *tally) add(u messages.Usage) {
	t.stepIn += u.InputTokens
	t.stepOut += u.OutputTokens
	t.totalOut += u.OutputTokens
	t.cached += u.CachedTokens
	if u.CacheSource != "" {
		t.cacheSource = u.CacheSource
	}
}

// nextStep begins the count of another step.
func (t *tally) nextStep() { t.stepIn, t.stepOut, t.cached = 0, 0, 0 }

// tokenCount is the payload of TOKEN_COUNT (nexent-core §3.6).
type tokenCount struct {
	StepNumber           int      `json:"step_number"`
	Duration             float64  `json:"duration"` // seconds, two decimals
	StepInputTokens      int      `json:"step_input_tokens"`
	StepOutputTokens     int      `json:"step_output_tokens"`
	TotalOutputTokens    int      `json:"total_output_tokens"`
	EstimatedContext     int      `json:"estimated_context_tokens"`
	TokenThreshold       int      `json:"token_threshold"`
	ContextWindow        int      `json:"context_window_tokens"`
	ProcessingMode       string   `json:"context_processing_mode"`
	FinishReason         string   `json:"output_finish_reason"`
	EffectiveLimit       int      `json:"effective_input_limit_tokens"`
	CompressionCalls     int      `json:"compression_calls"`
	CompressionInput     int      `json:"compression_input_tokens"`
	CompressionOutput    int      `json:"compression_output_tokens"`
	CompressionCacheHits int      `json:"compression_cache_hits"`
	CompressionTypes     []string `json:"compression_cache_types"`
	CompressionRatio     float64  `json:"compression_ratio"`
	UncompressedEstimate int      `json:"uncompressed_est_tokens"`
	CacheStatus          string   `json:"provider_cache_status"`
	CacheSource          string   `json:"provider_cache_metrics_source"`
	CacheHit             bool     `json:"provider_cache_hit"`
	CachedInput          int      `json:"provider_cached_input_tokens"`
	UncachedInput        int      `json:"provider_uncached_input_tokens"`
}

// countTokens publishes TOKEN_COUNT of the step and begins a new tally.
func (a *Agent) countTokens(ctx actor.Context) {
	t := &a.tokens
	estimate := a.window.EstimatedTokens()
	p := tokenCount{
		StepNumber:           a.step,
		StepInputTokens:      t.stepIn,
		StepOutputTokens:     t.stepOut,
		TotalOutputTokens:    t.totalOut,
		EstimatedContext:     estimate,
		UncompressedEstimate: estimate,
		ProcessingMode:       "passthrough",
		CompressionTypes:     []string{},
		CacheStatus:          cacheStatus(t.cacheSource),
		CacheSource:          cmp.Or(t.cacheSource, cacheUnknown),
		CachedInput:          t.cached,
		UncachedInput:        t.stepIn - t.cached,
		CacheHit:             t.cached > 0,
	}
	if m := a.modelConfig(); m != nil {
		p.ContextWindow, p.TokenThreshold = m.ContextWindowTokens, m.ContextWindowTokens
		p.EffectiveLimit = max(0, m.ContextWindowTokens-m.MaxOutputTokens)
	}
	if a.thought != nil {
		p.FinishReason = a.thought.FinishReason
	}
	if !a.stepStart.IsZero() {
		p.Duration = math.Round(a.cfg.System.World().Now().Sub(a.stepStart).Seconds()*100) / 100
	}
	a.emit(ctx, messages.Event{Type: messages.TokenCount, Content: p.json()})
	t.nextStep()
}

// The sources of cached tokens that name no field of a report
// (nexent-core §11.5).
const (
	cacheUnknown = "capability_unknown"
	cacheNone    = "none"
)

// cacheStatus says whether the provider tells of cached tokens: it isn't known
// to, it is and didn't, it did.
func cacheStatus(source string) string {
	switch source {
	case "", cacheUnknown:
		return "unsupported"
	case cacheNone:
		return "unavailable"
	default:
		return "available"
	}
}

// modelConfig is the definition of the model that answered last, or of the
// first of the chain.
func (a *Agent) modelConfig() *messages.ModelConfig {
	chain := a.cfg.Equipment.Models
	for i := range chain {
		if a.thought != nil && chain[i].Config.CiteName == a.thought.Model {
			return &chain[i].Config
		}
	}
	if len(chain) == 0 {
		return nil
	}
	return &chain[0].Config
}
