package runlog

import (
	"context"
	"errors"
	"iter"

	"github.com/troupe-go/troupe/messages"
)

// Watch gives a run's events above position from (0: all), in order and each
// once, with Seq filled in, as they are stored; a run that has ended can be
// watched as well. It ends after the run's last event, at once when that is
// at or below from.
//
// An error value that is *messages.Missed says which events this reader was
// too slow for; the events after them follow. Any other error is the last
// value: messages.ErrUnknownRun, ctx's error, why the store can't go on, or,
// once the Log is closed and what is stored has been read, messages.ErrShutdown.
//
// The reader pulls: it may take its time and slows nobody. The events of an
// owner that was replaced are left out once its successor's first event came;
// what came before is taken back by that, see [messages.Event.Withdraws].
func (l *Log) Watch(ctx context.Context, run string, from uint64) iter.Seq2[messages.Event, error] {
	return func(yield func(messages.Event, error) bool) {
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		defer context.AfterFunc(l.ctx, func() { cancel(messages.ErrShutdown) })()
		var reader messages.Reader
		for ev, err := range l.store.Subscribe(ctx, run, from) {
			if err != nil {
				if !goesOn(err) && errors.Is(context.Cause(ctx), messages.ErrShutdown) {
					err = messages.ErrShutdown
				}
				if !yield(messages.Event{}, err) || !goesOn(err) {
					return
				}
				continue
			}
			if !reader.Take(&ev) {
				continue
			}
			if !yield(ev, nil) || ev.Last() {
				return
			}
		}
	}
}

func goesOn(err error) bool {
	var missed *messages.Missed
	return errors.As(err, &missed)
}
