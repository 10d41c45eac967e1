package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/troupe-go/troupe/messages"
)

// runFlags are the flags of `troupe run`.
type runFlags struct {
	agent, history, model, config string
	workspace                     string
	files                         []string
	json                          bool
}

func (a *app) runCommand(lang string) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run QUERY",
		Short: tx.runShort.in(lang),
		Long:  tx.runLong.in(lang),
		Example: examples(
			`troupe run "What is 2 to the 100th?"`,
			`troupe run --file report.csv --file notes.md "Summarise these"`,
			`troupe run --workspace . "Which of these files is the largest?"`,
			`git diff | troupe run --agent assistant -`,
			`troupe run --json "…" | jq -r 'select(.type == "final_answer").content'`,
		),
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage(tx.oneQuery, cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.run(cmd, args[0], &f, lang)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.agent, "agent", "", tx.flagAgent.in(lang))
	flags.StringArrayVar(&f.files, "file", nil, tx.flagFile.in(lang))
	flags.StringVar(&f.history, "history", "", tx.flagHistory.in(lang))
	flags.StringVar(&f.model, "model", "", tx.flagModel.in(lang))
	flags.StringVar(&f.config, "config", "", tx.flagConfig.in(lang))
	flags.StringVar(&f.workspace, "workspace", "", tx.flagWorkspace.in(lang))
	flags.BoolVar(&f.json, "json", false, tx.flagJSON.in(lang))
	return cmd
}

func (a *app) run(cmd *cobra.Command, query string, f *runFlags, lang string) error {
	defs, err := a.findConfig(f.config, f.model)
	if err != nil {
		return a.showFaults(err, lang)
	}
	if err := a.lastingData(defs); err != nil {
		return err
	}
	req, err := a.request(cmd.Context(), defs, query, f)
	if err != nil {
		return err
	}
	if asked, _ := cmd.Flags().GetString("lang"); asked != "" || defs.example {
		req.Lang = lang // else the agent's own
	}
	logger, err := a.logger(cmd, logLevel(f.json))
	if err != nil {
		return err
	}
	node, err := a.open(nodeConfig{defs: defs.Definitions, logger: logger})
	if err != nil {
		return &coded{exitUsage, err}
	}
	workspace := req.Overrides.Workspace
	if workspace == "" {
		workspace = node.Workspace(req.Run)
	}
	return a.play(cmd.Context(), node, req, a.view(f.json, lang, workspace), lang)
}

// lastingData gives a node without data_dir the user's own: the files that an
// answer hands over are still there when the command has ended.
func (a *app) lastingData(defs *definitions) error {
	if defs.DataDir != "" {
		return nil
	}
	if dir := a.getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		defs.DataDir = filepath.Join(dir, "troupe")
		return nil
	}
	home := a.getenv("HOME")
	if !filepath.IsAbs(home) {
		return usage(tx.noHome)
	}
	defs.DataDir = filepath.Join(home, ".local", "share", "troupe")
	return nil
}

// workspaceDir checks --workspace: a folder that is there.
func workspaceDir(dir string) (string, error) {
	if dir == "" {
		return "", nil
	}
	info, err := os.Stat(dir)
	if err != nil {
		return "", usage(tx.noWorkspace, dir, err)
	}
	if !info.IsDir() {
		return "", usage(tx.noWorkspace, dir, "not a folder")
	}
	return filepath.Abs(dir)
}

// request puts the flags into a request.
func (a *app) request(ctx context.Context, defs *definitions, query string, f *runFlags) (req messages.RunAgent, err error) {
	agent, err := defs.agent(f.agent)
	if err != nil {
		return req, err
	}
	req.Run, req.Agent = a.newRunID(), agent.Name
	if req.Overrides, err = a.overrides(defs, agent, f.model); err != nil {
		return req, err
	}
	if req.Overrides.Workspace, err = workspaceDir(f.workspace); err != nil {
		return req, err
	}
	if req.History, err = readHistory(f.history); err != nil {
		return req, err
	}
	if req.Attachments, err = readFiles(f.files); err != nil {
		return req, err
	}
	req.Query, err = a.readQuery(ctx, query) // last: it may wait for a person
	return req, err
}

// view gives what shows the run's events; workspace is where its files are.
func (a *app) view(asJSON bool, lang, workspace string) view {
	if asJSON {
		return &jsonLines{w: a.stdout, errors: a.stderr, lang: lang, workspace: workspace}
	}
	look, width := a.page()
	s := newStream(a.stdout, lang, look, width)
	s.workspace = workspace
	return s
}

// closeNode closes a node, waiting for a while.
func closeNode(node runner) error {
	ctx, cancel := context.WithTimeout(context.Background(), closeWait)
	defer cancel()
	return node.Close(ctx)
}
