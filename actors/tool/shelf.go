package tool

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/troupe-go/troupe/messages"
)

// Deps is what a node and a run hand to the tools they make. None of it ever
// comes from ToolConfig.Params.
type Deps struct {
	Workspace string         // folder of the run's files; empty while a configuration is only checked
	Lang      string         // of errors made while the tool is made
	Scope     messages.Scope // of the invocation the tool is for
}

// Factory makes one tool of a class. Params is a JSON object that holds every
// declared constructor parameter, checked and completed with defaults; one
// that was neither given nor has a default is null.
type Factory func(params json.RawMessage, deps Deps) (Tool, error)

// Shelf makes tools from configuration. It is filled while the node is built
// and only read afterwards; then it is safe for concurrent use.
type Shelf struct {
	local, builtin map[string]class
}

type class struct {
	make        Factory
	constructor []Input
}

// NewShelf gives an empty shelf.
func NewShelf() *Shelf {
	return &Shelf{local: make(map[string]class), builtin: make(map[string]class)}
}

// Add puts a class on the shelf for source local. Constructor declares the
// parameters it takes; any other is refused. It panics when the class is there
// already or a parameter is declared wrongly: a fault in the program.
func (s *Shelf) Add(className string, f Factory, constructor ...Input) {
	add(s.local, className, f, constructor)
}

// AddBuiltin is Add for source builtin: tools that the system manages.
func (s *Shelf) AddBuiltin(className string, f Factory, constructor ...Input) {
	add(s.builtin, className, f, constructor)
}

func add(to map[string]class, name string, f Factory, constructor []Input) {
	if _, twice := to[name]; twice || name == "" || f == nil {
		panic("tool: class " + quote(name) + " is on the shelf already, or has no name or factory")
	}
	for i := range constructor {
		if err := constructor[i].check(name); err != nil {
			panic("tool: " + err.Error())
		}
	}
	to[name] = class{make: f, constructor: constructor}
}

// Classes gives the names of the classes of source local, sorted.
func (s *Shelf) Classes() []string { return slices.Sorted(maps.Keys(s.local)) }

// CreateError says that a configured tool could not be made.
type CreateError struct {
	Tool, Class string
	Err         error // a *messages.Fault of code tool_config, or the factory's
}

// Error gives the English text.
func (e *CreateError) Error() string { return "Error in creating tool: " + e.Err.Error() }

// Unwrap gives the reason.
func (e *CreateError) Unwrap() error { return e.Err }

// In gives the text in a language.
func (e *CreateError) In(lang string) string {
	f, ok := errors.AsType[*messages.Fault](e.Err)
	if lang != messages.ZH || !ok {
		return e.Error()
	}
	return "创建工具出错：" + f.In(lang)
}

// Make makes a configured tool, under its configured name and description. The
// error is a *CreateError.
func (s *Shelf) Make(cfg messages.ToolConfig, deps Deps) (Tool, error) {
	t, err := s.create(cfg, deps)
	if err == nil {
		return t, nil
	}
	if ready, ok := errors.AsType[*CreateError](err); ok { // a factory that makes a tool of the shelf
		return nil, ready
	}
	return nil, &CreateError{Tool: cfg.Name, Class: cfg.ClassName, Err: err}
}

func (s *Shelf) create(cfg messages.ToolConfig, deps Deps) (Tool, error) {
	cl, err := s.find(cfg)
	if err != nil {
		return nil, err
	}
	params, err := checkParams(cfg.Name, cl.constructor, cfg.Params)
	if err != nil {
		return nil, err
	}
	t, err := cl.make(params, deps)
	if err != nil {
		return nil, err
	}
	spec := *t.Spec()
	spec.Constructor = cl.constructor
	if cfg.Name != "" {
		spec.Name = cfg.Name
	}
	if cfg.Description != "" {
		spec.Description, spec.DescriptionZH = cfg.Description, ""
	}
	if err := errors.Join(spec.Validate(), checkLimits(&spec, cfg)); err != nil {
		return nil, errors.Join(err, closeTool(t))
	}
	return &configured{Tool: t, spec: &spec}, nil
}

func (s *Shelf) find(cfg messages.ToolConfig) (class, error) {
	switch cfg.Source {
	case "", "local":
		if cl, ok := s.local[cfg.ClassName]; ok {
			return cl, nil
		}
		return class{}, configFault("%s not found in local; there are: %s", "本地没有工具类 %s；现有：%s", cfg.ClassName, strings.Join(s.Classes(), ", "))
	case "builtin":
		if cl, ok := s.builtin[cfg.ClassName]; ok {
			return cl, nil
		}
		return class{}, configFault("Unknown builtin tool: %s", "未知的内置工具：%s", cfg.ClassName)
	}
	return class{}, configFault("unsupported tool source: %s", "不支持的工具来源：%s", cfg.Source)
}

// configured is a tool under the name and description of its configuration.
type configured struct {
	Tool
	spec *Spec
}

func (c *configured) Spec() *Spec { return c.spec }

// Close lets go of what the tool holds.
func (c *configured) Close() error { return closeTool(c.Tool) }

func closeTool(t Tool) error {
	if c, ok := t.(Closer); ok {
		return c.Close()
	}
	return nil
}

func configFault(en, zh string, args ...any) *messages.Fault {
	return newFault(CodeConfig, messages.Permanent, en, zh, args...)
}
