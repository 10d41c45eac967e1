package troupe

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"sync"

	"github.com/asynkron/protoactor-go/actor"
	"go.opentelemetry.io/otel/metric"

	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/actors/system"
	"github.com/troupe-go/troupe/actors/tool"
	"github.com/troupe-go/troupe/bridge/runlog"
	"github.com/troupe-go/troupe/messages"
	"github.com/troupe-go/troupe/supervisor"
)

// Event is one thing that happened in a run.
type Event = messages.Event

// RunRequest is one query to one agent. Only Query is required.
type RunRequest = messages.RunAgent

// Config is what a Troupe is made of. The zero value is refused: there must be
// a model and an agent.
type Config struct {
	// Definitions are the models, tools, agents and limits. Without a DataDir
	// files are in a folder below os.TempDir, which Close removes.
	messages.Definitions
	// CacheDir is where the Python interpreter, which comes with this package,
	// is unpacked, once for all nodes of a user: in its folder python, with
	// mode 0700. Default: troupe in os.UserCacheDir.
	CacheDir string
	// GoTools are tools written in Go; an agent has those that its Tools name.
	GoTools []tool.Tool
	// Logger gets what operators read; default: discarded.
	Logger *slog.Logger
	// AllowMissingWalls lets model-written Python run with the sandbox walls
	// that can be had here. Only for programs you wrote yourself.
	AllowMissingWalls bool
	// Driver replaces the Python executor; default: the one Sandbox.Level names.
	Driver python.Driver
	// Proxy picks the proxy of a request to a model; nil: none.
	// http.ProxyFromEnvironment reads the standard variables.
	Proxy func(*http.Request) (*url.URL, error)
	// Meters gives the OpenTelemetry instruments that docs/metrics.md lists; nil:
	// nothing is measured.
	Meters metric.MeterProvider
	// World is the source of time, randomness and ids; default: the real one.
	World system.World
}

// Troupe is a node. Close ends it.
type Troupe struct {
	system  *system.System
	log     *runlog.Log
	planner *planner
	root    *actor.PID
	dataDir string
	ownsDir bool // dataDir is a temporary folder of ours

	life    context.Context // ends when the root is gone: nobody waits for it any more
	end     context.CancelFunc
	closing sync.Once
	closed  error // what Close returns
}

// New builds the tree of a node. What is wrong with the configuration, a
// missing sandbox wall included, is a *messages.Fault in the error's tree:
// errors.As finds it. Nothing slow is done here: models are connected and
// Python is unpacked when first used.
func New(cfg Config) (*Troupe, error) {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	sys := system.New(system.Config{Logger: cfg.Logger, World: cfg.World})
	t := &Troupe{system: sys, dataDir: cfg.DataDir}
	t.life, t.end = context.WithCancel(context.Background())
	if err := t.build(cfg); err != nil {
		return nil, errors.Join(err, t.release())
	}
	return t, nil
}

func (t *Troupe) build(cfg Config) error {
	if err := t.openDataDir(); err != nil {
		return err
	}
	p, err := newPlanner(t.system, cfg, t.dataDir)
	if err != nil {
		return err
	}
	t.planner = p
	t.log = runlog.New(runlog.Config{
		Store:  runlog.NewMemory(runlog.MemoryConfig{KeepEvents: cfg.Limits.KeepEvents}),
		World:  t.system.World(),
		Go:     t.system.Go,
		Logger: cfg.Logger,
	})
	t.root, err = t.system.Root().SpawnNamed(t.system.Props(supervisor.Producer(supervisor.Config{
		System: t.system, Log: journals{t.log}, Planner: p, Limits: cfg.Limits,
	})), "troupe")
	return err
}

func (t *Troupe) openDataDir() error {
	if t.dataDir == "" {
		dir, err := os.MkdirTemp("", "troupe-")
		if err != nil {
			return errDataDir.With(err)
		}
		t.dataDir, t.ownsDir = dir, true
		return nil
	}
	abs, err := filepath.Abs(t.dataDir)
	if err != nil {
		return errDataDir.With(err)
	}
	t.dataDir = abs
	if err := os.MkdirAll(abs, 0o700); err != nil {
		return errDataDir.With(err)
	}
	return nil
}

// Start begins a run and returns when it is on the log. An error is ctx's, or
// holds a *messages.Fault, which errors.As finds: busy, unknown_agent,
// idempotency_conflict, …
func (t *Troupe) Start(ctx context.Context, req RunRequest) (*messages.RunAccepted, error) {
	if req.IdempotencyKey != "" {
		req.Fingerprint = supervisor.Fingerprint(&req)
	}
	reply, err := t.ask(ctx, &req)
	if err != nil {
		return nil, err
	}
	switch r := reply.(type) {
	case *messages.RunAccepted:
		return r, nil
	case *messages.RunRefused:
		return nil, r.Fault
	}
	return nil, fmt.Errorf("start a run: unexpected reply %T", reply)
}

// Run begins a run and gives its events in order, the last one (Event.Last)
// included. An error ends the iteration, except *messages.Missed, which says how
// many events a slow reader has missed. Leaving the loop stops nothing.
func (t *Troupe) Run(ctx context.Context, req RunRequest) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		accepted, err := t.Start(ctx, req)
		if err != nil {
			yield(Event{}, err)
			return
		}
		t.Watch(ctx, accepted.Run, 0)(yield)
	}
}

// Watch gives a run's events after position from (Event.Seq; 0: all), and ends
// after its last one. Any number may watch; none slows the run.
func (t *Troupe) Watch(ctx context.Context, run string, from uint64) iter.Seq2[Event, error] {
	return t.log.Watch(ctx, run, from)
}

// Stop stops a run and returns, when the stop has taken effect, what was
// stopped where. Stopping again, or what has ended, changes nothing.
func (t *Troupe) Stop(ctx context.Context, s messages.Stop) (messages.Stopped, error) {
	reply, err := t.ask(ctx, &s)
	if err != nil {
		return messages.Stopped{}, err
	}
	r, ok := reply.(*messages.Stopped)
	switch {
	case !ok:
		return messages.Stopped{}, fmt.Errorf("stop a run: unexpected reply %T", reply)
	case r.Fault != nil:
		return *r, r.Fault
	}
	return *r, nil
}

// ask asks the root. A question that comes too late is answered by nobody, so
// the end of the node ends the wait.
func (t *Troupe) ask(ctx context.Context, msg any) (any, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(t.life, cancel)()
	reply, err := t.system.Ask(ctx, t.root, msg)
	if err != nil && t.life.Err() != nil || errors.Is(err, system.ErrDeadLetter) {
		return nil, messages.ErrShutdown
	}
	return reply, err
}

// Workspace is the folder of a run's files, unless its request named another.
func (t *Troupe) Workspace(run string) string { return t.planner.workspace(run) }

// Sandbox says what walls stand around model-written Python here.
func (t *Troupe) Sandbox() python.Description { return t.planner.driver.Describe() }

// Close stops what runs, at once, and ends the node. When ctx ends first, what
// is left is cut off and ctx's error returned. Closing again changes nothing
// and returns what the first Close did.
func (t *Troupe) Close(ctx context.Context) error {
	t.closing.Do(func() {
		_, err := system.Ask[*supervisor.ShutDown](ctx, t.system, t.root, &supervisor.Shutdown{})
		stopped := t.system.Root().StopFuture(t.root)
		t.closed = errors.Join(err, stopped.Wait(), t.release())
	})
	return t.closed
}

// release lets go of what New made, in reverse.
func (t *Troupe) release() error {
	t.end()
	if t.log != nil {
		t.log.Close()
	}
	var err error
	if t.planner != nil {
		err = t.planner.close()
	}
	t.system.Close()
	if t.ownsDir {
		err = errors.Join(err, os.RemoveAll(t.dataDir))
	}
	return err
}

var (
	errDataDir = &messages.Fault{Code: "data_dir", Class: messages.Permanent,
		EN: "the data folder can't be used; set data_dir to a folder that this user may write", ZH: "数据目录不可用；请将 data_dir 设为当前用户可写的目录"}
	errCacheDir = &messages.Fault{Code: "cache_dir", Class: messages.Permanent,
		EN: "the user's cache folder can't be told; set HOME, or Config.CacheDir in Go", ZH: "无法确定用户缓存目录；请设置 HOME，或在 Go 中设置 Config.CacheDir"}
)
