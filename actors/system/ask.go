package system

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/asynkron/protoactor-go/actor"
)

// ErrDeadLetter says that nobody is there to answer. Errors that are it are
// *DeadLetterError.
var ErrDeadLetter = errors.New("no actor there")

// DeadLetterError is ErrDeadLetter with the actor that was asked.
type DeadLetterError struct{ Target *actor.PID }

// Error names the actor.
func (e *DeadLetterError) Error() string {
	return fmt.Sprintf("ask %s: %v (it has stopped, or never was)", e.Target.GetId(), ErrDeadLetter)
}

// Is matches ErrDeadLetter.
func (e *DeadLetterError) Is(target error) bool { return target == ErrDeadLetter }

// ErrUnexpectedReply says that an actor answered with another type than was
// asked for. Errors that are it are *UnexpectedReplyError.
var ErrUnexpectedReply = errors.New("unexpected reply")

// UnexpectedReplyError is ErrUnexpectedReply with the types.
type UnexpectedReplyError struct{ Target, Asked, Want, Got string }

// Error names the types.
func (e *UnexpectedReplyError) Error() string {
	return fmt.Sprintf("ask %s with %s: %v %s, want %s", e.Target, e.Asked, ErrUnexpectedReply, e.Got, e.Want)
}

// Is matches ErrUnexpectedReply.
func (e *UnexpectedReplyError) Is(target error) bool { return target == ErrUnexpectedReply }

// ask is the process that one Ask waits at. Its channel has room for the first
// reply; every later one finds it full, or nobody who reads it.
type ask struct{ reply chan any }

// SendUserMessage takes a reply.
func (a ask) SendUserMessage(_ *actor.PID, msg any) {
	select {
	case a.reply <- actor.UnwrapEnvelopeMessage(msg):
	default:
	}
}

// SendSystemMessage ignores lifecycle messages: an ask watches nobody.
func (ask) SendSystemMessage(*actor.PID, any) {}

// Stop does nothing: an ask ends with its caller.
func (ask) Stop(*actor.PID) {}

// Ask sends msg to pid and waits for the first reply, whatever its type, or
// for the end of ctx. When it returns, the reply address is gone; later
// replies are dead letters. An actor that is not there, or stops before it
// comes to msg, gives ErrDeadLetter; one that never replies is bounded by ctx
// only. Never call it from Receive.
func (s *System) Ask(ctx context.Context, pid *actor.PID, msg any) (any, error) {
	if pid == nil {
		return nil, &DeadLetterError{}
	}
	if err := ctx.Err(); err != nil {
		return nil, askError(pid, msg, err)
	}
	a := ask{make(chan any, 1)}
	sender, _ := s.actors.ProcessRegistry.Add(a, s.askID()) // the number makes it unique
	defer s.actors.ProcessRegistry.Remove(sender)
	s.actors.Root.Send(pid, &actor.MessageEnvelope{Message: msg, Sender: sender})
	select {
	case reply := <-a.reply:
		if _, dead := reply.(*actor.DeadLetterResponse); dead {
			return nil, &DeadLetterError{Target: pid}
		}
		return reply, nil
	case <-ctx.Done():
		return nil, askError(pid, msg, ctx.Err())
	}
}

// Ask is System.Ask for a reply of type T. A reply that is an error, a
// *messages.Fault among them, is returned as error; another type gives
// ErrUnexpectedReply.
func Ask[T any](ctx context.Context, s *System, pid *actor.PID, msg any) (T, error) {
	var none T
	reply, err := s.Ask(ctx, pid, msg)
	if err != nil {
		return none, err
	}
	if err, ok := reply.(error); ok {
		return none, err
	}
	if t, ok := reply.(T); ok {
		return t, nil
	}
	return none, &UnexpectedReplyError{
		Target: pid.GetId(), Asked: typeName(msg), Want: typeName(&none)[1:], Got: typeName(reply),
	}
}

func askError(pid *actor.PID, msg any, err error) error {
	return fmt.Errorf("ask %s with %s: %w", pid.GetId(), typeName(msg), err)
}

func (s *System) askID() string {
	var b [24]byte
	return string(strconv.AppendUint(append(b[:0], "ask$"...), s.asks.Add(1), 36))
}

// ErrUnknownMessage is what the sender of a message gets that an actor has no
// handler for.
type ErrUnknownMessage struct {
	Actor string // who didn't know it
	Type  string // the Go type of the message
}

// Error names both.
func (e *ErrUnknownMessage) Error() string {
	return fmt.Sprintf("actor %s does not know messages of type %s", e.Actor, e.Type)
}

// Unknown is the default case of a Receive: the sender gets an
// *ErrUnknownMessage; without a sender it is logged as a warning. Lifecycle
// messages, which every actor gets, and dead-letter responses are let pass.
func Unknown(ctx actor.Context) {
	switch ctx.Message().(type) {
	case actor.SystemMessage, actor.AutoReceiveMessage, *actor.DeadLetterResponse, error:
		return
	}
	err := &ErrUnknownMessage{Actor: ctx.Self().GetId(), Type: typeName(ctx.Message())}
	if ctx.Sender() != nil {
		ctx.Respond(err)
		return
	}
	ctx.Logger().Warn("unknown message", "actor", err.Actor, "type", err.Type)
}
