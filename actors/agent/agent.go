package agent

import (
	"fmt"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/troupe-go/troupe/actors/agent/window"
	"github.com/troupe-go/troupe/actors/model"
	"github.com/troupe-go/troupe/actors/observer"
	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/actors/system"
	"github.com/troupe-go/troupe/actors/tool"
	"github.com/troupe-go/troupe/messages"
	"github.com/troupe-go/troupe/messages/fact"
)

// state is where the loop stands.
type state uint8

const (
	idle     state = iota // spawned, not begun
	thinking              // a Think is out
	settling              // a fact is on its way; its continuation goes on
	acting                // a block runs
	closing               // run_finished is on its way
	ended                 // its parent knows
)

func (s state) String() string {
	return [...]string{"idle", "thinking", "settling", "acting", "closing", "ended"}[s]
}

// Agent is one invocation at work. Its fields are touched in its own turns
// only.
type Agent struct {
	cfg   *Config // shared by its incarnations; read only
	self  *actor.PID
	state state

	// Children. tools is nil until the first call.
	observer *actor.PID
	model    *actor.PID
	executor *actor.PID
	tools    map[string]*actor.PID
	retired  map[string]string          // by child id: the tools whose actor crashes or has crashed
	crashes  map[string]*system.Failure // by child id, between its panic and its end

	window *window.Window
	step   int // of the turn at work, from 1
	tokens tally

	// One Think or Execute is out at a time; ids never repeat, so that a late
	// answer is told from the one awaited.
	seq       uint64
	thinkID   uint64
	blockID   uint64
	purpose   string // of the Think that is out
	attempts  int    // made in this step
	rejected  int    // answers in a row that led to a repair turn
	repair    []messages.ChatMessage
	stepped   bool // STEP_COUNT of this step is out
	thought   *messages.Thought
	block     string // the code of the thought at work
	stepStart time.Time
	lostModel int // model actors that crashed in this step

	// The block that runs.
	calls     map[uint64]*call // in flight, by ordinal
	cut       map[string]*call // with effects, begun in a block that has ended, by id
	callCount int
	done      []fact.Call               // effect-free calls not yet on the log
	noted     []string                  // what the model is to know of its calls: arguments that were clamped
	blocks    blocks                    // what ran before, and what is open
	again     map[uint64]*fact.Intended // calls in doubt that a reopened block may make again, by ordinal
	lost      *messages.LostVariables   // variables that the next block begins without; nil: none

	// Facts on their way.
	recordID uint64
	waiting  map[uint64]func(actor.Context)

	stop      *stopping
	deadline  system.Timer
	artifacts []messages.Artifact
}

// Receive is the table of messages to handlers.
func (a *Agent) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *actor.Started:
		a.started(ctx)
	case *Begin:
		a.begin(ctx, m)
	case *messages.Thought:
		a.onThought(ctx, m)
	case *messages.ThinkFailed:
		a.onThinkFailed(ctx, m)
	case *messages.ThinkCancelled:
		a.onThinkCancelled(ctx, m)
	case *messages.CallTool:
		a.onCall(ctx, m)
	case *messages.ToolReturned:
		a.onReturned(ctx, m)
	case *messages.Executed:
		a.onExecuted(ctx, m)
	case *messages.ExecutorBusy:
		a.onExecutorBusy(ctx, m)
	case *observer.Recorded:
		a.onRecorded(ctx, m)
	case *messages.Stop:
		a.onStop(ctx, m)
	case *deadlineDue:
		a.onDeadline(ctx)
	case *stopGraceOver:
		a.onStopGraceOver(ctx)
	case *actor.Terminated:
		a.onTerminated(ctx, m.Who)
	case *actor.Stopping:
		a.state = ended // the children go first: that is no loss of theirs
		a.stopTimers()
	case *actor.Restarting, *actor.Stopped:
	default:
		system.Unknown(ctx)
	}
}

// HandleFailure is how the agent supervises its children: the failed one is
// stopped, and what that means is decided when it is gone.
func (a *Agent) HandleFailure(sys *actor.ActorSystem, sup actor.Supervisor, child *actor.PID, rs *actor.RestartStatistics, reason, message any) {
	system.StopFailed(func(child *actor.PID, f *system.Failure) {
		if a.crashes == nil {
			a.crashes = map[string]*system.Failure{}
		}
		a.crashes[child.Id] = f
	}).HandleFailure(sys, sup, child, rs, reason, message)
}

func (a *Agent) started(ctx actor.Context) {
	a.self = ctx.Self()
	a.observer = ctx.Spawn(a.cfg.System.Props(observer.Producer(observer.Config{
		Journal: a.cfg.Journal,
		Scope:   a.cfg.Scope,
		System:  a.cfg.System,
	})))
}

// begin goes to work: from the start, or from where an earlier owner was.
func (a *Agent) begin(ctx actor.Context, b *Begin) {
	if a.state != idle {
		return
	}
	if a.cfg.CrashCount >= MaxCrashes { // before anything that may have been the cause
		a.fail(ctx, errCrashed.Withf(a.cfg.CrashCount))
		return
	}
	if b.Fault != nil {
		a.fail(ctx, b.Fault)
		return
	}
	if err := a.openWindow(); err != nil {
		a.fail(ctx, messages.AsFault(err))
		return
	}
	a.armDeadline()
	a.step = 1
	if len(a.cfg.Records) > 0 {
		a.resume(ctx, b)
		return
	}
	a.emit(ctx, messages.Event{Type: messages.AgentNewRun, Content: trimmed(a.cfg.Start.Query)})
	if b.Stop != nil {
		a.onStop(ctx, b.Stop)
	}
	a.think(ctx)
}

func (a *Agent) lang() string { return a.cfg.Equipment.Lang }

func (a *Agent) nextID() uint64 { a.seq++; return a.seq }

// emit publishes an event of this step at once.
func (a *Agent) emit(ctx actor.Context, ev messages.Event) {
	ev.Step = a.step
	ctx.Send(a.observer, &messages.Emit{Event: ev})
}

// warn publishes a WARNING.
func (a *Agent) warn(ctx actor.Context, code, text string) {
	a.emit(ctx, messages.Event{Type: messages.Warning, Content: text, ErrorCode: code})
}

// record appends a fact, publishes after when it is stored, and then goes on
// with next, in this actor's turn. next may be nil.
func (a *Agent) record(ctx actor.Context, f fact.Fact, after []messages.Event, next func(actor.Context)) {
	for i := range after {
		after[i].Step = a.step
	}
	a.blocks.note(f)
	a.recordID++
	if a.waiting == nil {
		a.waiting = make(map[uint64]func(actor.Context), 2)
	}
	a.waiting[a.recordID] = next
	ctx.Request(a.observer, &observer.Record{ID: a.recordID, Fact: f, After: after})
}

// onRecorded goes on with what waited for a fact. An owner that can't write
// any more stops quietly: somebody else has the invocation.
func (a *Agent) onRecorded(ctx actor.Context, m *observer.Recorded) {
	next, ok := a.waiting[m.ID]
	delete(a.waiting, m.ID)
	if !ok {
		return
	}
	if m.Err != nil {
		a.lose(ctx, m.Err)
		return
	}
	if next != nil {
		next(ctx)
	}
}

func (a *Agent) modelActor(ctx actor.Context) *actor.PID {
	if a.model == nil {
		a.model = ctx.Spawn(a.cfg.System.Props(model.Producer(model.Config{
			Chain:    a.cfg.Equipment.Models,
			Observer: a.observer,
			System:   a.cfg.System,
			Lang:     a.lang(),
		})))
	}
	return a.model
}

func (a *Agent) executorActor(ctx actor.Context) *actor.PID {
	if a.executor == nil {
		e := a.cfg.Equipment
		a.executor = ctx.Spawn(a.cfg.System.Props(python.Producer(python.Config{
			Driver:       e.Driver,
			Spec:         e.python(a.cfg.Start.Seed),
			System:       a.cfg.System,
			BlockTimeout: e.Sandbox.BlockTimeout,
			RebuildLimit: e.Sandbox.RebuildLimit,
			Slots:        e.Slots,
			Run:          a.cfg.Scope.Run,
			Blobs:        a.cfg.Blobs,
			Metrics:      e.Metrics,
		})))
	}
	return a.executor
}

// toolActor gives the actor of a tool, made at its first call.
func (a *Agent) toolActor(ctx actor.Context, t *Tool) (*actor.PID, error) {
	if pid, ok := a.tools[t.Spec.Name]; ok {
		return pid, nil
	}
	made, err := t.Make(tool.Deps{Workspace: a.cfg.Task.Workspace, Lang: a.lang(), Scope: a.cfg.Scope})
	if err != nil {
		return nil, err
	}
	pid := ctx.Spawn(a.cfg.System.Props(tool.Producer(tool.Config{
		Tool:      made,
		Limits:    t.Limits,
		System:    a.cfg.System,
		Timeout:   t.Timeout,
		Lang:      a.lang(),
		Scope:     a.cfg.Scope,
		Workspace: a.cfg.Task.Workspace,
		Observer:  a.observer,
	})))
	if a.tools == nil {
		a.tools = map[string]*actor.PID{}
	}
	a.tools[t.Spec.Name] = pid
	return pid, nil
}

// onTerminated decides what the loss of a child means.
func (a *Agent) onTerminated(ctx actor.Context, who *actor.PID) {
	crash := a.crashes[who.Id]
	delete(a.crashes, who.Id)
	if a.state == ended {
		return
	}
	switch {
	case who.Equal(a.observer):
		panic(fmt.Sprintf("the observer of invocation %s is gone: %v", a.cfg.Scope.Invocation, crash))
	case a.model != nil && who.Equal(a.model):
		a.model = nil
		a.onModelLost(ctx, crash)
	case a.executor != nil && who.Equal(a.executor):
		a.executor = nil
		a.onExecutorLost(ctx, crash)
	default:
		a.onToolLost(ctx, who, crash)
	}
}

func (a *Agent) stopTimers() {
	if a.deadline != nil {
		a.deadline.Stop()
	}
	if a.stop != nil && a.stop.grace != nil {
		a.stop.grace.Stop()
	}
}
