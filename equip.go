package troupe

import (
	"slices"
	"strings"

	"github.com/troupe-go/troupe/actors/agent"
	"github.com/troupe-go/troupe/actors/agent/prompt"
	"github.com/troupe-go/troupe/actors/model"
	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/messages"
)

// definition finds the agent that a request means.
func (p *planner) definition(req *messages.RunAgent) (*messages.AgentConfig, error) {
	if req.Overrides.Definition != nil {
		return req.Overrides.Definition, nil
	}
	if req.Agent == "" {
		return &p.defs.Agents[0], nil
	}
	names := make([]string, len(p.defs.Agents))
	for i := range p.defs.Agents {
		if p.defs.Agents[i].Name == req.Agent {
			return &p.defs.Agents[i], nil
		}
		names[i] = p.defs.Agents[i].Name
	}
	return nil, messages.ErrUnknownAgent.Withf(req.Agent, strings.Join(names, ", "))
}

func (p *planner) langOf(asked string, def *messages.AgentConfig) string {
	for _, l := range []string{asked, def.Lang, p.defs.Lang} {
		if l == messages.ZH || l == messages.EN {
			return l
		}
	}
	return messages.ZH
}

// equipRun gives a run its equipment: the shared one, or one of its own when
// the request overrides parts of the definition.
func (p *planner) equipRun(def *messages.AgentConfig, lang string, req *messages.RunAgent, models []model.Model) (*agent.Equipment, error) {
	o := req.Overrides
	if o.Definition == nil && o.Model == "" && len(models) == 0 && o.MaxSteps == 0 && o.Sandbox == nil {
		return p.equip(def, lang)
	}
	own := *def
	if o.Model != "" {
		own.ModelName, own.FallbackModels = o.Model, nil
	}
	if o.MaxSteps > 0 {
		own.MaxSteps = o.MaxSteps
	}
	chain, err := p.chain(&own, models)
	if err != nil {
		return nil, err
	}
	return p.build(&own, lang, chain, o.Sandbox)
}

// equip gives the equipment that all runs of a definition share.
func (p *planner) equip(def *messages.AgentConfig, lang string) (*agent.Equipment, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := equipmentKey{def.Name, lang}
	if e, ok := p.equipment[key]; ok {
		return e, nil
	}
	chain, err := p.chain(def, nil)
	if err != nil {
		return nil, err
	}
	e, err := p.build(def, lang, chain, nil)
	if err != nil {
		return nil, err
	}
	p.equipment[key] = e
	return e, nil
}

// chain resolves an agent's models: those of the run alone come first.
func (p *planner) chain(def *messages.AgentConfig, own []model.Model) ([]model.Model, error) {
	names := append([]string{def.ModelName}, def.FallbackModels...)
	chain := slices.Clone(own)
	for _, name := range names {
		m, ok := p.models[name]
		switch {
		case ok:
			chain = append(chain, m)
		case !slices.ContainsFunc(own, func(m model.Model) bool { return m.Config.CiteName == name }):
			return nil, errNoModel.Withf(name, def.Name)
		}
	}
	return chain, nil
}

// ownModels are models that exist for one run only.
type ownModels struct {
	models  []model.Model
	closers []func()
}

// takeModels makes a run's own models; releaseModels must follow.
func (p *planner) takeModels(defs []messages.ModelConfig) (*ownModels, error) {
	o := &ownModels{}
	for _, cfg := range defs {
		m, end, err := p.newModel(cfg)
		if err != nil {
			p.releaseModels(o)
			return nil, err
		}
		o.models, o.closers = append(o.models, m), append(o.closers, end)
	}
	if len(defs) > 0 {
		p.mu.Lock()
		p.own[o] = struct{}{}
		p.mu.Unlock()
	}
	return o, nil
}

// releaseModels closes a run's own models; again, it does nothing.
func (p *planner) releaseModels(o *ownModels) {
	p.mu.Lock()
	closers := o.closers
	o.closers = nil
	delete(p.own, o)
	p.mu.Unlock()
	for _, end := range closers {
		end()
	}
}

// build puts equipment together; limits are what a run asks for beside the
// node's, or nil.
func (p *planner) build(def *messages.AgentConfig, lang string, chain []model.Model, limits *messages.SandboxConfig) (*agent.Equipment, error) {
	sandbox, err := p.sandbox(limits)
	if err != nil {
		return nil, err
	}
	e := &agent.Equipment{Definition: def, Lang: lang, Models: chain, Driver: p.driver, Slots: p.slots, Metrics: p.metrics, Sandbox: sandbox}
	if len(def.ManagedAgents) > 0 {
		return nil, errSubagents.Withf(def.Name)
	}
	signatures := make([]prompt.Signature, 0, len(def.Tools))
	for _, name := range def.Tools {
		t, ok := p.tools[name]
		if !ok {
			return nil, errNoTool.Withf(name, def.Name)
		}
		e.Tools = append(e.Tools, t)
		signatures = append(signatures, prompt.Signature{Name: name, Text: t.Spec.Signature(lang)})
	}
	if err := prompt.Check(def.PromptTemplates); err != nil {
		return nil, err
	}
	system, err := prompt.System(prompt.Data{
		Agent: def, Lang: lang, Tools: signatures,
		Imports: slices.Concat(python.BaseImports(), def.AdditionalImports),
	})
	if err != nil {
		return nil, err
	}
	e.System = system
	return e, nil
}

var (
	errNoAgent = &messages.Fault{Code: "no_agent", Class: messages.Permanent,
		EN: "no agent is defined; define one under agents", ZH: "没有定义智能体；请在 agents 下定义"}
	errNoModel = &messages.Fault{Code: "unknown_model", Class: messages.Permanent,
		EN: "model %q of agent %q is not defined; define it under models or use a defined cite_name", ZH: "模型 %q（智能体 %q）未定义；请在 models 下定义，或使用已有的 cite_name"}
	errNoTool = &messages.Fault{Code: "unknown_tool", Class: messages.Permanent,
		EN: "tool %q of agent %q is not defined; define it under tools or register it in Go", ZH: "工具 %q（智能体 %q）未定义；请在 tools 下定义，或用 Go 注册"}
	errSubagents = &messages.Fault{Code: "managed_agents", Class: messages.Permanent,
		EN: "agent %q has managed_agents, which this release can't run yet; remove the key", ZH: "智能体 %q 设有 managed_agents，此版本尚不支持；请移除该项"}
	errDuplicate = &messages.Fault{Code: "duplicate_name", Class: messages.Permanent,
		EN: "there are two definitions of %s %q; names must be unique", ZH: "%s %q 定义了两次；名称必须唯一"}
	errNoQuery = &messages.Fault{Code: "empty_query", Class: messages.Permanent,
		EN: "the query is empty; say what the agent should do", ZH: "问题为空；请说明要智能体做什么"}
	errRunFolder = &messages.Fault{Code: "run_exists", Class: messages.Permanent,
		EN: "run %q has a folder from before, %s; take another id, or leave it out to be given a new one", ZH: "运行 %q 已有先前的目录 %s；请换一个编号，或不指定编号以获得新的编号"}
	errRunID = &messages.Fault{Code: "run_id", Class: messages.Permanent,
		EN: "the run id %q can't be used; use letters, digits, - and _, at most 128, or leave it out", ZH: "运行编号 %q 不可用；只能使用字母、数字、- 和 _，最多 128 个字符，或不指定"}
	errWorkspace = &messages.Fault{Code: "workspace", Class: messages.Permanent,
		EN: "the run's folder %s can't be made", ZH: "无法创建运行目录 %s"}
)
