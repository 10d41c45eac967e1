package main

import (
	"encoding/json"
	"fmt"
	"runtime"

	"github.com/spf13/cobra"
)

// version is what this binary is, as far as the build recorded it.
type version struct {
	Version  string `json:"version"` // of the module; "(devel)" from a working tree
	Commit   string `json:"commit,omitempty"`
	Modified bool   `json:"modified,omitempty"` // built with uncommitted changes
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func (a *app) versionCommand(lang string) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "version",
		Short:   tx.versionShort.in(lang),
		Example: examples("troupe version", "troupe version --json"),
		Args:    a.noArgs,
		RunE: func(*cobra.Command, []string) error {
			v := a.version()
			if asJSON {
				return json.NewEncoder(a.stdout).Encode(v)
			}
			line := "troupe " + v.Version
			if v.Commit != "" {
				line += " (" + v.Commit[:min(12, len(v.Commit))]
				if v.Modified {
					line += ", " + tx.modified.in(lang)
				}
				line += ")"
			}
			_, err := fmt.Fprintf(a.stdout, "%s %s %s\n", line, v.Go, v.Platform)
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, tx.flagVersionJSON.in(lang))
	return cmd
}

func (a *app) version() version {
	v := version{Version: "(devel)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := a.buildInfo()
	if !ok {
		return v
	}
	if info.Main.Version != "" {
		v.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Commit = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}
