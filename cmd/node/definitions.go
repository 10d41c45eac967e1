package main

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/troupe-go/troupe/bridge/config"
	"github.com/troupe-go/troupe/messages"
)

// configName is the file that is looked for where none is named.
const configName = "cluster.yaml"

// defaultAPI is where the example's model is when OPENAI_BASE_URL isn't set.
const defaultAPI = "https://api.openai.com/v1"

// definitions are what a run is made with.
type definitions struct {
	messages.Definitions
	example bool // the embedded file: nobody's own choice of language
}

// findConfig gives the definitions: of the file named, else of ./cluster.yaml,
// else of the embedded example when the environment or --model says which
// model is meant; a local server needs no key.
func (a *app) findConfig(path, model string) (*definitions, error) {
	if path == "" {
		here := filepath.Join(a.dir, configName)
		if _, err := os.Stat(here); err == nil {
			path = here
		}
	}
	if path != "" {
		f, err := config.Load(path, a.env)
		if err != nil {
			return nil, err
		}
		return &definitions{Definitions: f.Definitions}, nil
	}
	if a.getenv("OPENAI_API_KEY") == "" && a.getenv("OPENAI_BASE_URL") == "" && model == "" {
		return nil, usage(tx.noModel)
	}
	f, err := config.Parse(configName, []byte(a.example), a.env)
	if err != nil {
		return nil, err
	}
	return &definitions{Definitions: f.Definitions, example: true}, nil
}

func (a *app) getenv(name string) string {
	v, _ := a.env(name)
	return v
}

// agent finds the agent that is asked for; empty: the first.
func (d *definitions) agent(name string) (*messages.AgentConfig, error) {
	if name == "" {
		return &d.Agents[0], nil
	}
	var names []string
	for i := range d.Agents {
		if d.Agents[i].Name == name {
			return &d.Agents[i], nil
		}
		names = append(names, d.Agents[i].Name)
	}
	return nil, usage(tx.unknownAgent, name, strings.Join(names, ", "))
}

func (d *definitions) model(citeName string) (messages.ModelConfig, bool) {
	for _, m := range d.Models {
		if m.CiteName == citeName {
			return m, true
		}
	}
	return messages.ModelConfig{}, false
}

// overrides resolves --model: a cite_name of the configuration, else a name
// that the provider knows. The provider is the one of OPENAI_BASE_URL, else
// that of the agent's model; a key never goes to another provider than the one
// it was given for.
func (a *app) overrides(d *definitions, agent *messages.AgentConfig, name string) (messages.Overrides, error) {
	m, _ := d.model(agent.ModelName)
	if name == "" {
		return messages.Overrides{}, needsModel(m)
	}
	if cited, ok := d.model(name); ok {
		return messages.Overrides{Model: name}, needsModel(cited)
	}
	m.CiteName, m.ModelName = name, name
	if base := a.getenv("OPENAI_BASE_URL"); base != "" && base != m.URL {
		m.URL, m.APIKey, m.ExtraHeaders = base, "", nil
	}
	if key := a.getenv("OPENAI_API_KEY"); key != "" && m.APIKey == "" && (a.getenv("OPENAI_BASE_URL") != "" || m.URL == defaultAPI) {
		m.APIKey = messages.Secret(key)
	}
	return messages.Overrides{Model: name, Models: []messages.ModelConfig{m}}, needsModel(m)
}

// needsModel refuses a model that can't answer: the example's provider takes
// nobody without a key.
func needsModel(m messages.ModelConfig) error {
	u, err := url.Parse(m.URL)
	if err == nil && u.Hostname() == "api.openai.com" && m.APIKey == "" {
		return usage(tx.noModel)
	}
	return nil
}
