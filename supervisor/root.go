package supervisor

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
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

// ShutDown answers Shutdown.
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

// WithDefaults fills in what limits leave open.
func WithDefaults(l messages.Limits) messages.Limits {
	l.MaxRuns = orDefault(l.MaxRuns, DefaultMaxRuns)
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
	plan   *Plan      // known once the run is on the log
	asker  *actor.PID // waits until it is
}

// root is a node's root actor.
type root struct {
	cfg     Config
	runs    map[string]*entry
	keys    map[string]string // idempotency key → run
	queue   []*entry          // in order of arrival
	ended   []string          // in order of their end
	running int
	closing []*actor.PID // who waits for the end; nil: not closing
	// stopping: this actor itself is being stopped.
	stopping bool
}

// Receive is the table of messages to handlers.
func (r *root) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *messages.RunAgent:
		r.admit(ctx, m)
	case *messages.Stop:
		r.stop(ctx, m)
	case *runOpened:
		r.opened(m)
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

// admit takes a request: an idempotency key that is known names its run, a
// full node refuses, and all else becomes a run.
func (r *root) admit(ctx actor.Context, m *messages.RunAgent) {
	if r.closing != nil {
		ctx.Respond(&messages.RunRefused{Fault: messages.ErrShutdown})
		return
	}
	req := *m
	key, hash := idempotency(m)
	if known, ok := r.keys[key]; ok && key != "" {
		e := r.runs[known]
		if e.hash != hash {
			ctx.Respond(&messages.RunRefused{Fault: messages.ErrConflict.Withf(m.IdempotencyKey)})
			return
		}
		ctx.Respond(&messages.RunAccepted{Run: e.id, Existing: true, Queued: e.place == queued})
		return
	}
	if req.Run == "" {
		req.Run = r.cfg.System.World().NewID()
	}
	if _, ok := r.runs[req.Run]; ok {
		ctx.Respond(&messages.RunRefused{Fault: errRunExists.Withf(req.Run)})
		return
	}
	full := r.running >= r.cfg.Limits.MaxRuns
	if full && len(r.queue) >= r.cfg.Limits.QueueSize {
		ctx.Respond(&messages.RunRefused{Fault: messages.ErrBusy})
		return
	}
	e := &entry{id: req.Run, user: m.User, key: key, hash: hash, asker: ctx.Sender()}
	r.runs[e.id] = e
	if key != "" {
		r.keys[key] = e.id
	}
	if full {
		r.queue = append(r.queue, e)
	} else {
		e.place = running
		r.running++
	}
	e.pid = r.spawn(ctx, runConfig{request: &req, asker: e.asker, admitted: !full})
}

func (r *root) spawn(ctx actor.Context, cfg runConfig) *actor.PID {
	cfg.node = &r.cfg
	return ctx.Spawn(r.cfg.System.Props(func() actor.Actor { return &run{cfg: cfg} }))
}

// idempotency gives a request's key and the hash that tells whether the same
// key comes with the same request; its id and deadline don't count.
func idempotency(m *messages.RunAgent) (key, hash string) {
	if m.IdempotencyKey == "" {
		return "", ""
	}
	same := *m
	same.Run, same.Deadline = "", time.Time{}
	b, err := json.Marshal(&same)
	if err != nil { // metadata with no JSON form, which the planner refuses
		b = []byte(m.Query)
	}
	sum := sha256.Sum256(b)
	return m.Tenant + "\x00" + m.IdempotencyKey, hex.EncodeToString(sum[:])
}

// stop hands a stop to its run, or answers for one that has ended.
func (r *root) stop(ctx actor.Context, m *messages.Stop) {
	e, ok := r.runs[m.Run]
	switch {
	case !ok:
		ctx.Respond(&messages.Stopped{Run: m.Run, Fault: messages.ErrUnknownRun.Withf(m.Run)})
	case m.User != "" && e.user != "" && m.User != e.user:
		ctx.Respond(&messages.Stopped{Run: m.Run, Fault: messages.ErrForbidden.Withf(m.Run)})
	case e.place == over:
		ctx.Respond(&messages.Stopped{Run: m.Run, Status: e.status})
	default:
		ctx.Forward(e.pid)
	}
}

func (r *root) opened(m *runOpened) {
	if e, ok := r.runs[m.run]; ok {
		e.plan, e.asker = m.plan, nil
	}
}

// refused forgets a run that never came to be.
func (r *root) refused(ctx actor.Context, m *runRefused) {
	e, ok := r.runs[m.run]
	if !ok {
		return
	}
	delete(r.runs, e.id)
	if e.key != "" {
		delete(r.keys, e.key)
	}
	r.leave(ctx, e)
}

// over keeps what late watchers and late stops need of an ended run.
func (r *root) over(ctx actor.Context, m *runEnded) {
	e, ok := r.runs[m.run]
	if !ok || e.place == over {
		return
	}
	r.leave(ctx, e)
	e.place, e.status, e.pid = over, m.status, nil
	r.ended = append(r.ended, e.id)
	for len(r.ended) > r.cfg.Limits.KeepRuns {
		r.forget(r.ended[0])
		r.ended = r.ended[1:]
	}
}

// leave gives a run's place to the one that waits longest.
func (r *root) leave(ctx actor.Context, e *entry) {
	switch e.place {
	case running:
		r.running--
	case queued:
		for i := range r.queue {
			if r.queue[i] == e {
				r.queue = append(r.queue[:i], r.queue[i+1:]...)
				break
			}
		}
	}
	for len(r.queue) > 0 && r.running < r.cfg.Limits.MaxRuns {
		next := r.queue[0]
		r.queue = r.queue[1:]
		next.place = running
		r.running++
		ctx.Send(next.pid, &admitted{})
	}
	if r.closing != nil && r.running == 0 && len(r.queue) == 0 {
		r.shutDown(ctx)
	}
}

func (r *root) forget(id string) {
	e := r.runs[id]
	delete(r.runs, id)
	if e.key != "" {
		delete(r.keys, e.key)
	}
	r.cfg.Log.Forget(id)
	if e.plan != nil && e.plan.Release != nil {
		release := e.plan.Release
		r.cfg.System.Go(func() { release(false) })
	}
}

// lost takes a run over whose actor is gone before its end.
func (r *root) lost(ctx actor.Context, who *actor.PID) {
	if r.stopping {
		return
	}
	for _, e := range r.runs {
		if e.place == over || e.pid == nil || !e.pid.Equal(who) {
			continue
		}
		if e.plan == nil { // it may or may not have got on the log
			if e.asker != nil {
				ctx.Send(e.asker, &messages.RunRefused{Fault: errRunLost.Withf(e.id)})
			}
			r.refused(ctx, &runRefused{run: e.id})
			return
		}
		e.pid = r.spawn(ctx, runConfig{
			request: &messages.RunAgent{Run: e.id, User: e.user}, plan: e.plan, admitted: e.place == running,
		})
		return
	}
}

func (r *root) shutdown(ctx actor.Context) {
	first := r.closing == nil
	r.closing = append(r.closing, ctx.Sender())
	if !first {
		return
	}
	for _, e := range r.runs {
		if e.place != over {
			ctx.Send(e.pid, &messages.Stop{Run: e.id, After: messages.StopNow, Reason: "shutdown"})
		}
	}
	if r.running == 0 && len(r.queue) == 0 {
		r.shutDown(ctx)
	}
}

func (r *root) shutDown(ctx actor.Context) {
	for _, who := range r.closing {
		if who != nil {
			ctx.Send(who, &ShutDown{})
		}
	}
	r.closing = []*actor.PID{}
}

var errRunLost = &messages.Fault{Code: "run_lost", Class: messages.Bug, Retryable: true,
	EN: "run %q was lost while it began; the node's log says why; try again", ZH: "运行 %q 在启动时丢失；原因见节点日志；请重试"}

var errRunExists = &messages.Fault{Code: "run_exists", Class: messages.Permanent,
	EN: "run %q exists already; leave the id out to be given a new one", ZH: "运行 %q 已存在；不指定编号即可获得新的编号"}
