package main

import (
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/bridge/config"
	"github.com/troupe-go/troupe/messages"
)

// The demo's scripts, one a language, and the data of its task.
//
//go:embed demo
var demoFiles embed.FS

// demoData and demoReport are files of the demo's workspace.
const (
	demoData   = "orders.csv"
	demoReport = "summary.csv"
)

func (a *app) demoCommand(lang string) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "demo",
		Short:   tx.demoShort.in(lang),
		Long:    tx.demoLong.in(lang),
		Example: examples("troupe demo", "troupe demo --lang zh", "troupe demo --json"),
		Args:    a.noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.demo(cmd, asJSON, lang)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, tx.flagJSON.in(lang))
	return cmd
}

func (a *app) demo(cmd *cobra.Command, asJSON bool, lang string) error {
	logger, err := a.logger(cmd, logLevel(asJSON))
	if err != nil {
		return err
	}
	workspace, err := demoWorkspace()
	if err != nil {
		return err
	}
	defer os.RemoveAll(workspace)
	model, err := a.scriptedModel(lang)
	if err != nil {
		return err
	}
	defer model.Close()
	file, err := config.Parse(configName, []byte(a.example), demoEnv(model.URL()))
	if err != nil {
		return err
	}
	node, err := a.open(nodeConfig{defs: file.Definitions, logger: logger, allowMissingWalls: true})
	if err != nil {
		return &coded{exitUsage, err}
	}
	req := messages.RunAgent{Run: a.newRunID(), Query: tx.demoTask.in(lang), Lang: lang}
	req.Overrides.Workspace = workspace
	say := a.demoVoice(asJSON)
	say(tx.demoScripted.in(lang))
	say(describeSandbox(node.Sandbox(), lang))
	say(tx.demoTaskLine.in(lang, req.Query))
	if err := a.play(cmd.Context(), node, req, a.view(asJSON, lang, ""), lang); err != nil {
		return err
	}
	if report, err := os.ReadFile(filepath.Join(workspace, demoReport)); err == nil {
		say("\n" + tx.demoFile.in(lang, demoReport) + "\n  " + strings.ReplaceAll(strings.TrimSpace(clean(string(report))), "\n", "\n  "))
	}
	say("\n" + tx.demoNext.in(lang))
	return nil
}

// demoVoice writes what the demo itself says: to stderr when stdout is for
// programs.
func (a *app) demoVoice(asJSON bool) func(string) {
	w := a.stdout
	if asJSON {
		w = a.stderr
	}
	return func(text string) { fmt.Fprintln(w, text) }
}

// demoWorkspace is a folder with the demo's data in it.
func demoWorkspace() (string, error) {
	data, err := demoFiles.ReadFile("demo/" + demoData)
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "troupe-demo-")
	if err != nil {
		return "", err
	}
	return dir, os.WriteFile(filepath.Join(dir, demoData), data, 0o600)
}

func (a *app) scriptedModel(lang string) (scriptedModel, error) {
	script, err := demoFiles.ReadFile("demo/" + lang + ".yaml")
	if err != nil {
		return nil, err
	}
	return a.startScript(script)
}

// demoEnv answers the variables of the example for the scripted model.
func demoEnv(url string) config.Env {
	return func(name string) (string, bool) {
		v, ok := map[string]string{"OPENAI_BASE_URL": url, "OPENAI_API_KEY": "scripted", "OPENAI_MODEL": "scripted"}[name]
		return v, ok
	}
}

// describeSandbox says what stands around the Python that is about to run.
func describeSandbox(d python.Description, lang string) string {
	walls := strings.Join(d.Walls, ", ")
	if walls == "" {
		walls = tx.demoNoWalls.in(lang)
	}
	lines := []string{tx.demoSandbox.in(lang, d.Level, d.Version), tx.demoWalls.in(lang, walls)}
	for _, m := range d.Missing {
		lines = append(lines, tx.demoMissing.in(lang, m.Name, m.Why))
		if m.Advice != "" {
			lines = append(lines, tx.demoAdvice.in(lang, m.Advice))
		}
	}
	return strings.Join(lines, "\n")
}
