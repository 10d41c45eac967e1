package supervisor

import (
	"context"
	"errors"
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
		plan *Plan
	}
	runRefused struct{ run string }
	runEnded   struct {
		run    string
		status messages.Status
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

// runConfig is one run on this node.
type runConfig struct {
	node     *Config
	request  *messages.RunAgent
	asker    *actor.PID // gets RunAccepted or RunRefused; nil when taken over
	plan     *Plan      // known when the run is taken over from a lost run actor
	admitted bool       // it has a place
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
	stops      []pendingStop
	queueTimer system.Timer
	abort      *messages.Fault
	status     messages.Status
	artifacts  int
	done       bool
}

// pendingStop is a stop whose asker waits for its answer; a new owner gets it
// again.
type pendingStop struct {
	msg   *messages.Stop
	asker *actor.PID
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
		plan, err := node.Planner.Plan(c, req.Run, req)
		if err != nil {
			return &opened{err: err}
		}
		journal, err := node.Log.Begin(c, req.Run, invocation, plan.Start)
		if err != nil {
			plan.Release(false)
			return &opened{err: err}
		}
		return &opened{plan: plan, adoption: &Adoption{Journal: journal}}
	})
}

// async runs f on a goroutine that this actor owns; what f returns comes back
// as a message.
func (r *run) async(ctx actor.Context, f func(context.Context) any) {
	c, cancel := context.WithCancel(context.Background())
	r.cancel = cancel
	self, root := ctx.Self(), r.cfg.node.System.Root()
	r.cfg.node.System.Go(func() {
		defer cancel()
		root.Send(self, f(c))
	})
}

func (r *run) onOpened(ctx actor.Context, m *opened) {
	if m.err != nil {
		if r.cfg.asker != nil {
			ctx.Send(r.cfg.asker, &messages.RunRefused{Fault: messages.AsFault(m.err)})
		}
		for _, s := range r.stops {
			r.answer(ctx, s.asker)
		}
		r.done = true
		ctx.Send(ctx.Parent(), &runRefused{run: r.cfg.request.Run})
		ctx.Stop(ctx.Self())
		return
	}
	r.plan, r.adoption = m.plan, m.adoption
	ctx.Send(ctx.Parent(), &runOpened{run: r.cfg.request.Run, plan: m.plan})
	if r.cfg.asker != nil {
		ctx.Send(r.cfg.asker, &messages.RunAccepted{Run: r.cfg.request.Run, Queued: !r.cfg.admitted})
	}
	if !r.cfg.admitted {
		self, root := ctx.Self(), r.cfg.node.System.Root()
		r.queueTimer = r.cfg.node.System.World().AfterFunc(r.cfg.node.Limits.QueueWait, func() { root.Send(self, &queueOver{}) })
	}
	r.work(ctx)
}

// work spawns the agent when the log is open and the run has a place, or a
// stop that needs none.
func (r *run) work(ctx actor.Context) {
	if r.adoption == nil || r.agent != nil || r.done {
		return
	}
	if !r.cfg.admitted && len(r.stops) == 0 && r.abort == nil {
		return
	}
	if r.queueTimer != nil {
		r.queueTimer.Stop()
	}
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
		Records:    r.adoption.Records,
		CrashCount: r.adoption.CrashCount,
		Crash:      r.crash,
	})))
	r.crash = ""
	for _, s := range r.stops {
		ctx.RequestWithCustomSender(r.agent, s.msg, s.asker)
	}
	if r.abort != nil {
		ctx.Send(r.agent, &agent.Abort{Fault: r.abort})
	}
	ctx.Send(r.agent, &agent.Begin{})
}

func (r *run) onStop(ctx actor.Context, m *messages.Stop) {
	if r.done {
		r.answer(ctx, ctx.Sender())
		return
	}
	s := pendingStop{msg: m, asker: ctx.Sender()}
	r.stops = append(r.stops, s)
	if r.agent != nil {
		ctx.RequestWithCustomSender(r.agent, m, s.asker)
		return
	}
	r.work(ctx)
}

func (r *run) onQueueOver(ctx actor.Context) {
	if r.cfg.admitted || r.agent != nil {
		return
	}
	r.abort = errQueueWait.Withf(r.cfg.node.Limits.QueueWait)
	r.work(ctx)
}

// onEnded lets the agent go; the run is over when it is gone.
func (r *run) onEnded(ctx actor.Context, m *messages.InvocationEnded) {
	if m.Invocation != r.invocation || r.done {
		return
	}
	r.done, r.status, r.artifacts = true, m.Status, m.Artifacts
	ctx.Stop(r.agent)
}

// onTerminated ends a run that is done, or takes over from an agent that went
// before its end.
func (r *run) onTerminated(ctx actor.Context, who *actor.PID) {
	if r.agent == nil || !who.Equal(r.agent) {
		return
	}
	r.agent = nil
	if !r.done {
		r.adopt(ctx)
		return
	}
	r.over(ctx)
}

// over lets go of the run's files, tells the root, and ends this actor.
func (r *run) over(ctx actor.Context) {
	if release, keep := r.plan.Release, r.artifacts > 0; release != nil {
		r.cfg.node.System.Go(func() { release(keep) })
	}
	ctx.Send(ctx.Parent(), &runEnded{run: r.cfg.request.Run, status: r.status})
	ctx.Stop(ctx.Self())
}

// adopt takes the invocation over from its log, after a pause that grows.
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
	})
}

func (r *run) onAdopted(ctx actor.Context, m *adopted) {
	switch {
	case errors.Is(m.err, context.Canceled):
		return
	case m.err != nil && messages.AsFault(m.err).Class == messages.Permanent:
		r.giveUp(ctx, m.err)
	case m.err != nil:
		r.cfg.node.System.Logger().Warn("the log can't be adopted yet", "run", r.cfg.request.Run, "try", r.tries, "error", m.err)
		r.adopt(ctx)
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
	r.done, r.status = true, messages.StatusFailed
	for _, s := range r.stops {
		r.answer(ctx, s.asker)
	}
	r.over(ctx)
}

func (r *run) answer(ctx actor.Context, asker *actor.PID) {
	if asker != nil {
		ctx.Send(asker, &messages.Stopped{Run: r.cfg.request.Run, Status: r.status})
	}
}

func (r *run) letGo() {
	if r.cancel != nil {
		r.cancel()
	}
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
