package supervisor

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/troupe-go/troupe/actors/agent"
	"github.com/troupe-go/troupe/actors/system"
	"github.com/troupe-go/troupe/messages"
	"github.com/troupe-go/troupe/messages/fact"
)

// Messages between a run and its root, and from a run's goroutine to itself.
type (
	runOpened struct {
		run  string
		from *actor.PID
		plan *Plan
	}
	runRefused struct {
		run   string
		from  *actor.PID // nil: the root itself
		fault *messages.Fault
	}
	runEnded struct {
		run    string
		from   *actor.PID
		status messages.Status
		parts  []messages.StoppedPart
	}
	admitted  struct{}
	queueOver struct{}
	opened    struct {
		plan     *Plan
		adoption *Adoption // of the first owner: only its journal
		err      error
	}
	adopted struct {
		adoption *Adoption
		err      error
	}
)

// adoptBackoff paces take-overs, and tries of a log that can't be written.
var adoptBackoff = system.Backoff{Base: 20 * time.Millisecond, Cap: 5 * time.Second, Factor: 2, Jitter: 0.5}

// maxPanics is how many take-overs of one run may panic before it is given up.
const maxPanics = 3

// runConfig is one run on this node.
type runConfig struct {
	node     *Config
	request  *messages.RunAgent
	plan     *Plan          // known when the run is taken over from a lost run actor
	stop     *messages.Stop // the strongest one asked for so far; nil: none
	admitted bool           // it has a place
}

// run is the actor at the head of a run's tree. It owns the run's goroutine
// (one at a time, which opens or adopts the log) and its agent.
type run struct {
	cfg        runConfig
	invocation string
	plan       *Plan
	adoption   *Adoption
	cancel     context.CancelFunc // of the goroutine that opens or adopts
	agent      *actor.PID
	crash      string // why the last agent went
	tries      int
	queueTimer system.Timer
	fault      *messages.Fault // ends the run before it begins
	end        *runEnded       // known when the run is over; the tree is let go of
	keep       bool            // the answer handed files over
}

// Receive is the table of messages to handlers.
func (r *run) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *actor.Started:
		r.started(ctx)
	case *opened:
		r.onOpened(ctx, m)
	case *adopted:
		r.onAdopted(ctx, m)
	case *admitted:
		r.cfg.admitted = true
		r.work(ctx)
	case *queueOver:
		r.onQueueOver(ctx)
	case *messages.Stop:
		r.onStop(ctx, m)
	case *messages.InvocationEnded:
		r.onEnded(ctx, m)
	case *actor.Terminated:
		r.onTerminated(ctx, m.Who)
	case *actor.Stopping:
		r.agent = nil // it goes first: that is no loss
		r.letGo()
	case *actor.Restarting:
	case *actor.Stopped:
	default:
		system.Unknown(ctx)
	}
}

// HandleFailure stops an agent that failed and keeps the reason for the log;
// onTerminated takes the invocation over.
func (r *run) HandleFailure(sys *actor.ActorSystem, sup actor.Supervisor, child *actor.PID, rs *actor.RestartStatistics, reason, message any) {
	system.StopFailed(func(_ *actor.PID, f *system.Failure) {
		r.crash = f.String()
		r.cfg.node.System.Logger().Error("agent crashed", "run", r.cfg.request.Run, "invocation", r.invocation, "failure", f)
	}).HandleFailure(sys, sup, child, rs, reason, message)
}

// started opens the log, or adopts it when another run actor was lost.
func (r *run) started(ctx actor.Context) {
	r.invocation = r.cfg.request.Run
	if r.cfg.plan != nil {
		r.plan, r.crash = r.cfg.plan, "the run actor was lost"
		r.adopt(ctx)
		return
	}
	node, req, invocation := r.cfg.node, r.cfg.request, r.invocation
	r.async(ctx, func(c context.Context) any {
		return open(c, node, req, invocation)
	}, func(err error) any { return &opened{err: err} })
}

// open plans a run and puts it on the log. A plan whose run never is, is let go
// of.
func open(ctx context.Context, node *Config, req *messages.RunAgent, invocation string) *opened {
	plan, err := node.Planner.Plan(ctx, req.Run, req)
	if err != nil {
		return &opened{err: err}
	}
	begun := false
	defer func() {
		if !begun && plan.Release != nil {
			plan.Release(false)
		}
	}()
	journal, err := node.Log.Begin(ctx, req.Run, invocation, plan.Start)
	if err != nil {
		return &opened{err: err}
	}
	if ctx.Err() != nil { // its run is gone: nobody would let go of it
		return &opened{err: ctx.Err()}
	}
	begun = true
	return &opened{plan: plan, adoption: &Adoption{Journal: journal}}
}

// async runs f on a goroutine that this actor owns; what f returns, or what
// failed makes of its panic, comes back as a message.
func (r *run) async(ctx actor.Context, f func(context.Context) any, failed func(error) any) {
	c, cancel := context.WithCancel(context.Background())
	r.cancel = cancel
	self, root := ctx.Self(), r.cfg.node.System.Root()
	log, id := r.cfg.node.System.Logger(), r.cfg.request.Run
	r.cfg.node.System.Go(func() {
		defer cancel()
		defer func() {
			if p := recover(); p != nil {
				log.Error("opening or adopting a run panicked", "run", id, "panic", p, "stack", string(debug.Stack()))
				root.Send(self, failed(errPanic.With(fmt.Errorf("%v", p))))
			}
		}()
		root.Send(self, f(c))
	})
}

func (r *run) onOpened(ctx actor.Context, m *opened) {
	if m.err != nil {
		r.end = &runEnded{}
		ctx.Send(ctx.Parent(), &runRefused{run: r.cfg.request.Run, from: ctx.Self(), fault: messages.AsFault(m.err)})
		return
	}
	r.plan, r.adoption = m.plan, m.adoption
	ctx.Send(ctx.Parent(), &runOpened{run: r.cfg.request.Run, from: ctx.Self(), plan: m.plan})
	r.work(ctx)
}

// work spawns the agent when the log is open and the run has a place, or when
// it is to end, which needs none.
func (r *run) work(ctx actor.Context) {
	if r.adoption == nil || r.agent != nil || r.end != nil {
		return
	}
	if !r.cfg.admitted && r.cfg.stop == nil && r.fault == nil {
		r.waitForPlace(ctx)
		return
	}
	r.stopTimer()
	req, start := r.cfg.request, r.plan.Start
	r.agent = ctx.Spawn(r.cfg.node.System.Props(agent.Producer(agent.Config{
		System:    r.cfg.node.System,
		Equipment: r.plan.Equipment,
		Scope: messages.Scope{
			Tenant: start.Tenant, Run: req.Run, Invocation: r.invocation, Agent: start.Agent,
			Depth: start.Depth, User: start.User, Conversation: start.Conversation,
		},
		Start:      start,
		Task:       r.plan.Task,
		Journal:    r.adoption.Journal,
		Blobs:      r.cfg.node.Log.Blobs(req.Run, r.invocation),
		Records:    r.adoption.Records,
		CrashCount: r.adoption.CrashCount,
		Crash:      r.crash,
	})))
	r.crash = ""
	ctx.Send(r.agent, &agent.Begin{Stop: r.cfg.stop, Fault: r.fault})
}

// waitForPlace bounds how long a run waits to be admitted.
func (r *run) waitForPlace(ctx actor.Context) {
	if r.queueTimer != nil {
		return
	}
	self, root := ctx.Self(), r.cfg.node.System.Root()
	r.queueTimer = r.cfg.node.System.World().AfterFunc(r.cfg.node.Limits.QueueWait, func() { root.Send(self, &queueOver{}) })
}

func (r *run) onQueueOver(ctx actor.Context) {
	if r.cfg.admitted || r.agent != nil {
		return
	}
	r.fault = errQueueWait.Withf(r.cfg.node.Limits.QueueWait)
	r.work(ctx)
}

// onStop hands a stop to the agent; one that is spawned later begins with it.
// The root answers whoever asked, when the run is over.
func (r *run) onStop(ctx actor.Context, m *messages.Stop) {
	if r.cfg.stop == nil || m.After.Stronger(r.cfg.stop.After) {
		r.cfg.stop = m
	}
	if r.agent != nil {
		ctx.Send(r.agent, m)
		return
	}
	r.work(ctx)
}

// onEnded lets the agent go; the run is over when it is gone.
func (r *run) onEnded(ctx actor.Context, m *messages.InvocationEnded) {
	if m.Invocation != r.invocation || r.end != nil {
		return
	}
	r.end = &runEnded{run: r.cfg.request.Run, status: m.Status, parts: m.Parts}
	r.keep = m.Artifacts > 0
	if m.Lost != nil { // nothing can be written there any more: only this node's own log says so
		r.cfg.node.System.Logger().Error("a run's log was lost", "run", r.cfg.request.Run, "code", m.Lost.Code, "error", m.Lost)
		r.end.status = messages.StatusFailed
		r.keep = true // another owner may work there
	}
	if r.agent == nil { // it has gone already, and its end overtook what it said
		r.letGo()
		r.over(ctx)
		return
	}
	ctx.Stop(r.agent)
}

// onTerminated ends a run that is done, or takes over from an agent that went
// before its end.
func (r *run) onTerminated(ctx actor.Context, who *actor.PID) {
	if r.agent == nil || !who.Equal(r.agent) {
		return
	}
	r.agent = nil
	if r.end == nil {
		r.adopt(ctx)
		return
	}
	r.over(ctx)
}

// over lets go of the run's files and tells the root, which ends this actor.
func (r *run) over(ctx actor.Context) {
	if release, keep := r.plan.Release, r.keep; release != nil {
		r.cfg.node.System.Go(func() { release(keep) })
	}
	r.end.from = ctx.Self()
	ctx.Send(ctx.Parent(), r.end)
}

// adopt takes the invocation over from its log, after a pause that grows while
// the log can't be had.
func (r *run) adopt(ctx actor.Context) {
	r.adoption = nil
	if r.crash == "" {
		r.crash = "the agent was ended from outside"
	}
	node, req, invocation, reason := r.cfg.node, r.cfg.request, r.invocation, r.crash
	delay := adoptBackoff.Delay(r.tries, node.System.World().Rand())
	r.tries++
	r.async(ctx, func(c context.Context) any {
		if err := wait(c, node.System.World(), delay); err != nil {
			return &adopted{err: err}
		}
		a, err := node.Log.Adopt(c, req.Run, invocation, fact.CausePanic, reason)
		return &adopted{adoption: a, err: err}
	}, func(err error) any { return &adopted{err: err} })
}

func (r *run) onAdopted(ctx actor.Context, m *adopted) {
	switch {
	case r.end != nil, errors.Is(m.err, context.Canceled):
	case m.err != nil && (messages.AsFault(m.err).Class == messages.Permanent || errors.Is(m.err, errPanic) && r.tries >= maxPanics):
		r.giveUp(ctx, m.err)
	case m.err != nil:
		r.cfg.node.System.Logger().Warn("the log can't be adopted yet", "run", r.cfg.request.Run, "try", r.tries, "error", m.err)
		r.adopt(ctx)
	case m.adoption.Finished != nil: // it had ended; the adoption published what was missing
		r.end = &runEnded{run: r.cfg.request.Run, status: m.adoption.Finished.Status}
		r.keep = true // it may have handed files over
		r.over(ctx)
	default:
		r.tries = 0
		r.adoption = m.adoption
		r.work(ctx)
	}
}

// giveUp ends a run whose log can't be taken over by anybody: nothing can be
// written there, so only this node's own log says so.
func (r *run) giveUp(ctx actor.Context, err error) {
	r.cfg.node.System.Logger().Error("a run is given up: its log can't be taken over", "run", r.cfg.request.Run, "error", err)
	r.end = &runEnded{run: r.cfg.request.Run, status: messages.StatusFailed}
	r.keep = true // somebody may mend it
	r.over(ctx)
}

func (r *run) letGo() {
	if r.cancel != nil {
		r.cancel()
	}
	r.stopTimer()
}

func (r *run) stopTimer() {
	if r.queueTimer != nil {
		r.queueTimer.Stop()
	}
}

// wait waits for d or for ctx.
func wait(ctx context.Context, w system.World, d time.Duration) error {
	due := make(chan struct{})
	t := w.AfterFunc(d, func() { close(due) })
	defer t.Stop()
	select {
	case <-due:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

var errQueueWait = &messages.Fault{Code: "busy", Class: messages.Transient, Retryable: true,
	EN: "the run waited %s for a place on the node and got none; try again later, or raise limits.max_runs",
	ZH: "运行排队等待 %s 仍未获得位置；请稍后重试，或调高 limits.max_runs"}

var errPanic = &messages.Fault{Code: "internal", Class: messages.Bug,
	EN: "opening the run panicked; the node's log has the stack", ZH: "启动运行时发生崩溃；节点日志中有调用栈"}
