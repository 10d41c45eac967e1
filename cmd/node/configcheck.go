package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/troupe-go/troupe/actors/tool"
	"github.com/troupe-go/troupe/bridge/config"
	"github.com/troupe-go/troupe/messages"
)

func (a *app) configCommand(lang string) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: tx.configShort.in(lang),
		Args:  a.noArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.Example = examples("troupe config check", "troupe config example > cluster.yaml")
	cmd.AddCommand(a.configCheckCommand(lang), a.configExampleCommand(lang))
	return cmd
}

func (a *app) configCheckCommand(lang string) *cobra.Command {
	return &cobra.Command{
		Use:     "check [FILE]",
		Short:   tx.checkShort.in(lang),
		Long:    tx.checkLong.in(lang),
		Example: examples("troupe config check", "troupe config check deploy/cluster.yaml"),
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage(tx.oneFile, cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			path := filepath.Join(a.dir, configName)
			if len(args) == 1 {
				path = args[0]
			}
			return a.checkConfig(cmd, path, lang)
		},
	}
}

// checkConfig reports faults one a line, and then what only a node can tell:
// whether the tools' classes and parameters exist.
func (a *app) checkConfig(cmd *cobra.Command, path, lang string) error {
	file, err := config.Load(path, a.env)
	if err != nil {
		return a.showFaults(err, lang)
	}
	if err := a.checkNode(cmd, file); err != nil {
		fmt.Fprintf(a.stderr, "%s: %s\n", whereFaulty(file, err), errorText(err, lang))
		return quiet{exitUsage}
	}
	_, err = fmt.Fprintln(a.stdout, tx.checkOK.in(lang, path, len(file.Models), len(file.Tools), len(file.Agents)))
	return err
}

// checkNode opens a node and closes it again. Walls are a matter of the
// machine, not of the file.
func (a *app) checkNode(cmd *cobra.Command, file *config.File) error {
	logger, err := a.logger(cmd, "error")
	if err != nil {
		return err
	}
	defs := file.Definitions
	defs.DataDir = "" // a check leaves no folder behind
	node, err := a.open(nodeConfig{defs: defs, logger: logger, allowMissingWalls: true})
	if err != nil {
		return err
	}
	return closeNode(node)
}

// whereFaulty is the place in the file that a node's error is about, as far as
// it says.
func whereFaulty(file *config.File, err error) string {
	var bad *tool.CreateError
	if !errors.As(err, &bad) {
		return file.Name
	}
	i := slices.IndexFunc(file.Tools, func(t messages.ToolConfig) bool { return t.Name == bad.Tool })
	return file.Place(fmt.Sprintf("tools[%d]", i))
}

// showFaults prints each fault as a line of its own, so that editors can jump
// to it.
func (a *app) showFaults(err error, lang string) error {
	var faults config.Faults
	if !errors.As(err, &faults) {
		return err
	}
	fmt.Fprintln(a.stderr, faults.In(lang))
	if len(faults) > 1 {
		fmt.Fprintln(a.stderr, tx.faultCount.in(lang, len(faults)))
	}
	return quiet{exitUsage}
}

func (a *app) configExampleCommand(lang string) *cobra.Command {
	return &cobra.Command{
		Use:     "example",
		Short:   tx.exampleShort.in(lang),
		Example: examples("troupe config example > cluster.yaml"),
		Args:    a.noArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprint(a.stdout, a.example)
			return err
		},
	}
}
