package model

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"github.com/troupe-go/troupe/messages"
)

// samplingRefused remembers which models of the chain take no sampling
// parameters, so that only the first call finds out.
type samplingRefused []atomic.Bool

// call is one Think on its goroutine: attempts, waits, the chain.
type call struct {
	cfg   Config
	plain samplingRefused
	think *messages.Think
	gate  gate

	attempts int             // made so far
	overflow *messages.Fault // the first model_context_overflow: the agent can act on it
}

// run asks the models of the chain in turn until one answers. It returns when
// the agent has its answer or ctx has ended.
func (c *call) run(ctx context.Context) {
	started := c.cfg.System.World().Now()
	last := ErrNoModel
	for i := range c.cfg.Chain {
		thought, f := c.ask(ctx, i)
		if ctx.Err() != nil {
			return
		}
		if f == nil {
			thought.Duration = c.cfg.System.World().Now().Sub(started)
			c.gate.succeed(thought)
			return
		}
		last = f
		if f.Code == ErrContextOverflow.Code && c.overflow == nil {
			c.overflow = f
		}
	}
	if c.overflow != nil {
		last = c.overflow
	}
	c.gate.fail(terminal(last, c.attempts), c.attempts)
}

// ask asks one model until it answers, or fails for good.
func (c *call) ask(ctx context.Context, index int) (*messages.Thought, *messages.Fault) {
	for n := 1; ; n++ {
		plain := c.plain[index].Load()
		thought, f := c.attempt(ctx, index, plain)
		if f == nil || ctx.Err() != nil {
			return thought, f
		}
		c.log(f, index)
		next, delay := c.judge(f, n, plain)
		c.warn(f, next, delay, n, index)
		switch next {
		case onward:
			return nil, f
		case plainly:
			c.plain[index].Store(true)
			n-- // a question of form: it costs no attempt
		case again:
			if !c.wait(ctx, delay) {
				return nil, f
			}
		}
	}
}

// log notes a failure for operators; a panic with its stack.
func (c *call) log(f *messages.Fault, index int) {
	level := slog.LevelWarn
	if f.Class == messages.Bug {
		level = slog.LevelError
	}
	cause := ""
	if f.Cause != nil {
		cause = fmt.Sprintf("%+v", f.Cause)
	}
	c.cfg.System.Logger().Log(context.Background(), level, "model call failed",
		"model", c.cfg.Chain[index].Config.CiteName, "step", c.think.Step, "attempt", c.number(),
		"code", f.Code, "text", f.EN, "cause", cause)
}

// warn tells watchers what failed and what is next; nothing when nothing is.
func (c *call) warn(f *messages.Fault, next verdict, delay time.Duration, n, index int) {
	lang := c.cfg.Lang
	what := strings.TrimRight(f.In(lang), ".。")
	var content string
	switch {
	case next == plainly:
		content = warnSampling.format(lang, what)
	case next == again:
		content = warnAgain.format(lang, what, delay.Round(time.Millisecond), n+1, c.cfg.Retry.Attempts)
	case index+1 == len(c.cfg.Chain):
		return
	case RetryAfter(f) > c.cfg.Retry.MaxRetryAfter:
		content = warnTooLong.format(lang, what, RetryAfter(f), c.cfg.Chain[index+1].Config.CiteName)
	default:
		content = warnNext.format(lang, what, c.cfg.Chain[index+1].Config.CiteName)
	}
	retryable := true
	c.gate.emit(messages.Event{
		Type:      messages.Warning,
		Content:   content,
		ErrorCode: f.Code,
		Retryable: &retryable,
		Attempt:   c.number(),
	})
}

// number is the number of the last attempt begun; repair turns count on.
func (c *call) number() int { return max(c.think.Attempt, 1) + c.attempts - 1 }

// attempt makes one request. The permit is held until its stream has ended.
func (c *call) attempt(ctx context.Context, index int, plain bool) (*messages.Thought, *messages.Fault) {
	m := c.cfg.Chain[index]
	if m.Limiter != nil {
		release, err := m.Limiter.Acquire(ctx, m.Config.ConcurrencyWait)
		if err != nil {
			return nil, c.fault(m, err)
		}
		defer release()
	}
	c.attempts++
	begin := &messages.AttemptBegin{AttemptID: c.cfg.System.World().NewID(), Attempt: c.number(), Step: c.think.Step}
	c.gate.begin(m.Config.CiteName, begin)
	reply, err := c.stream(ctx, m, plain)
	if err == nil && empty(reply) {
		err = ErrEmptyResponse.Withf(m.Config.CiteName, reply.FinishReason)
	}
	if err != nil {
		c.gate.rollback()
		return nil, c.fault(m, err)
	}
	return &messages.Thought{
		ID:           c.think.ID,
		Text:         reply.Text,
		Reasoning:    reply.Reasoning,
		FinishReason: reply.FinishReason,
		Usage:        reply.Usage,
		Model:        m.Config.CiteName,
		AttemptID:    begin.AttemptID,
		Attempt:      begin.Attempt,
		Attempts:     c.attempts,
		ToolCalls:    reply.ToolCalls,
	}, nil
}

// stream runs the client; its panic becomes an error.
func (c *call) stream(ctx context.Context, m Model, plain bool) (reply *Reply, err error) {
	defer func() {
		if v := recover(); v != nil {
			reply, err = nil, ErrPanicked.Withf(m.Config.CiteName).With(&panicked{value: v, stack: debug.Stack()})
		}
	}()
	return m.Client.Stream(ctx, &Request{Messages: c.think.Messages, MaxTokens: c.think.MaxTokens, NoSampling: plain}, c.gate.delta)
}

// fault classifies what a client returned.
func (c *call) fault(m Model, err error) *messages.Fault {
	var f *messages.Fault
	if errors.As(err, &f) {
		return f
	}
	return ErrUnknown.Withf(m.Config.CiteName).With(err)
}

// empty reports an answer that says nothing and that nothing explains.
func empty(r *Reply) bool {
	return (r.FinishReason == "" || r.FinishReason == "stop") &&
		len(r.ToolCalls) == 0 && r.Reasoning == "" && strings.TrimSpace(r.Text) == ""
}

// panicked is a client's panic with its stack, which the log shows with %+v.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string { return fmt.Sprintf("panic: %v", p.value) }

// Format implements fmt.Formatter: %+v adds the stack.
func (p *panicked) Format(s fmt.State, verb rune) {
	fmt.Fprint(s, p.Error())
	if verb == 'v' && s.Flag('+') {
		fmt.Fprintf(s, "\n%s", p.stack)
	}
}
