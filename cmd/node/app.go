package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/messages"
)

// Exit codes, see the package comment.
const (
	exitAnswered    = 0
	exitNoAnswer    = 1
	exitUsage       = 2
	exitInterrupted = 130
)

// runner is a node, as the commands need it; *troupe.Troupe is one.
type runner interface {
	Run(ctx context.Context, req messages.RunAgent) iter.Seq2[messages.Event, error]
	Stop(ctx context.Context, s messages.Stop) (messages.Stopped, error)
	Sandbox() python.Description
	Workspace(run string) string
	Close(ctx context.Context) error
}

// nodeConfig is what a node is opened with.
type nodeConfig struct {
	defs              messages.Definitions
	logger            *slog.Logger
	allowMissingWalls bool
}

// scriptedModel is a running scripted model server.
type scriptedModel interface {
	URL() string
	Close() error
}

// app is the outside of the commands.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	env            func(string) (string, bool)
	environ        []string         // for the colour profile
	signals        <-chan os.Signal // Ctrl-C, SIGTERM, SIGHUP
	exit           func(code int)   // ends the process at once
	grace          time.Duration    // for a command to end after a signal
	dir            string           // where cluster.yaml is looked for
	example        string           // the embedded cluster.yaml
	newRunID       func() string
	open           func(nodeConfig) (runner, error)
	startScript    func(script []byte) (scriptedModel, error)
	python         pythonStore
	buildInfo      func() (*debug.BuildInfo, bool)

	interrupts *interrupts // of the command that runs
}

// quiet is an error whose text has been shown already.
type quiet struct{ code int }

func (quiet) Error() string { return "" }

// coded is an error with an exit code; one without is a matter of usage.
type coded struct {
	code int
	err  error
}

func (c *coded) Error() string { return c.err.Error() }
func (c *coded) Unwrap() error { return c.err }

// complaint is an error with a text in both languages.
type complaint struct {
	text phrase
	args []any
}

func (c *complaint) Error() string { return c.In(messages.EN) }

// In gives the text in a language.
func (c *complaint) In(lang string) string { return c.text.in(lang, c.args...) }

// logLevel is what is logged beside a run: the stream for people shows
// warnings itself.
func logLevel(asJSON bool) string {
	if asJSON {
		return "warn"
	}
	return "error"
}

// usage is an error of whoever typed the command.
func usage(text phrase, args ...any) error { return &complaint{text, args} }

// main runs a command line and gives the exit code.
func (a *app) main(ctx context.Context, args []string) int {
	a.stderr = &oneAtATime{w: a.stderr}
	lang := a.language(args)
	cmd := a.rootCommand(lang)
	cmd.SetArgs(args)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	a.interrupts = a.takeSignals(cancel)
	err := cmd.ExecuteContext(ctx)
	if a.interrupts.end() {
		return exitInterrupted // whatever the command makes of it
	}
	if err == nil {
		return exitAnswered
	}
	var q quiet
	if errors.As(err, &q) {
		return q.code
	}
	fmt.Fprintln(a.stderr, tx.errorLine.in(lang, errorText(err, lang)))
	var c *coded
	if errors.As(err, &c) {
		return c.code
	}
	return exitUsage
}

// errorText gives an error in a language as far as it has one: complaints,
// config.Faults and *messages.Fault do.
func errorText(err error, lang string) string {
	var local interface{ In(lang string) string }
	if !errors.As(err, &local) {
		return err.Error()
	}
	text := local.In(lang)
	if f, ok := local.(*messages.Fault); ok && f.Cause != nil {
		text += ": " + f.Cause.Error() // which has one language only
	}
	return text
}

// logger writes what operators read to stderr: from --log-level on, or from
// level on where none is given.
func (a *app) logger(cmd *cobra.Command, level string) (*slog.Logger, error) {
	if asked, _ := cmd.Flags().GetString("log-level"); asked != "" {
		level = asked
	}
	var l slog.Level
	switch level {
	case "debug", "info", "warn", "error":
		if err := l.UnmarshalText([]byte(level)); err != nil {
			return nil, err
		}
	default:
		return nil, usage(tx.badLogLevel, level)
	}
	return slog.New(slog.NewTextHandler(a.stderr, &slog.HandlerOptions{Level: l})), nil
}

// oneAtATime is a writer that several goroutines share: the run's events, the
// signals and the log all speak on stderr.
type oneAtATime struct {
	mu sync.Mutex
	w  io.Writer
}

// Write implements io.Writer.
func (o *oneAtATime) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.w.Write(b)
}
