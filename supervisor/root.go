package supervisor

import (
	"runtime"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/troupe-go/troupe/actors/system"
	"github.com/troupe-go/troupe/messages"
)

// Config is what a root needs.
type Config struct {
	System  *system.System
	Log     Log
	Planner Planner
	Limits  messages.Limits // zero fields: the defaults that stand there
	Node    string          // for acknowledgements of stops
}

// Shutdown asks the root to end: no run is admitted any more, those that are
// there are stopped `now`. Answered by ShutDown when the last one has ended.
type Shutdown struct{}

// ShutDown answers Shutdown; one that comes when the root itself has been
// stopped is a dead letter.
type ShutDown struct{}

// Status asks the root how loaded it is. Answered by Load.
type Status struct{}

// Load is how many runs a node has.
type Load struct{ Running, Queued, Ended int }

// Defaults of messages.Limits.
const (
	DefaultMaxRuns     = 256
	DefaultQueueSize   = 1024
	DefaultQueueWait   = 5 * time.Minute
	DefaultRunDeadline = 24 * time.Hour
	DefaultKeepRuns    = 1024
)

// executorsACore: a block that computes has a core for itself now and then, and
// one that the system holds up leaves its core to others.
const executorsACore = 4

// WithDefaults fills in what limits leave open.
func WithDefaults(l messages.Limits) messages.Limits {
	l.MaxRuns = orDefault(l.MaxRuns, DefaultMaxRuns)
	l.MaxExecutors = orDefault(l.MaxExecutors, executorsACore*runtime.GOMAXPROCS(0))
	l.QueueSize = orDefault(l.QueueSize, DefaultQueueSize)
	l.QueueWait = orDefault(l.QueueWait, DefaultQueueWait)
	l.RunDeadline = orDefault(l.RunDeadline, DefaultRunDeadline)
	l.KeepRuns = orDefault(l.KeepRuns, DefaultKeepRuns)
	return l
}

func orDefault[T int | time.Duration](v, d T) T {
	if v == 0 {
		return d
	}
	return v
}

// Producer makes the root actor of a node.
func Producer(cfg Config) actor.Producer {
	cfg.Limits = WithDefaults(cfg.Limits)
	return func() actor.Actor {
		return &root{cfg: cfg, runs: map[string]*entry{}, keys: map[string]string{}}
	}
}

// place says where a run stands with the root.
type place uint8

const (
	queued place = iota
	running
	over
)

// entry is what the root knows of a run.
type entry struct {
	id     string
	pid    *actor.PID
	place  place
	user   string
	key    string // idempotency key with its tenant; "" when none
	hash   string // of the request, when there is a key
	status messages.Status

	open    bool         // it is on the log
	askers  []*actor.PID // wait until it is; the first one made it
	stop    *messages.Stop
	stops   []*actor.PID // wait until it is over
	plan    *Plan        // from open on, until it is over
	release func(bool)   // lets go of its files when it is forgotten
}

// root is a node's root actor. It alone answers who starts and who stops a
// run: a run's own actor may be lost with what it knows.
type root struct {
	cfg      Config
	runs     map[string]*entry
	keys     map[string]string // idempotency key → run
	queue    []*entry          // in order of arrival
	ended    []string          // in order of their end
	running  int
	closing  []*actor.PID // who waits for the end; nil: not closing
	stopping bool         // this actor itself is being stopped
}

// Receive is the table of messages to handlers.
func (r *root) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *messages.RunAgent:
		r.admit(ctx, m)
	case *messages.Stop:
		r.stop(ctx, m)
	case *runOpened:
		r.opened(ctx, m)
	case *runRefused:
		r.refused(ctx, m)
	case *runEnded:
		r.over(ctx, m)
	case *Status:
		ctx.Respond(&Load{Running: r.running, Queued: len(r.queue), Ended: len(r.ended)})
	case *Shutdown:
		r.shutdown(ctx)
	case *actor.Terminated:
		r.lost(ctx, m.Who)
	case *actor.Stopping:
		r.stopping = true // the runs go first: that is no loss
	case *actor.Started, *actor.Stopped, *actor.Restarting:
	default:
		system.Unknown(ctx)
	}
}

// HandleFailure stops a run actor that failed; lost takes the run over.
func (r *root) HandleFailure(sys *actor.ActorSystem, sup actor.Supervisor, child *actor.PID, rs *actor.RestartStatistics, reason, message any) {
	system.StopFailed(func(child *actor.PID, f *system.Failure) {
		r.cfg.System.Logger().Error("run actor crashed", "actor", child.Id, "failure", f)
	}).HandleFailure(sys, sup, child, rs, reason, message)
}

// spawn starts a run's actor. A plan takes the run over from one that is lost.
func (r *root) spawn(ctx actor.Context, e *entry, req *messages.RunAgent) {
	cfg := runConfig{node: &r.cfg, request: req, plan: e.plan, stop: e.stop, admitted: e.place == running}
	e.pid = ctx.Spawn(r.cfg.System.Props(func() actor.Actor { return &run{cfg: cfg} }))
}

// stop hands a stop to its run; whoever asked is answered when it is over. For
// a run that is, the answer is there.
func (r *root) stop(ctx actor.Context, m *messages.Stop) {
	e, ok := r.runs[m.Run]
	switch {
	case !ok:
		ctx.Respond(&messages.Stopped{Run: m.Run, Fault: messages.ErrUnknownRun.Withf(m.Run)})
	case m.User != "" && e.user != "" && m.User != e.user:
		ctx.Respond(&messages.Stopped{Run: m.Run, Fault: messages.ErrForbidden.Withf(m.Run)})
	case e.place == over:
		ctx.Respond(&messages.Stopped{Run: m.Run, Status: e.status})
	case !m.After.Valid():
		ctx.Respond(&messages.Stopped{Run: m.Run, Fault: errStopAfter.Withf(string(m.After))})
	default:
		if asker := ctx.Sender(); asker != nil {
			e.stops = append(e.stops, asker)
		}
		r.handStop(ctx, e, m)
	}
}

func (r *root) handStop(ctx actor.Context, e *entry, m *messages.Stop) {
	if e.stop == nil || m.After.Stronger(e.stop.After) {
		e.stop = m
	}
	ctx.Send(e.pid, m)
}

// known gives a run as far as a message is from its actor of now: one from an
// actor that was lost must not meet a new run of the same id.
func (r *root) known(id string, from *actor.PID) *entry {
	e := r.runs[id]
	if e == nil || e.pid == nil || from != nil && !e.pid.Equal(from) {
		return nil
	}
	return e
}

// opened tells who asked for a run that it is on the log.
func (r *root) opened(ctx actor.Context, m *runOpened) {
	e := r.known(m.run, m.from)
	if e == nil { // it was given up in the meantime
		if release := m.plan.Release; release != nil {
			r.cfg.System.Go(func() { release(false) })
		}
		return
	}
	e.open, e.plan, e.release = true, m.plan, m.plan.Release
	for i, asker := range e.askers {
		if asker != nil {
			ctx.Send(asker, &messages.RunAccepted{Run: e.id, Existing: i > 0, Queued: e.place == queued})
		}
	}
	e.askers = nil
}

// refused forgets a run that never came to be, and says why.
func (r *root) refused(ctx actor.Context, m *runRefused) {
	e := r.known(m.run, m.from)
	if e == nil {
		return
	}
	delete(r.runs, e.id)
	if e.key != "" {
		delete(r.keys, e.key)
	}
	for _, asker := range e.askers {
		if asker != nil {
			ctx.Send(asker, &messages.RunRefused{Fault: m.fault})
		}
	}
	for _, asker := range e.stops {
		ctx.Send(asker, &messages.Stopped{Run: e.id, Fault: messages.ErrUnknownRun.Withf(e.id)})
	}
	ctx.Poison(e.pid)
	r.leave(ctx, e)
}

// over answers who waits for a run's end, and keeps what late watchers and
// late stops need of it.
func (r *root) over(ctx actor.Context, m *runEnded) {
	e := r.known(m.run, m.from)
	if e == nil {
		return
	}
	for _, asker := range e.stops {
		ctx.Send(asker, &messages.Stopped{Run: e.id, Status: m.status, Parts: m.parts})
	}
	ctx.Poison(e.pid)
	r.leave(ctx, e)
	e.place, e.status, e.pid, e.plan, e.stop, e.stops = over, m.status, nil, nil, nil, nil
	r.ended = append(r.ended, e.id)
	for len(r.ended) > r.cfg.Limits.KeepRuns {
		r.forget(r.ended[0])
		r.ended = r.ended[1:]
	}
}

func (r *root) forget(id string) {
	e := r.runs[id]
	delete(r.runs, id)
	if e.key != "" {
		delete(r.keys, e.key)
	}
	r.cfg.Log.Forget(id)
	if release := e.release; release != nil {
		r.cfg.System.Go(func() { release(false) })
	}
}

// lost takes a run over whose actor is gone before its end.
func (r *root) lost(ctx actor.Context, who *actor.PID) {
	if r.stopping {
		return
	}
	for _, e := range r.runs {
		if e.pid == nil || !e.pid.Equal(who) {
			continue
		}
		if !e.open { // it may or may not have got on the log
			r.refused(ctx, &runRefused{run: e.id, fault: errRunLost.Withf(e.id)})
			return
		}
		r.spawn(ctx, e, &messages.RunAgent{Run: e.id, User: e.user})
		return
	}
}

func (r *root) shutdown(ctx actor.Context) {
	first := r.closing == nil
	r.closing = append(r.closing, ctx.Sender())
	if first {
		for _, e := range r.runs {
			if e.place != over {
				r.handStop(ctx, e, &messages.Stop{Run: e.id, After: messages.StopNow, Reason: "shutdown"})
			}
		}
	}
	r.shutDown(ctx)
}

// shutDown answers who waits for the node's end, when no run is left.
func (r *root) shutDown(ctx actor.Context) {
	if r.closing == nil || r.running > 0 || len(r.queue) > 0 {
		return
	}
	for _, who := range r.closing {
		if who != nil {
			ctx.Send(who, &ShutDown{})
		}
	}
	r.closing = []*actor.PID{}
}

var (
	errRunExists = &messages.Fault{Code: "run_exists", Class: messages.Permanent,
		EN: "run %q exists already; leave the id out to be given a new one", ZH: "运行 %q 已存在；不指定编号即可获得新的编号"}
	errStopAfter = &messages.Fault{Code: "stop_after", Class: messages.Permanent,
		EN: "a run can't be stopped after %q; expected: step, now, model or tool", ZH: "不能在 %q 之后停止运行；应为：step、now、model 或 tool"}
	errRunLost = &messages.Fault{Code: "run_lost", Class: messages.Bug, Retryable: true,
		EN: "run %q was lost while it began; the node's log says why; try again", ZH: "运行 %q 在启动时丢失；原因见节点日志；请重试"}
)
