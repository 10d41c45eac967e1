package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/messages"
)

// Process is the interpreter behind the pipes. Its methods may be called from
// any goroutine.
type Process interface {
	// Kill ends it, and all it started, at once; it doesn't wait. The first
	// reason given stays: python.KilledTimeout or KilledCancelled; "" when
	// there is none.
	Kill(reason string)
	// Alive is cancelled when it has ended, for whatever reason.
	Alive() context.Context
	// Why says why it ended: the reason given to Kill, or what was found out:
	// KilledMemory or KilledDied. It waits for the end.
	Why() string
	// CPU gives the processor time used so far, 0 where that isn't known.
	CPU() time.Duration
	// Freeze stops all that it runs, Thaw lets it go on; Kill works meanwhile.
	Freeze()
	Thaw()
}

// WallError is what a launcher reports in place of the greeting: a wall that
// could not be put up.
type WallError struct{ Name, Why string }

// Error names the wall.
func (e *WallError) Error() string { return "wall " + e.Name + ": " + e.Why }

// Session is one interpreter's conversation: Greet, Begin, then blocks.
type Session struct {
	lines   *lines
	w       io.Writer
	process Process
	spec    python.Spec
	block   uint64
}

// NewSession begins a conversation. Greet comes first.
func NewSession(r io.Reader, w io.Writer, p Process) *Session {
	return &Session{lines: newLines(r), w: w, process: p}
}

// Greet waits for the guest and gives its version. What came instead of a
// greeting is in the error.
func (s *Session) Greet() (string, error) {
	line, err := s.lines.next()
	if err != nil {
		return "", fmt.Errorf("no greeting from the interpreter: %w", noEOF(err))
	}
	var m message
	if err := json.Unmarshal(line, &m); err == nil && m.Kind == kindWall {
		return "", &WallError{Name: m.Tool, Why: m.Text}
	} else if err != nil || m.Kind != kindReady {
		return "", fmt.Errorf("%w: it began with %.200q", errBroken, line)
	}
	return bounded(m.Version, 32), nil
}

// Begin tells the guest what it offers. It comes once, after Greet.
func (s *Session) Begin(spec python.Spec) error {
	s.spec = spec
	return s.send(initCommand{
		Op:          "init",
		Tools:       append([]string{}, spec.Tools...),
		Imports:     append(python.BaseImports(), spec.Imports...),
		OutputLimit: spec.OutputLimit,
		Lang:        spec.Lang,
		Seed:        spec.Seed,
	})
}

// Exec implements python.Interpreter.
func (s *Session) Exec(ctx context.Context, what python.Block, host python.Host) (*python.Outcome, error) {
	if s.process.Alive().Err() != nil {
		return nil, fmt.Errorf("%w: %s", python.ErrGone, s.process.Why())
	}
	s.block++
	s.lines.begin()
	b := s.newBlock(ctx, host)
	defer b.end()
	s.process.Thaw()
	defer s.process.Freeze() // threads that the block leaves run in no block's time
	command := execCommand{Op: "exec", Block: s.block, Number: s.block, Code: what.Code, Clock: nanoseconds(what.Clock), Replay: what.Replay}
	if what.Number > 0 {
		command.Number = uint64(what.Number)
	}
	if err := s.send(command); err != nil {
		return b.killed(err), nil
	}
	for !b.done {
		if err := b.step(); err != nil {
			return b.killed(err), nil
		}
	}
	b.outcome.Output, b.outcome.Printed = b.output.String(), b.output.printed()
	b.outcome.CPU = max(s.process.CPU()-b.cpu, 0)
	return &b.outcome, nil
}

func (s *Session) send(command any) error {
	line, err := json.Marshal(command)
	if err != nil {
		return err
	}
	_, err = s.w.Write(append(line, '\n'))
	return err
}

// errTimeUp ends a block whose own time was used up when it made a call.
var errTimeUp = errors.New("the block's time is over")

// block is one Exec.
type block struct {
	s       *Session
	ctx     context.Context // ends with the caller's and with the process
	host    python.Host
	clock   *clock
	cleanup []func()
	output  output
	outcome python.Outcome
	calls   uint64
	cpu     time.Duration // of the process, at the beginning
	done    bool
}

func (s *Session) newBlock(ctx context.Context, host python.Host) *block {
	b := &block{s: s, host: host, cpu: s.process.CPU()}
	b.output = output{half: s.spec.OutputLimit / 2, lang: s.spec.Lang}
	stop := context.AfterFunc(ctx, func() { s.process.Kill(python.KilledBy(ctx)) })
	b.clock = startClock(s.spec.Timeout, s.process.CPU, func() { s.process.Kill(python.KilledTimeout) })
	inner, cancel := context.WithCancel(ctx)
	b.ctx = inner
	b.cleanup = []func(){cancel, b.clock.stop, func() { stop() }}
	return b
}

func (b *block) end() {
	for _, f := range b.cleanup {
		f()
	}
	b.s.lines.release()
}

// killed is how a block ended whose interpreter is gone, or has to go.
func (b *block) killed(err error) *python.Outcome {
	b.s.process.Kill("")
	b.outcome.Killed = b.s.process.Why()
	if errors.Is(err, errBroken) || errors.Is(err, errDriver) {
		b.outcome.Killed = python.KilledDied
		b.outcome.Err = &messages.PyError{Type: "InterpreterError", Message: err.Error()}
	}
	b.outcome.Output, b.outcome.Printed = b.output.String(), b.output.printed()
	b.outcome.CPU = max(b.s.process.CPU()-b.cpu, 0)
	return &b.outcome
}

// step handles one line. What is no message of this block is passed over.
func (b *block) step() error {
	line, err := b.s.lines.next()
	if err != nil {
		return err
	}
	var m message
	if err := json.Unmarshal(line, &m); m.Block != b.s.block || m.Kind == "" {
		return b.s.lines.charge(len(line))
	} else if err != nil {
		return fmt.Errorf("%w: a malformed %.20q message", errDriver, m.Kind)
	}
	if m.Kind == kindBroken {
		return fmt.Errorf("%w: its driver program ended with %s", errDriver, bounded(m.Text, maxTypeName))
	}
	if m.Kind == kindCall && slices.Contains(b.s.spec.Tools, m.Tool) {
		return b.call(&m)
	}
	b.take(&m)
	if m.Kind == kindCall { // of something that is no tool: only forged lines do
		if err := b.refuse("NameError", "no tool of this name"); err != nil {
			return err
		}
	}
	return b.s.lines.charge(len(line))
}

func (b *block) take(m *message) {
	switch m.Kind {
	case kindOut:
		b.output.add(m)
	case kindFinal:
		if !b.outcome.IsFinal {
			b.outcome.IsFinal = true
			b.outcome.Final = checkedValue(m.Value)
			b.outcome.FinalText = bounded(m.Text, maxFinalText)
		}
	case kindDone:
		b.done = true
		b.outcome.Value = checkedValue(m.Value)
		b.outcome.Repr = bounded(m.Repr, maxRepr)
		b.outcome.Err = checkedError(m.Error)
		b.outcome.Unrepeatable = checkedMarks(m.Marks)
		b.outcome.State = bounded(m.State, maxName)
	}
}

// call passes a call on. The interpreter's clock stands meanwhile; its end,
// or the block's, cancels the call.
func (b *block) call(m *message) error {
	if err := checkedCall(m); err != nil {
		return b.refuse("ValueError", err.Error())
	}
	if !b.clock.pause() {
		return errTimeUp
	}
	b.calls++
	ctx, cancel := context.WithCancel(b.ctx)
	stop := context.AfterFunc(b.s.process.Alive(), cancel)
	result := b.host.Call(ctx, python.Call{Ordinal: b.calls, Tool: m.Tool, Args: m.Args, Kwargs: m.Kwargs})
	stop()
	cancel()
	if b.ctx.Err() != nil { // no code runs between a stop and the kill
		b.s.process.Kill(python.KilledBy(b.ctx))
		return b.ctx.Err()
	}
	b.clock.resume()
	return b.reply(result)
}

func (b *block) refuse(class, text string) error {
	return b.reply(python.Result{Err: &messages.ToolError{Type: class, Message: text}})
}

func (b *block) reply(r python.Result) error {
	if r.Err == nil && len(r.Value) > 0 && !json.Valid(r.Value) {
		r.Err = &messages.ToolError{Type: "ToolError", Message: "the tool's result is no JSON"}
	}
	if r.Err != nil {
		r.Value = nil
	}
	return b.s.send(resultCommand{Value: r.Value, Error: r.Err, Clock: nanoseconds(r.At)})
}

// nanoseconds gives a time as the guest takes it; 0 is no time.
func nanoseconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
