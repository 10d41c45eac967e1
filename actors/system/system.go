package system

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// defaultThroughput is how many messages an actor handles before it lets
// others run; protoactor's own default.
const defaultThroughput = 300

// Config says how a System is made. The zero value is useful.
type Config struct {
	Logger     *slog.Logger // default: discards
	World      World        // default: RealWorld()
	Throughput int          // messages an actor handles before it yields; default 300
}

// System is an actor system with our guards built in. All methods may be
// called from any goroutine.
type System struct {
	actors   *actor.ActorSystem
	world    World
	log      *slog.Logger
	pool     *pool
	strategy actor.SupervisorStrategy
	asks     atomic.Uint64
	closing  sync.Once
}

// New makes a system. Close ends it.
func New(cfg Config) *System {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.World == nil {
		cfg.World = RealWorld()
	}
	if cfg.Throughput <= 0 {
		cfg.Throughput = defaultThroughput
	}
	s := &System{
		world: cfg.World,
		log:   cfg.Logger,
		pool:  newPool(cfg.Throughput, cfg.Logger),
	}
	s.strategy = &restarter{s: s}
	s.actors = newActors(cfg.Logger)
	// Root actors without a guardian fall under protoactor's own strategy,
	// which stops an actor silently after ten panics.
	s.actors.Root.WithGuardian(s.strategy)
	return s
}

// newActors makes protoactor's system. Its logger never writes to stderr, and
// its dead-letter log is replaced by ours: that one prints whole messages.
func newActors(log *slog.Logger) *actor.ActorSystem {
	as := actor.NewActorSystem(
		actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger {
			return slog.New(typesOnly{log.Handler()})
		}),
		actor.WithDeadLetterRequestLogging(false),
		// Its throttle keeps a goroutine for the interval; what it logs is
		// dropped anyway.
		actor.WithDeadLetterThrottleInterval(time.Millisecond),
	)
	as.EventStream.Subscribe(func(ev any) {
		if dl, ok := ev.(*actor.DeadLetterEvent); ok {
			log.Debug("dead letter", "to", dl.PID, "type", typeName(dl.Message))
		}
	})
	return as
}

// Close ends the pool and waits for its goroutines. Call it after all actors
// stopped, never from an actor or from a function given to Go. Later calls
// wait as well.
func (s *System) Close() {
	s.closing.Do(s.actors.Shutdown)
	s.pool.close()
}

// Actors gives protoactor's system.
func (s *System) Actors() *actor.ActorSystem { return s.actors }

// Root gives the context that spawns and sends from outside of any actor. What
// it spawns is supervised by the default strategy, see Props.
func (s *System) Root() *actor.RootContext { return s.actors.Root }

// World gives the source of time, randomness and ids.
func (s *System) World() World { return s.world }

// Logger gives the system's logger.
func (s *System) Logger() *slog.Logger { return s.log }

// Props makes props with the guard, the pooled dispatcher, and the default
// strategy for the actor's children: it restarts a child that panicked, at
// once at first, with a growing delay when panics come fast. opts are applied
// last; WithProducer and WithMailbox would undo the guard. Context.Actor gives
// the guard, not what producer made.
func (s *System) Props(producer actor.Producer, opts ...actor.PropsOption) *actor.Props {
	return actor.PropsFromProducer(func() actor.Actor { return guard(s, producer()) },
		actor.WithDispatcher(s.pool),
		actor.WithMailbox(s.newMailbox),
		actor.WithSupervisor(s.strategy),
	).Configure(opts...)
}

// Go runs f on a pooled goroutine. f's owner sees that it ends, by a cancel of
// its own. A panic in f is logged with its stack and goes no further; where
// somebody waits for f, f recovers it and reports.
func (s *System) Go(f func()) { s.pool.Schedule(f) }

// GoLoose is Go for a function that nobody can end: Close doesn't wait for it.
func (s *System) GoLoose(f func()) { s.pool.add(job{f: f, loose: true}) }
