package tool

import (
	"context"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/troupe-go/troupe/actors/system"
	"github.com/troupe-go/troupe/messages"
)

// Defaults of [Config].
const (
	DefaultTimeout     = 120 * time.Second
	DefaultGrace       = 2 * time.Second
	DefaultResultLimit = 1 << 20
)

// Config is one tool of one invocation.
type Config struct {
	Tool        Tool           // required; closed when the actor stops, if it is a Closer
	Limits      *Limits        // of the configured tool on this node; nil: none
	System      *system.System // required
	Timeout     time.Duration  // of a call, waiting for the limits included; 0: 120 s
	Grace       time.Duration  // for a cancelled function to return; 0: 2 s
	ResultLimit int            // bytes of an encoded result; 0: 1 MiB; a larger Spec.ResultLimit wins
	Lang        string         // of errors: zh | en
	Scope       messages.Scope
	Workspace   string     // folder of the run's files
	Observer    *actor.PID // gets the events of calls; nil: nobody
}

// Run asks a tool actor for one call that [Prepare] has checked. It is sent as
// a pointer; the sender gets one *messages.ToolReturned with the call's ID. A
// Run whose ID is that of a running call changes nothing.
type Run struct {
	Call           *messages.CallTool
	Prepared       *Prepared
	IdempotencyKey string // the same for every try of one intent; empty for effect-free tools
}

// Producer makes tool actors. One is spawned by the agent of an invocation as
// its child, for each tool that its code calls.
//
// It takes *[Run] and *messages.CancelCall. Each call runs on a goroutine that
// the actor owns, in parallel with others, within Limits.
//
//   - A call over its Timeout, or cancelled, has its context cancelled and
//     publishes no event from then on. What its function still returns within
//     Grace without error is the result, because it is true; else the sender
//     gets ToolTimeout or ToolCancelled. A function that ignores its cancel is
//     abandoned when Grace is over: the error says so, Limits count it, and the
//     goroutine is left to itself, for Go can't end it.
//   - A panic is recovered. Its sender gets ToolPanicked, then the actor crashes
//     with a *[PanicError], so that its supervisor's strategy decides: an agent
//     makes tool and actor anew and says so in a WARNING. (An actor that is
//     restarted in place goes on with the same Tool.) Other calls in flight
//     are cancelled; their senders get ToolPanicked as well or, where the call
//     had begun to change the outside, ToolOutcomeUnknown.
//   - When the actor stops, calls in flight are cancelled and answered at once.
func Producer(cfg Config) actor.Producer {
	if cfg.Timeout <= 0 {
		cfg.Timeout = DefaultTimeout
	}
	if cfg.Grace <= 0 {
		cfg.Grace = DefaultGrace
	}
	if cfg.ResultLimit <= 0 {
		cfg.ResultLimit = DefaultResultLimit
	}
	hold := newHold(cfg.Tool, cfg.System.Logger())
	return func() actor.Actor { return &toolActor{cfg: cfg, hold: hold, flights: make(map[string]*flight)} }
}

type toolActor struct {
	cfg     Config
	hold    *hold
	flights map[string]*flight // by tool_call_id
	crashed bool
}

// finished tells the actor that a call's goroutine is done.
type finished struct{ f *flight }

// timeUp tells the actor that a call's time is over.
type timeUp struct{ f *flight }

// graceOver tells the actor that a cancelled call's grace is over.
type graceOver struct{ f *flight }

// Receive implements actor.Actor.
func (a *toolActor) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *Run:
		a.start(ctx, m)
	case *messages.CancelCall:
		a.cutShort(ctx, a.flights[m.ID], errCancelled)
	case *timeUp:
		a.cutShort(ctx, m.f, errTimeUp)
	case *graceOver:
		a.abandon(ctx, m.f)
	case finished:
		a.onFinished(ctx, m.f)
	case *actor.Restarting:
		a.dropAll(ctx)
	case *actor.Stopping:
		a.dropAll(ctx)
		a.cfg.System.Go(a.hold.leaveAndClose)
	default:
		system.Unknown(ctx)
	}
}

func (a *toolActor) start(ctx actor.Context, m *Run) {
	if _, running := a.flights[m.Call.ID]; running {
		return
	}
	world, root, self := a.cfg.System.World(), ctx.ActorSystem().Root, ctx.Self()
	run, cancel := context.WithCancelCause(context.Background())
	f := &flight{
		cfg: &a.cfg, run: m, sender: ctx.Sender(), cancel: cancel, started: world.Now(),
		out: outbox{root: root, observer: a.cfg.Observer, callID: m.Call.ID, lang: a.cfg.Lang, record: a.cfg.Limits.keeps()},
	}
	f.out.complain = func(what string, attrs ...any) { a.cfg.System.Logger().Warn(what, append(a.attrs(f), attrs...)...) }
	a.flights[m.Call.ID] = f
	f.timer = world.AfterFunc(a.cfg.Timeout, func() { root.Send(self, &timeUp{f}) })
	f.call = f.toolCall()
	f.ctx = callContext{Context: run, call: &f.call, at: f.started.Add(a.cfg.Timeout)}
	a.hold.enter()
	a.cfg.System.GoLoose(func() {
		defer a.hold.leaveAndClose()
		defer func() { root.Send(self, finished{f}) }() // also after runtime.Goexit
		f.do()
	})
}

// flying reports whether the call still waits for its answer.
func (a *toolActor) flying(f *flight) bool { return f != nil && a.flights[f.run.Call.ID] == f }

// cutShort cancels a call and gives its function the grace to return.
func (a *toolActor) cutShort(ctx actor.Context, f *flight, why error) {
	if !a.flying(f) || f.why != nil {
		return
	}
	root, self := ctx.ActorSystem().Root, ctx.Self()
	f.timer.Stop()
	f.why = why
	f.out.close()
	f.cancel(why)
	f.timer = a.cfg.System.World().AfterFunc(a.cfg.Grace, func() { root.Send(self, &graceOver{f}) })
}

// abandon gives up on a function that ignores its cancel.
func (a *toolActor) abandon(ctx actor.Context, f *flight) {
	if !a.flying(f) {
		return
	}
	te := f.cutError()
	te.Abandoned = true
	a.countAbandoned(f)
	a.answer(ctx, f, nil, te)
}

func (a *toolActor) countAbandoned(f *flight) {
	if a.cfg.Limits != nil {
		a.cfg.Limits.abandoned.Add(1)
	}
	a.cfg.System.Logger().Warn("a tool ignored its cancel and was left running", a.attrs(f)...)
}

func (a *toolActor) onFinished(ctx actor.Context, f *flight) {
	if !a.flying(f) {
		return
	}
	switch r := f.result; {
	case r.crash != nil:
		a.crash(ctx, f, r.crash)
	case r.err == nil:
		a.answer(ctx, f, r.value, nil)
	case f.why != nil:
		a.answer(ctx, f, nil, f.cutError())
	default:
		a.answer(ctx, f, nil, toolError(r.err, a.cfg.Lang))
	}
}

// crash answers for a panic and then hands it to the supervisor.
func (a *toolActor) crash(ctx actor.Context, f *flight, p *PanicError) {
	a.cfg.System.Logger().Error("a tool panicked", append(a.attrs(f), "panic", p, "stack", string(p.Stack))...)
	a.answer(ctx, f, nil, f.panicked(p))
	a.crashed = true
	panic(p)
}

// dropAll cancels and answers what is in flight when the actor ends.
func (a *toolActor) dropAll(ctx actor.Context) {
	for _, f := range a.flights {
		f.timer.Stop()
		f.out.close()
		f.cancel(errCancelled)
		a.watchGrace(f)
		a.answer(ctx, f, nil, f.dropped(a.crashed))
	}
}

// watchGrace counts a function that outlives its actor by the grace.
func (a *toolActor) watchGrace(f *flight) {
	a.cfg.System.World().AfterFunc(a.cfg.Grace, func() {
		if !f.over.Load() {
			a.countAbandoned(f)
		}
	})
}

// answer ends a call for its sender.
func (a *toolActor) answer(ctx actor.Context, f *flight, value []byte, te *messages.ToolError) {
	c := f.run.Call
	delete(a.flights, c.ID)
	f.timer.Stop()
	f.cancel(nil)
	if f.sender == nil {
		return
	}
	ctx.Send(f.sender, &messages.ToolReturned{
		ID: c.ID, Block: c.Block, Call: c.Call, Tool: c.Tool,
		Value: value, Err: te, Artifacts: f.out.files(),
		Duration: a.cfg.System.World().Now().Sub(f.started),
	})
}

func (a *toolActor) attrs(f *flight) []any {
	s := &a.cfg.Scope
	return []any{"run", s.Run, "invocation", s.Invocation, "tool", f.name(), "tool_call", f.run.Call.ID}
}
