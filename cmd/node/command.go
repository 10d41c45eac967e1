package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/troupe-go/troupe/messages"
)

// rootCommand builds the commands, with their help in lang.
func (a *app) rootCommand(lang string) *cobra.Command {
	root := &cobra.Command{
		Use:           "troupe",
		Short:         tx.rootShort.in(lang),
		Long:          tx.rootLong.in(lang),
		Example:       examples("troupe demo", `troupe run "…"`, "troupe config check"),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          a.noArgs,
	}
	root.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.SetUsageTemplate(usageTemplate(lang))
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usage(tx.badFlag, err.Error(), cmd.CommandPath())
	})
	root.PersistentFlags().String("lang", "", tx.flagLang.in(lang))
	root.PersistentFlags().String("log-level", "", tx.flagLogLevel.in(lang))
	root.PersistentFlags().BoolP("help", "h", false, tx.flagHelp.in(lang))
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		if v, _ := cmd.Flags().GetString("lang"); v != "" && v != messages.EN && v != messages.ZH {
			return usage(tx.badLang, v)
		}
		return nil
	}
	root.AddCommand(a.demoCommand(lang), a.runCommand(lang), a.configCommand(lang), a.pythonCommand(lang), a.versionCommand(lang))
	root.SetHelpCommand(helpCommand(root, lang))
	complete(root, "lang", messages.EN, messages.ZH)
	complete(root, "log-level", "debug", "info", "warn", "error")
	root.InitDefaultCompletionCmd()
	if c, _, err := root.Find([]string{"completion"}); err == nil {
		c.Short = tx.completionShort.in(lang)
	}
	return root
}

// complete offers the values of a flag to shells. Cobra keeps it for the life
// of the command; a flag of that name exists, so there is no error.
func complete(cmd *cobra.Command, flag string, values ...string) {
	err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		panic("flag " + flag + " doesn't exist: " + err.Error())
	}
}

// noArgs refuses arguments, in the reader's language.
func (a *app) noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if cmd.HasSubCommands() {
		return usage(tx.unknownCommand, args[0], cmd.CommandPath(), cmd.CommandPath())
	}
	return usage(tx.tooManyArgs, cmd.CommandPath(), strings.Join(args, " "))
}

func examples(lines ...string) string { return "  " + strings.Join(lines, "\n  ") }

// usageTemplate is cobra's with its headings in lang.
func usageTemplate(lang string) string {
	return strings.NewReplacer(
		"@usage", tx.headUsage.in(lang), "@examples", tx.headExamples.in(lang), "@commands", tx.headCommands.in(lang),
		"@flags", tx.headFlags.in(lang), "@global", tx.headGlobal.in(lang), "@more", tx.headMore.in(lang),
	).Replace(`@usage{{if .Runnable}}
  {{.UseLine}}{{end}}{{if .HasAvailableSubCommands}}
  {{.CommandPath}} [command]{{end}}{{if .HasExample}}

@examples
{{.Example}}{{end}}{{if .HasAvailableSubCommands}}

@commands{{range .Commands}}{{if .IsAvailableCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{end}}{{if .HasAvailableLocalFlags}}

@flags
{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}{{end}}{{if .HasAvailableInheritedFlags}}

@global
{{.InheritedFlags.FlagUsages | trimTrailingWhitespaces}}{{end}}{{if .HasAvailableSubCommands}}

@more{{end}}
`)
}

// helpCommand is `troupe help COMMAND`, the same as its --help.
func helpCommand(root *cobra.Command, lang string) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: tx.helpShort.in(lang),
		RunE: func(_ *cobra.Command, args []string) error {
			cmd, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return usage(tx.unknownCommand, strings.Join(args, " "), root.CommandPath(), root.CommandPath())
			}
			return cmd.Help()
		},
	}
}
