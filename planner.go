package troupe

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/troupe-go/troupe/actors/agent"
	"github.com/troupe-go/troupe/actors/agent/prompt"
	"github.com/troupe-go/troupe/actors/agent/window"
	"github.com/troupe-go/troupe/actors/model"
	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/actors/python/slots"
	"github.com/troupe-go/troupe/actors/system"
	"github.com/troupe-go/troupe/actors/tool"
	"github.com/troupe-go/troupe/actors/tool/file"
	"github.com/troupe-go/troupe/bridge/openai"
	"github.com/troupe-go/troupe/messages"
	"github.com/troupe-go/troupe/messages/fact"
	"github.com/troupe-go/troupe/supervisor"
)

// planner resolves requests to what runs them: it knows the definitions, the
// models with their clients, the shelf of tools and the executor's driver.
type planner struct {
	system  *system.System
	defs    messages.Definitions
	dataDir string
	proxy   func(*http.Request) (*url.URL, error)
	driver  python.Driver
	slots   *slots.Slots
	metrics *python.Metrics
	shelf   *tool.Shelf
	tools   map[string]agent.Tool // by callable name
	limits  *model.Limiters
	models  map[string]model.Model // by cite_name
	closers []func() error

	mu        sync.Mutex
	equipment map[equipmentKey]*agent.Equipment
	own       map[*ownModels]struct{} // of the runs that have models for themselves
}

// runID is what a caller may name a run: it names a folder, and a subject.
var runID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,128}$`)

type equipmentKey struct{ agent, lang string }

func newPlanner(sys *system.System, cfg Config, dataDir string) (*planner, error) {
	p := &planner{
		system: sys, defs: cfg.Definitions, dataDir: dataDir, proxy: cfg.Proxy, driver: cfg.Driver,
		shelf: tool.NewShelf(), tools: map[string]agent.Tool{}, limits: model.NewLimiters(sys.World()),
		models: map[string]model.Model{}, equipment: map[equipmentKey]*agent.Equipment{}, own: map[*ownModels]struct{}{},
	}
	if err := checkDefinitions(&p.defs); err != nil {
		return nil, err
	}
	if len(p.defs.Agents) == 0 {
		return nil, errNoAgent
	}
	file.Register(p.shelf)
	if err := p.addTools(cfg); err != nil {
		return nil, err
	}
	for _, m := range p.defs.Models {
		if err := p.addModel(m); err != nil {
			return nil, errors.Join(err, p.close())
		}
	}
	if err := p.openExecutors(cfg); err != nil {
		return nil, errors.Join(err, p.close())
	}
	for i := range p.defs.Agents { // a definition that can't be resolved is told at once
		name := p.defs.Agents[i].Name
		if slices.ContainsFunc(p.defs.Agents[:i], func(a messages.AgentConfig) bool { return a.Name == name }) {
			return nil, errors.Join(errDuplicate.Withf("agent", name), p.close())
		}
		if _, err := p.equip(&p.defs.Agents[i], p.langOf("", &p.defs.Agents[i])); err != nil {
			return nil, errors.Join(err, p.close())
		}
	}
	return p, nil
}

func (p *planner) close() error {
	var err error
	for i := len(p.closers) - 1; i >= 0; i-- {
		err = errors.Join(err, p.closers[i]())
	}
	p.closers = nil
	p.mu.Lock()
	left := slices.Collect(maps.Keys(p.own))
	p.mu.Unlock()
	for _, o := range left { // of runs that were cut off
		p.releaseModels(o)
	}
	return err
}

// addTools puts the configured tools and those written in Go within reach.
func (p *planner) addTools(cfg Config) error {
	for _, tc := range cfg.Definitions.Tools {
		made, err := p.shelf.Make(tc, tool.Deps{}) // for its schema only
		if err != nil {
			return err
		}
		if c, ok := made.(tool.Closer); ok {
			if err := c.Close(); err != nil {
				return err
			}
		}
		if err := p.addTool(made.Spec(), func(d tool.Deps) (tool.Tool, error) { return p.shelf.Make(tc, d) }, tool.LimitsOf(tc), tc.Timeout); err != nil {
			return err
		}
	}
	for _, t := range cfg.GoTools {
		// Its Close, when it has one, is the caller's: the tool outlives invocations.
		shared := struct{ tool.Tool }{t}
		limits := tool.LimitsOf(messages.ToolConfig{})
		if err := p.addTool(t.Spec(), func(tool.Deps) (tool.Tool, error) { return shared, nil }, limits, 0); err != nil {
			return err
		}
	}
	return nil
}

func (p *planner) addTool(spec *tool.Spec, make func(tool.Deps) (tool.Tool, error), limits *tool.Limits, timeout time.Duration) error {
	if err := spec.Validate(); err != nil {
		return err
	}
	if _, ok := p.tools[spec.Name]; ok {
		return errDuplicate.Withf("tool", spec.Name)
	}
	p.tools[spec.Name] = agent.Tool{Spec: spec, Make: make, Limits: limits, Timeout: timeout}
	return nil
}

func (p *planner) addModel(cfg messages.ModelConfig) error {
	if _, ok := p.models[cfg.CiteName]; ok {
		return errDuplicate.Withf("model", cfg.CiteName)
	}
	m, end, err := p.newModel(cfg)
	if err != nil {
		return err
	}
	p.models[cfg.CiteName] = m
	p.closers = append(p.closers, func() error { end(); return nil })
	return nil
}

// newModel gives a model with its client, and what lets go of both client and
// limiter.
func (p *planner) newModel(cfg messages.ModelConfig) (model.Model, func(), error) {
	client, err := openai.New(openai.Config{Model: cfg, World: p.system.World(), Logger: p.system.Logger(), Proxy: p.proxy})
	if err != nil {
		return model.Model{}, nil, err
	}
	limiter, err := p.limits.Get(cfg)
	if err != nil {
		client.Close()
		return model.Model{}, nil, err
	}
	end := func() {
		if limiter != nil {
			limiter.Close()
		}
		client.Close()
	}
	return model.Model{Config: cfg, Client: client, Limiter: limiter}, end, nil
}

// Plan implements supervisor.Planner.
func (p *planner) Plan(_ context.Context, run string, req *messages.RunAgent) (*supervisor.Plan, error) {
	def, err := p.definition(req)
	if err != nil {
		return nil, err
	}
	if err := checkRequest(req); err != nil {
		return nil, err
	}
	lang := p.langOf(req.Lang, def)
	if strings.TrimSpace(req.Query) == "" && len(req.Attachments) == 0 {
		return nil, errNoQuery
	}
	if !runID.MatchString(run) { // it names a folder
		return nil, errRunID.Withf(run)
	}
	own, err := p.takeModels(req.Overrides.Models)
	if err != nil {
		return nil, err
	}
	equipment, err := p.equipRun(def, lang, req, own.models)
	if err != nil {
		p.releaseModels(own)
		return nil, err
	}
	ws, err := p.place(run, req)
	if err != nil {
		p.releaseModels(own)
		return nil, err
	}
	task, err := p.task(equipment, ws, req)
	if err != nil {
		p.releaseModels(own)
		return nil, errors.Join(err, ws.release(false))
	}
	now := p.system.World().Now()
	return &supervisor.Plan{
		Equipment: equipment, Task: task,
		Release: func(keep bool) {
			p.releaseModels(own)
			if err := ws.release(keep); err != nil {
				p.system.Logger().Warn("a run's files could not be removed", "run", run, "error", err)
			}
		},
		Start: p.start(equipment, req, now, ws.dir),
	}, nil
}

func (p *planner) start(e *agent.Equipment, req *messages.RunAgent, now time.Time, workspace string) *fact.RunStarted {
	deadline := req.Deadline
	if deadline.IsZero() {
		deadline = now.Add(supervisor.WithDefaults(p.defs.Limits).RunDeadline)
	}
	models := make([]messages.ModelConfig, len(e.Models))
	for i := range e.Models {
		models[i] = e.Models[i].Config
		models[i].URL = messages.PublicURL(models[i].URL)
		models[i].ExtraBody = nil // it may hold keys, and an owner has its own configuration
	}
	return &fact.RunStarted{
		Tenant: req.Tenant, Agent: e.Definition.Name, Query: req.Query, Now: now, Attachments: req.Attachments,
		History: req.History, Lang: e.Lang, User: req.User, Conversation: req.Conversation, Metadata: req.Metadata,
		Deadline: deadline, IdempotencyKey: req.IdempotencyKey, Definition: e.Definition, Models: models,
		Sandbox: &e.Sandbox, Workspace: workspace, Executor: p.driver.Describe().ID(),
		Seed: fmt.Sprintf("%016x%016x", p.system.World().Rand().Uint64(), p.system.World().Rand().Uint64()),
	}
}

// task puts attachments into the query and the workspace.
func (p *planner) task(e *agent.Equipment, ws *workspace, req *messages.RunAgent) (agent.Task, error) {
	images := len(e.Models) > 0 && e.Models[0].Config.Images
	in, err := window.Attachments(window.AttachmentsInput{
		Query: req.Query, Files: req.Attachments, Images: images,
		InlineBytes: e.Definition.AttachmentInlineBytes, Lang: e.Lang, Folder: ws.inputs,
	})
	if err != nil {
		return agent.Task{}, err
	}
	if err := ws.place(in.Files); err != nil {
		return agent.Task{}, err
	}
	text := in.Text
	if e.Definition.AllowChatMetadata && len(req.Metadata) > 0 {
		block, err := prompt.Metadata(e.Lang, req.Metadata)
		if err != nil {
			return agent.Task{}, err
		}
		text += "\n\n" + block
	}
	return agent.Task{Text: text, Parts: in.Parts, Workspace: ws.dir}, nil
}
