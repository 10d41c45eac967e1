package runlog

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/messages"
	"github.com/troupe-go/troupe/messages/fact"
)

func settledBy(epoch uint64, ns ...uint64) (events []*messages.Event) {
	for _, n := range ns {
		events = append(events, &messages.Event{ID: messages.EventID{Invocation: "i", Epoch: epoch, N: n}})
	}
	return events
}

func TestPlanTakeover(t *testing.T) {
	start, work := &fact.RunStarted{Agent: "a"}, &fact.Executed{}
	rec := func(epoch, n, acked uint64, f fact.Fact, settles ...uint64) *Frozen {
		return &Frozen{epoch: epoch, n: n, acked: acked, facts: []fact.Fact{f}, settles: settledBy(epoch, settles...)}
	}
	adopted := func(cause string) *fact.Adopted { return &fact.Adopted{Cause: cause} }
	for _, c := range []struct {
		name    string
		records []*Frozen
		cause   string
		want    takeover
		again   []string
	}{
		{"nothing happened yet", []*Frozen{rec(1, 1, 0, start)}, fact.CauseLoss,
			takeover{epoch: 2, cause: fact.CauseLoss, crashes: 1}, nil},
		{"all is stored but the last", []*Frozen{rec(1, 1, 0, start), rec(1, 2, 0, work, 1, 2), rec(1, 3, 3, work, 3, 4)}, fact.CauseLoss,
			takeover{epoch: 2, keep: 4, cause: fact.CauseLoss, crashes: 1}, []string{"i.1.4"}},
		{"a text is settled after a later warning", []*Frozen{rec(1, 1, 0, start), rec(1, 2, 0, work, 6), rec(1, 3, 0, work, 5)}, fact.CauseLoss,
			takeover{epoch: 2, keep: 6, cause: fact.CauseLoss, crashes: 1}, []string{"i.1.5", "i.1.6"}},
		{"an owner that published nothing leaves two epochs' events", []*Frozen{rec(1, 1, 0, start), rec(1, 2, 1, work, 1, 2), rec(2, 1, 0, adopted(fact.CauseLoss), 1)}, fact.CauseLoss,
			takeover{epoch: 3, keep: 1, cause: fact.CauseLoss, crashes: 2}, []string{"i.1.2", "i.2.1"}},
		{"an owner that published has published what it inherited", []*Frozen{rec(1, 1, 0, start), rec(1, 2, 1, work, 1, 2), rec(2, 1, 0, adopted(fact.CauseLoss), 1), rec(2, 2, 1, work, 2)}, fact.CausePanic,
			takeover{epoch: 3, keep: 2, cause: fact.CausePanic, crashes: 1}, []string{"i.2.2"}},
		{"an owner that settled nothing keeps nothing", []*Frozen{rec(1, 1, 0, start), rec(1, 2, 2, work, 1, 2), rec(2, 1, 0, adopted(fact.CauseLoss))}, fact.CauseLoss,
			takeover{epoch: 3, keep: 0, cause: fact.CauseLoss, crashes: 2}, nil},
		{"after a release nobody crashed", []*Frozen{rec(1, 1, 0, start), rec(1, 2, 0, &fact.Released{})}, fact.CausePanic,
			takeover{epoch: 2, cause: fact.CauseRelease}, nil},
		{"panics and losses are counted apart", []*Frozen{rec(1, 1, 0, start), rec(2, 1, 0, adopted(fact.CausePanic)), rec(3, 1, 0, adopted(fact.CauseLoss)), rec(4, 1, 0, adopted(fact.CauseRelease))}, fact.CausePanic,
			takeover{epoch: 5, cause: fact.CausePanic, crashes: 2}, nil},
		{"a finished run has no next owner", []*Frozen{rec(1, 1, 0, start), rec(1, 2, 1, &fact.RunFinished{}, 1, 2)}, fact.CauseLoss,
			takeover{epoch: 1, keep: 2, cause: fact.CauseLoss, finished: &fact.RunFinished{}}, []string{"i.1.2"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var records []Stored
			for i, r := range c.records {
				records = append(records, Stored{Seq: uint64(i + 1), Record: r})
			}
			got, err := planTakeover(Invocation{Run: "r", Invocation: "i"}, records, c.cause)
			require.NoError(t, err)
			var again []string
			for _, ev := range got.again {
				again = append(again, ev.ID.String())
			}
			require.Equal(t, c.again, again)
			c.want.start, c.want.seq, c.want.again = start, uint64(len(records)), got.again
			require.Equal(t, &c.want, got)
		})
	}
}

func TestPlanTakeoverRefuses(t *testing.T) {
	inv := Invocation{Run: "r", Invocation: "i"}
	rec := func(epoch uint64, f fact.Fact) Stored {
		return Stored{Record: &Frozen{epoch: epoch, facts: []fact.Fact{f}}}
	}
	for _, c := range []struct {
		name    string
		records []Stored
		cause   string
		want    error
	}{
		{"no records", nil, fact.CauseLoss, messages.ErrUnknownRun},
		{"an unknown cause", []Stored{rec(1, &fact.RunStarted{})}, "boredom", ErrInput},
		{"no beginning", []Stored{rec(1, &fact.Executed{})}, fact.CauseLoss, ErrRefused},
		{"epochs that fall", []Stored{rec(2, &fact.RunStarted{}), rec(1, &fact.Executed{})}, fact.CauseLoss, ErrRefused},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := planTakeover(inv, c.records, c.cause)
			require.ErrorIs(t, err, c.want)
		})
	}
}

func TestAdoptedEventOfASubAgent(t *testing.T) {
	plan := &takeover{start: &fact.RunStarted{Agent: "helper", Depth: 1}, epoch: 3, keep: 7}
	ev := plan.event(Invocation{Run: "r", Invocation: "child"})
	require.Equal(t, messages.Event{
		Type: messages.ModelAttemptControl, Phase: messages.PhaseAdopted, Epoch: 3, Keep: 7,
		Depth: 1, InvocationID: "child", AgentName: "helper",
	}, ev)
}

func TestFrozenBytes(t *testing.T) {
	rec := &fact.Record{
		Schema: fact.Schema, Run: "r", Invocation: "i", Epoch: 2, N: 3, Acked: 4,
		Facts:   []fact.Fact{&fact.Executed{Step: 1, Observation: "<观察>"}},
		Settles: []messages.Event{{Type: messages.ExecutionLogs, Content: "log", ID: messages.EventID{Invocation: "i", Epoch: 2, N: 5}}},
	}
	f := Freeze(rec)
	b, err := f.Bytes()
	require.NoError(t, err)
	thawed, err := Thaw(b)
	require.NoError(t, err)
	require.True(t, f.Same(thawed))
	require.True(t, thawed.Same(f))
	require.Equal(t, rec.Facts, thawed.Record().Facts)

	rec.N = 4
	require.False(t, f.Same(Freeze(rec)))
	rec.N, rec.Facts = 3, []fact.Fact{&fact.Executed{Step: 2}}
	require.False(t, f.Same(Freeze(rec)))

	_, err = Thaw([]byte(`{"schema":1,"facts":[{"kind":"from_the_future","fact":{}}]}`))
	require.ErrorIs(t, err, ErrRefused)
	_, err = Freeze(&fact.Record{Facts: []fact.Fact{&fact.Executed{Final: []byte("{")}}}).Bytes()
	require.ErrorIs(t, err, ErrRefused)
}
