package model_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/model"
	"github.com/troupe-go/troupe/actors/system/worldtest"
	"github.com/troupe-go/troupe/messages"
)

func limit(n int) messages.ModelConfig {
	return messages.ModelConfig{CiteName: "one", ModelFactory: "openai", ModelName: "m", ConcurrencyLimit: n}
}

func TestLimiters(t *testing.T) {
	ls := model.NewLimiters(worldtest.New(1))

	none, err := ls.Get(limit(0))
	require.NoError(t, err)
	require.Nil(t, none)
	_, err = ls.Get(limit(-1))
	require.ErrorContains(t, err, "negative")

	a, err := ls.Get(limit(2))
	require.NoError(t, err)
	b, err := ls.Get(limit(2))
	require.NoError(t, err)
	require.Same(t, a, b)
	_, err = ls.Get(limit(3))
	require.ErrorIs(t, err, model.ErrLimit)
	require.Contains(t, err.Error(), "openai/m")
	require.Contains(t, err.Error(), "limit 2")

	a.Close()
	_, err = ls.Get(limit(3))
	require.ErrorIs(t, err, model.ErrLimit, "still in use")
	b.Close()
	c, err := ls.Get(limit(3))
	require.NoError(t, err)
	c.Close()
}

func TestLimiterIsFairAndBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, world := t.Context(), worldtest.New(1)
		l, err := model.NewLimiters(world).Get(limit(1))
		require.NoError(t, err)
		defer l.Close()

		release, err := l.Acquire(ctx, 0)
		require.NoError(t, err)
		order := make(chan int, 3)
		for n := range cap(order) {
			go func() {
				next, err := l.Acquire(ctx, 0)
				if err == nil {
					order <- n
					next()
				}
			}()
			synctest.Wait() // it queues before the next one comes
		}
		release()
		release() // does nothing
		for n := range cap(order) {
			require.Equal(t, n, <-order)
		}

		release, err = l.Acquire(ctx, 0)
		require.NoError(t, err)
		failed := make(chan error, 1)
		go func() {
			_, err := l.Acquire(ctx, 0)
			failed <- err
		}()
		synctest.Wait()
		world.Advance(model.DefaultConcurrencyWait)
		f := <-failed
		require.ErrorIs(t, f, model.ErrConcurrency)
		require.Contains(t, f.Error(), "30s")
		require.Contains(t, f.Error(), "openai/m")

		gone, leave := context.WithCancel(ctx)
		leave()
		_, err = l.Acquire(gone, 0)
		require.ErrorIs(t, err, context.Canceled)
		release()
	})
}

// The permit is held while a stream runs, not while its next try waits.
func TestPermitIsGivenBackInTheBackOff(t *testing.T) {
	world := worldtest.New(1)
	l, err := model.NewLimiters(world).Get(limit(1))
	require.NoError(t, err)
	defer l.Close()
	saying := make(chan struct{})
	one := named("one", client(fails(broken), hangs(saying)))
	one.Limiter = l
	b := setup(t, options{}, one)
	b.think()
	b.rolledBack(1)
	b.warned("model_connection_error")
	release, err := l.Acquire(t.Context(), 0)
	require.NoError(t, err)
	release()
	b.waits()
	<-saying
	gone, leave := context.WithCancel(t.Context())
	leave()
	_, err = l.Acquire(gone, 0)
	require.ErrorIs(t, err, context.Canceled, "the stream holds the permit")
	b.send(&messages.CancelThink{ID: 1})
	next[*messages.ThinkCancelled](b, b.answers)
	release, err = l.Acquire(t.Context(), 0)
	require.NoError(t, err)
	release()
}

func TestNoPermitGoesOn(t *testing.T) {
	// Another world, so that the wait can pass on its own.
	world := worldtest.New(2)
	l, err := model.NewLimiters(world).Get(limit(1))
	require.NoError(t, err)
	defer l.Close()
	release, err := l.Acquire(t.Context(), 0)
	require.NoError(t, err)
	defer release()
	one := named("one", client())
	one.Limiter = l
	b := setup(t, options{}, one, named("two", client(says("ok"))))
	b.think()
	require.NoError(t, world.BlockUntil(t.Context(), 1))
	world.Advance(model.DefaultConcurrencyWait)
	b.warned("model_concurrency_exceeded")
	thought := next[*messages.Thought](b, b.answers)
	require.Equal(t, "two", thought.Model)
	require.Equal(t, 1, thought.Attempt, "a request that wasn't made counts as none")
}
