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
	signals        <-chan os.Signal // Ctrl-C and SIGTERM
	exit           func(code int)   // ends the process at once
	dir            string           // where cluster.yaml is looked for
	example        string           // the embedded cluster.yaml
	newRunID       func() string
	open           func(nodeConfig) (runner, error)
	startScript    func(script []byte) (scriptedModel, error)
	buildInfo      func() (*debug.BuildInfo, bool)
}

// quiet is an error whose text has been shown already.
type quiet struct{ code int }

func (quiet) Error() string { return "" }

// failure is an error with an exit code and a text in both languages.
type failure struct {
	code int
	text phrase
	args []any
	err  error
}

func (f *failure) Error() string { return f.in(messages.EN) }
func (f *failure) Unwrap() error { return f.err }

func (f *failure) in(lang string) string { return f.text.in(lang, f.args...) }

func usage(text phrase, args ...any) error { return &failure{code: exitUsage, text: text, args: args} }

// main runs a command line and gives the exit code.
func (a *app) main(ctx context.Context, args []string) int {
	lang := a.language(args)
	cmd := a.rootCommand(lang)
	cmd.SetArgs(args)
	err := cmd.ExecuteContext(ctx)
	if err == nil {
		return exitAnswered
	}
	var q quiet
	if errors.As(err, &q) {
		return q.code
	}
	fmt.Fprintln(a.stderr, tx.errorLine.in(lang, errorText(err, lang)))
	var f *failure
	if errors.As(err, &f) {
		return f.code
	}
	return exitUsage
}

// errorText gives an error in a language as far as it has one.
func errorText(err error, lang string) string {
	var local interface{ In(lang string) string } // config.Faults, *messages.Fault
	var f *failure
	switch {
	case errors.As(err, &f):
		return f.in(lang)
	case errors.As(err, &local):
		return faultText(err, local.In(lang))
	}
	return err.Error()
}

// faultText adds the cause, which has one language only.
func faultText(err error, text string) string {
	var f *messages.Fault
	if errors.As(err, &f) && f.Cause != nil {
		return text + ": " + f.Cause.Error()
	}
	return text
}

// logger writes what operators read to stderr.
func (a *app) logger(level string) (*slog.Logger, error) {
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
