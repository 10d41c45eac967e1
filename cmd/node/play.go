package main

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/troupe-go/troupe/messages"
)

// closeWait is how long a node may take to close.
const closeWait = 10 * time.Second

// play runs a request, shows its events, closes the node, and gives the run's
// end as an error with an exit code; nil when it was answered.
func (a *app) play(ctx context.Context, node runner, req messages.RunAgent, out view, lang string) error {
	run := a.interrupts.follow(ctx, node, req.Run, lang)
	status, err := a.follow(ctx, node, req, out)
	interrupted := run.done()
	if closing := closeNode(node); closing != nil {
		fmt.Fprintln(a.stderr, tx.closeFailed.in(lang, errorText(closing, lang)))
	}
	switch {
	case errors.Is(err, syscall.EPIPE): // whoever read the events has gone: there is nobody to tell
		return quiet{exitNoAnswer}
	case err != nil:
		return &coded{exitNoAnswer, err}
	case status == messages.StatusAnswered:
		return nil
	case interrupted && status == messages.StatusStopped:
		return quiet{exitInterrupted}
	}
	return quiet{exitNoAnswer} // the view has said why
}

// follow shows the events up to the last one and gives its status.
func (a *app) follow(ctx context.Context, node runner, req messages.RunAgent, out view) (messages.Status, error) {
	for ev, err := range node.Run(ctx, req) {
		var missed *messages.Missed
		switch {
		case errors.As(err, &missed):
			err = out.missed()
		case err == nil:
			err = out.event(ev)
		}
		if err != nil {
			return "", err
		}
		if ev.Last() {
			return ev.Status, nil
		}
	}
	return "", usage(tx.noEnd)
}
