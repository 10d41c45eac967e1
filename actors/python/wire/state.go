package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/troupe-go/troupe/actors/python"
)

// Bounds of a snapshot's list of missing names.
const (
	maxMissing = 100
	maxName    = 200 // bytes
)

// errRestore says that the guest could not take a snapshot's variables.
var errRestore = errors.New("the variables can't be put back")

// Snapshot implements python.Interpreter.
func (s *Session) Snapshot(ctx context.Context, limit int) (*python.State, error) {
	m, err := s.ask(ctx, snapshotCommand{Op: "snapshot", Limit: limit}, kindSnapshot)
	switch {
	case err != nil:
		return nil, errors.Join(python.ErrNoSnapshot, err)
	case m.Text != "" || len(m.Data) == 0:
		return nil, fmt.Errorf("%w: %s", python.ErrNoSnapshot, bounded(m.Text, maxTypeName))
	case len(m.Data) > limit:
		return nil, fmt.Errorf("%w: it has %d bytes, more than %d", python.ErrNoSnapshot, len(m.Data), limit)
	}
	missing := m.Missing[:min(len(m.Missing), maxMissing)]
	for i := range missing {
		missing[i] = bounded(missing[i], maxName)
	}
	return &python.State{Data: m.Data, Missing: slices.Compact(slices.Sorted(slices.Values(missing)))}, nil
}

// Restore implements python.Interpreter.
func (s *Session) Restore(ctx context.Context, data []byte) error {
	m, err := s.ask(ctx, restoreCommand{Op: "restore", Data: data}, kindRestored)
	if err != nil {
		return err
	}
	if m.Text != "" {
		return fmt.Errorf("%w: %s", errRestore, bounded(m.Text, maxErrorText))
	}
	return nil
}

// ask sends a command that is no block and waits for its answer, for as long
// as a block might take.
func (s *Session) ask(ctx context.Context, command any, kind string) (*message, error) {
	if s.process.Alive().Err() != nil {
		return nil, fmt.Errorf("%w: %s", python.ErrGone, s.process.Why())
	}
	s.lines.begin()
	defer s.lines.release()
	stop := context.AfterFunc(ctx, func() { s.process.Kill(python.KilledBy(ctx)) })
	defer stop()
	clock := startClock(s.spec.Timeout, s.process.CPU, func() { s.process.Kill(python.KilledTimeout) })
	defer clock.stop()
	s.process.Thaw()
	defer s.process.Freeze()
	if err := s.send(command); err != nil {
		return nil, s.lost(err)
	}
	for {
		line, err := s.lines.next()
		if err != nil {
			return nil, s.lost(err)
		}
		var m message
		if err := json.Unmarshal(line, &m); err == nil && m.Block == s.block && m.Kind == kind {
			return &m, nil
		}
		if m.Kind == kindBroken {
			return nil, s.lost(fmt.Errorf("%w: its driver program ended with %s", errDriver, bounded(m.Text, maxTypeName)))
		}
		if err := s.lines.charge(len(line)); err != nil {
			return nil, s.lost(err)
		}
	}
}

// lost ends an interpreter that doesn't answer as it should.
func (s *Session) lost(err error) error {
	s.process.Kill("")
	return fmt.Errorf("%w: %s: %w", python.ErrGone, s.process.Why(), err)
}
