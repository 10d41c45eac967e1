package pythontest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/actors/python/value"
	"github.com/troupe-go/troupe/messages"
)

// ToolNames are the tools that Stubs answers.
func ToolNames() []string {
	return []string{"upper", "get_weather", "exa_search", "failing_tool", "researcher", "parallel_executor", "echo", "wait", "raise_named"}
}

// Stubs is a host with the tools of the cases, and a few more: echo gives its
// argument back as it came, raise_named raises an exception of the class it
// is told, wait lasts until Release is called or its call is cancelled.
type Stubs struct {
	mu       sync.Mutex
	calls    []python.Call
	waiting  chan struct{} // gets a value when wait begins
	released chan struct{}
}

// NewStubs makes one.
func NewStubs() *Stubs {
	return &Stubs{waiting: make(chan struct{}, 16), released: make(chan struct{})}
}

// Calls gives what was called so far.
func (s *Stubs) Calls() []python.Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]python.Call{}, s.calls...)
}

// Waiting gets a value whenever the tool wait begins.
func (s *Stubs) Waiting() <-chan struct{} { return s.waiting }

// Release lets every wait return, from now on.
func (s *Stubs) Release() { close(s.released) }

// Call implements python.Host.
func (s *Stubs) Call(ctx context.Context, c python.Call) python.Result {
	s.mu.Lock()
	s.calls = append(s.calls, c)
	s.mu.Unlock()
	switch c.Tool {
	case "echo":
		return python.Result{Value: c.Args[0]}
	case "wait":
		return s.wait(ctx)
	}
	args, err := bind(c)
	if err != nil {
		return failure(err)
	}
	result, err := run(c.Tool, args)
	if err != nil {
		return failure(err)
	}
	raw, err := value.Tagged(result)
	if err != nil {
		return failure(err)
	}
	return python.Result{Value: raw}
}

func (s *Stubs) wait(ctx context.Context) python.Result {
	s.waiting <- struct{}{}
	select {
	case <-s.released:
		return python.Result{Value: json.RawMessage(`"released"`)}
	case <-ctx.Done():
		return failure(named{"ToolTimeout", ctx.Err().Error()})
	}
}

// named is an error of a class.
type named struct{ class, text string }

func (e named) Error() string { return e.text }

func failure(err error) python.Result {
	class, text := "ToolError", err.Error()
	if n, ok := errors.AsType[named](err); ok {
		class, text = n.class, n.text
	}
	return python.Result{Err: &messages.ToolError{Type: class, Message: text}}
}

// parameters of each stub, in order.
var parameters = map[string][]string{
	"upper": {"text"}, "get_weather": {"city"}, "exa_search": {"query", "max_results"}, "failing_tool": {"reason"},
	"researcher": {"task"}, "parallel_executor": {"tasks"}, "raise_named": {"name", "message"},
}

func bind(c python.Call) (map[string]any, error) {
	args := map[string]any{}
	for i, raw := range c.Args {
		v, err := value.Plain(raw)
		if err != nil {
			return nil, err
		}
		if i >= len(parameters[c.Tool]) {
			return nil, named{"TypeError", "too many arguments"}
		}
		args[parameters[c.Tool][i]] = v
	}
	kwargs, err := value.Plain(c.Kwargs)
	if err != nil {
		return nil, err
	}
	named, _ := kwargs.(map[string]any) // nil when there are none
	for name, v := range named {
		args[name] = v
	}
	return args, nil
}

func run(tool string, args map[string]any) (any, error) {
	switch tool {
	case "upper":
		return upper(fmt.Sprint(args["text"])), nil
	case "get_weather":
		return map[string]any{"temp_c": len(fmt.Sprint(args["city"]))}, nil
	case "exa_search":
		return search(args), nil
	case "failing_tool":
		return nil, fmt.Errorf("failed: %v", args["reason"])
	case "researcher":
		return fmt.Sprintf("Report on: %v", args["task"]), nil
	case "raise_named":
		return nil, named{fmt.Sprint(args["name"]), fmt.Sprint(args["message"])}
	case "parallel_executor":
		return parallel(args["tasks"])
	}
	return nil, fmt.Errorf("no stub %q", tool)
}

func upper(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'a' && c <= 'z' {
			b[i] = c - 'a' + 'A'
		}
	}
	return string(b)
}

func search(args map[string]any) []any {
	n, ok := args["max_results"].(int64)
	if !ok {
		n = 3
	}
	results := []any{}
	for i := int64(1); i <= n; i++ {
		results = append(results, map[string]any{
			"title": fmt.Sprintf("%v #%d", args["query"], i),
			"url":   fmt.Sprintf("http://x/%d", i),
			"score": float64(i) / 10,
		})
	}
	return results
}

// parallel runs pairs of a tool's function and its arguments.
func parallel(tasks any) (any, error) {
	list, ok := tasks.([]any)
	if !ok {
		return nil, named{"TypeError", "tasks is no list"}
	}
	results := []any{}
	for _, task := range list {
		pair, ok := task.([]any)
		if !ok || len(pair) != 2 {
			return nil, named{"TypeError", "a task is no pair"}
		}
		tool, isTool := pair[0].(value.Tool)
		args, isDict := pair[1].(map[string]any)
		if !isTool || !isDict {
			return nil, named{"TypeError", "a task is no (function, arguments)"}
		}
		result, err := run(string(tool), args)
		if err != nil {
			return nil, err
		}
		results = append(results, result)
	}
	return results, nil
}
