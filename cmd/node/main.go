package main

import (
	"context"
	"net/http"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/google/uuid"

	"github.com/troupe-go/troupe"
	"github.com/troupe-go/troupe/tests/scripted"
)

func main() {
	signals := make(chan os.Signal, 4)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) { // nohup, or a shell's background job: it is to stay so
			signal.Notify(signals, s)
		}
	}
	// Taken and dropped: a reader that goes away (`| head`) is then a write
	// error, after which the run is stopped and its folders are removed.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	a := &app{
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
		env: os.LookupEnv, environ: os.Environ(),
		signals: signals, exit: os.Exit, grace: endWait,
		dir: ".", example: troupe.ExampleConfig(),
		newRunID:    func() string { return uuid.Must(uuid.NewV7()).String() },
		open:        openNode,
		startScript: startScript,
		python:      userPython{},
		buildInfo:   debug.ReadBuildInfo,
	}
	os.Exit(a.main(context.Background(), os.Args[1:]))
}

func openNode(c nodeConfig) (runner, error) {
	t, err := troupe.New(troupe.Config{
		Definitions: c.defs, Logger: c.logger, AllowMissingWalls: c.allowMissingWalls, Proxy: http.ProxyFromEnvironment,
	})
	if err != nil {
		return nil, err // not t: a nil *Troupe is no nil runner
	}
	return t, nil
}

func startScript(data []byte) (scriptedModel, error) {
	script, err := scripted.Parse(data)
	if err != nil {
		return nil, err
	}
	server, err := scripted.Start(script)
	if err != nil {
		return nil, err
	}
	return server, nil
}
