package observer

import (
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/troupe-go/troupe/actors/system"
	"github.com/troupe-go/troupe/messages"
)

// Defaults of Config (DESIGN §5).
const (
	DefaultJoinDelay = 50 * time.Millisecond
	DefaultJoinBytes = 2 << 10
)

// Config says what an observer works for and with.
type Config struct {
	Journal   Journal        // required
	Scope     messages.Scope // where in a run it is
	System    *system.System // required; gives time and timers
	JoinDelay time.Duration  // how long streamed text may wait to be joined; default 50ms
	JoinBytes int            // the longest text event, in bytes; default 2 KiB, at least 4
}

// Producer makes one invocation's observer. Config is shared by its
// incarnations.
func Producer(cfg Config) actor.Producer {
	if cfg.JoinDelay <= 0 {
		cfg.JoinDelay = DefaultJoinDelay
	}
	if cfg.JoinBytes <= 0 {
		cfg.JoinBytes = DefaultJoinBytes
	}
	cfg.JoinBytes = max(cfg.JoinBytes, minJoinBytes)
	return func() actor.Actor { return &observer{cfg: &cfg} }
}

// observer is small while no attempt is open: many agents wait.
type observer struct {
	cfg     *Config
	step    int
	attempt *attempt // nil when no attempt's text is being read
}

// Receive implements actor.Actor.
func (o *observer) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *messages.AttemptDelta:
		o.delta(ctx, m)
	case *messages.Emit:
		o.emit(&m.Event)
	case *Record:
		o.record(ctx, m)
	case *messages.AttemptBegin:
		o.begin(m)
	case *messages.AttemptEnd:
		o.end(m)
	case *messages.AttemptRollback:
		o.rollback(m)
	case *joinDue:
		o.due(m)
	case *actor.Stopping:
		o.flush()
	case *actor.Restarting:
		o.drop()
	default:
		system.Unknown(ctx)
	}
}

func (o *observer) begin(m *messages.AttemptBegin) {
	o.flush()
	o.drop()
	if m.Step > 0 {
		o.step = m.Step
	}
	o.attempt = &attempt{observer: o, id: m.AttemptID, number: m.Attempt}
	o.publish(control(messages.PhaseBegin, m.AttemptID, m.Attempt))
}

// open gives the attempt of that id when its text is being read. An empty id
// means whichever it is.
func (o *observer) open(id string) *attempt {
	if o.attempt == nil || id != "" && o.attempt.id != id {
		return nil
	}
	return o.attempt
}

func (o *observer) delta(ctx actor.Context, m *messages.AttemptDelta) {
	a := o.open(m.AttemptID)
	if a == nil {
		return
	}
	if m.Reasoning != "" {
		a.add(messages.ModelOutputDeepThinking, m.Reasoning)
	}
	if m.Content != "" {
		a.tags.Write(m.Content, a)
	}
	a.schedule(ctx.Self())
}

func (o *observer) end(m *messages.AttemptEnd) {
	a := o.open(m.AttemptID)
	if a == nil {
		return
	}
	a.tags.Close(a)
	o.flush()
	o.drop()
}

// rollback withdraws an attempt that is open or, ended, not yet settled.
func (o *observer) rollback(m *messages.AttemptRollback) {
	id, number := m.AttemptID, m.Attempt
	if a := o.open(id); a != nil {
		id = a.id
		if number == 0 {
			number = a.number
		}
		o.drop()
	}
	if id == "" {
		return
	}
	o.cfg.Journal.Withdraw(id)
	o.emit(control(messages.PhaseRollback, id, number))
}

func (o *observer) emit(ev *messages.Event) {
	o.flush()
	o.publish(ev)
}

// record appends a fact. The journal calls back on any goroutine, after this
// turn is over: only the PIDs are kept.
func (o *observer) record(ctx actor.Context, m *Record) {
	o.flush()
	after := slices.Clone(m.After)
	for i := range after {
		o.stamp(&after[i])
	}
	root, sender, id := o.cfg.System.Root(), ctx.Sender(), m.ID
	o.cfg.Journal.Append(m.Fact, after, func(err error) {
		if sender != nil {
			root.Send(sender, &Recorded{ID: id, Err: err})
		}
	})
}

func (o *observer) due(m *joinDue) {
	if o.attempt == m.attempt {
		o.flush()
	}
}

// flush publishes the text that waits.
func (o *observer) flush() {
	if o.attempt != nil {
		o.attempt.flush()
	}
}

// drop closes the attempt; text that waits is lost.
func (o *observer) drop() {
	if o.attempt != nil {
		o.attempt.disarm()
		o.attempt = nil
	}
}

func (o *observer) publish(ev *messages.Event) {
	o.stamp(ev)
	o.cfg.Journal.Publish(ev)
}

// stamp says where and when an event happened. What the event says itself
// stands.
func (o *observer) stamp(ev *messages.Event) {
	s := &o.cfg.Scope
	ev.RunID = s.Run
	if ev.Step == 0 {
		ev.Step = o.step
	}
	if ev.Time.IsZero() {
		ev.Time = o.cfg.System.World().Now()
	}
	if s.Depth == 0 {
		return
	}
	if ev.Depth == 0 {
		ev.Depth = s.Depth
	}
	if ev.AgentID == "" {
		ev.AgentID = s.Agent
	}
	if ev.AgentName == "" {
		ev.AgentName = s.Agent
	}
	if ev.InvocationID == "" {
		ev.InvocationID = s.Invocation
	}
}

func control(phase, id string, number int) *messages.Event {
	return &messages.Event{Type: messages.ModelAttemptControl, Phase: phase, AttemptID: id, Attempt: number}
}
