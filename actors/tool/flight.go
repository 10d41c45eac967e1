package tool

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/troupe-go/troupe/actors/python/value"
	"github.com/troupe-go/troupe/actors/system"
	"github.com/troupe-go/troupe/messages"
)

// Why a call was cut short; the cause of its context.
var (
	errTimeUp    = errors.New("the call's time is over")
	errCancelled = errors.New("the call was cancelled")
)

// errExited is a function that ended its goroutine instead of returning.
var errExited = errors.New("the tool ended without a result")

// flight is one call that runs. Its goroutine owns result until it sends
// finished; all else but the atomics belongs to the actor.
type flight struct {
	cfg     *Config
	run     *Run
	call    Call
	ctx     callContext
	sender  *actor.PID
	out     outbox
	cancel  context.CancelCauseFunc
	timer   system.Timer // the time limit, then the grace
	started time.Time
	why     error // errTimeUp or errCancelled, once cut short

	begun  atomic.Bool // the tool's function was entered
	over   atomic.Bool // its goroutine is done
	result result
}

// result is how a call's goroutine ended.
type result struct {
	value []byte // tagged JSON
	err   error
	crash *PanicError
}

// PanicError is the panic of a tool, and the reason its actor crashed with.
type PanicError struct {
	Tool  string
	Value any
	Stack []byte // of the call's goroutine
}

// Error names tool and panic.
func (e *PanicError) Error() string {
	return "tool " + e.Tool + " panicked: " + e.text()
}

func (e *PanicError) text() string { return clip(fmt.Sprint(e.Value), 500) }

// callContext tells a call and its deadline, while the actor's timer, which
// knows the world's time, ends it.
type callContext struct {
	context.Context
	call *Call
	at   time.Time
}

// Deadline implements context.Context.
func (c *callContext) Deadline() (time.Time, bool) { return c.at, true }

// Value implements context.Context.
func (c *callContext) Value(key any) any {
	if key == (callKey{}) {
		return c.call
	}
	return c.Context.Value(key)
}

// do is the life of the call's goroutine, which is a loose one: a function that
// ignores its cancel must not keep the system from closing.
func (f *flight) do() {
	defer f.over.Store(true)
	defer f.out.close()
	defer func() {
		if r := recover(); r != nil {
			f.result = result{crash: &PanicError{Tool: f.name(), Value: r, Stack: debug.Stack()}}
		}
	}()
	f.result = result{err: errExited}
	f.result = f.answer(&f.ctx)
}

func (f *flight) name() string { return f.cfg.Tool.Spec().Name }

func (f *flight) answer(ctx context.Context) result {
	world := f.cfg.System.World()
	key := f.cacheKey()
	if hit := f.cfg.Limits.cached(key, world.Now()); hit != nil {
		f.out.replay(hit.events)
		return result{value: hit.value}
	}
	release, err := f.cfg.Limits.admit(ctx, world)
	if err != nil {
		return result{err: err}
	}
	defer release()
	if ctx.Err() != nil {
		return result{err: context.Cause(ctx)}
	}
	f.begun.Store(true)
	v, err := f.cfg.Tool.Call(ctx, &f.call)
	if err != nil {
		return result{err: err}
	}
	raw, err := f.encode(v)
	if events, whole := f.out.recorded(); whole && err == nil {
		f.cfg.Limits.cache.put(&entry{key: key, value: raw, events: events}, world.Now())
	}
	return result{value: raw, err: err}
}

func (f *flight) toolCall() Call {
	return Call{
		ID:             f.run.Call.ID,
		IdempotencyKey: f.run.IdempotencyKey,
		Args:           f.run.Prepared.Args,
		Scope:          f.cfg.Scope,
		Lang:           f.cfg.Lang,
		Workspace:      f.cfg.Workspace,
		Emit:           f.out.emit,
		Changed:        f.out.changed,
	}
}

// cacheKey keeps users apart: a tool may answer by who asks.
func (f *flight) cacheKey() string {
	if !f.cfg.Limits.keeps() {
		return ""
	}
	s := &f.cfg.Scope
	return f.run.Prepared.Hash + "\x00" + s.Tenant + "\x00" + s.User + "\x00" + f.cfg.Lang
}

func (f *flight) encode(v any) ([]byte, error) {
	spec := f.cfg.Tool.Spec()
	raw, err := value.Tagged(v)
	if err != nil {
		return nil, newFault(CodeBadResult, messages.Bug, "%s returned a %T that has no form in Python", "%s 返回的 %T 无法转换为 Python 值", spec.Name, v).With(err)
	}
	if limit := max(f.cfg.ResultLimit, spec.ResultLimit); len(raw) > limit {
		return nil, f.tooLarge(len(raw), limit)
	}
	return raw, nil
}

func (f *flight) tooLarge(size, limit int) error {
	en := "the result of %s has %d bytes, more than the %d allowed; ask for less: a smaller range, fewer results or a narrower filter"
	zh := "%s 的结果有 %d 字节，超过上限 %d；请减少请求量：缩小范围、减少条数或收紧过滤条件"
	if f.cfg.Tool.Spec().Effects.Begins() {
		en += ". The call itself was carried out"
		zh += "。调用本身已执行"
	}
	return newFault(CodeTooLarge, messages.Expected, en, zh, f.name(), size, limit)
}
