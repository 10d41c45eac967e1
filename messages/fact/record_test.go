package fact_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/messages"
	"github.com/troupe-go/troupe/messages/fact"
)

var recordTime = time.Date(2026, 3, 4, 5, 6, 7, 89_000_000, time.UTC)

// record wraps a fact as an owner appends it.
func record(f fact.Fact) *fact.Record {
	return &fact.Record{
		Schema: fact.Schema, Run: "run-1", Invocation: "inv-1", Epoch: 2, N: 3, Time: recordTime,
		Facts: []fact.Fact{f}, Acked: 16,
		Settles: []messages.Event{{
			Type: messages.ModelOutputThinking, Content: "看 <this> & that\n", AttemptID: "attempt-1", Attempt: 1,
			RunID: "run-1", Step: 2, Time: recordTime, ID: messages.EventID{Invocation: "inv-1", Epoch: 2, N: 17},
		}},
	}
}

func TestRecordGoldens(t *testing.T) {
	for _, f := range samples() {
		t.Run(f.Kind(), func(t *testing.T) {
			requireFull(t, f)
			want := record(f)
			got, err := want.Encode()
			require.NoError(t, err)
			require.NotContains(t, string(got), "\n", "a record is one line")
			golden(t, filepath.Join("testdata", f.Kind()+".json"), append(bytes.Clone(got), '\n'))

			back, err := fact.Parse(got)
			require.NoError(t, err)
			require.Equal(t, want, back)
			again, err := back.Encode()
			require.NoError(t, err)
			require.Equal(t, string(got), string(again), "an owner repeats its append byte for byte")
		})
	}
	files, err := filepath.Glob("testdata/*.json")
	require.NoError(t, err)
	require.Len(t, files, len(samples()), "a golden file of a fact that is gone")
}

func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, got, 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got))
}

func TestRecordOfSeveralFacts(t *testing.T) {
	want := record(&fact.StopRequested{After: messages.StopNow})
	want.Facts = append(want.Facts, &fact.RunFinished{Status: messages.StatusStopped, Answer: messages.UserBreak})
	want.Settles = nil
	want.Seq = 99 // where it stands is not part of it
	b, err := json.Marshal(want)
	require.NoError(t, err)
	var got fact.Record
	require.NoError(t, json.Unmarshal(b, &got))
	require.Zero(t, got.Seq)
	want.Seq = 0
	require.Equal(t, *want, got)
}

func TestRecordHash(t *testing.T) {
	a, err := record(&fact.Released{Reason: "drain"}).Hash()
	require.NoError(t, err)
	require.Len(t, a, 64)
	same, err := record(&fact.Released{Reason: "drain"}).Hash()
	require.NoError(t, err)
	require.Equal(t, a, same)
	other, err := record(&fact.Released{Reason: "pause"}).Hash()
	require.NoError(t, err)
	require.NotEqual(t, a, other)
}

func TestParseRefuses(t *testing.T) {
	var unknown *fact.ErrUnknownKind
	_, err := fact.Parse([]byte(`{"schema":1,"facts":[{"kind":"from_the_future","fact":{}}]}`))
	require.ErrorAs(t, err, &unknown)
	require.Equal(t, "from_the_future", unknown.Kind)
	require.ErrorContains(t, err, "from_the_future")

	_, err = fact.Parse([]byte(`{"schema":2,"facts":[]}`))
	require.ErrorIs(t, err, fact.ErrNewerSchema)
	_, err = fact.Parse([]byte(strings.Repeat(" ", fact.MaxRecord+1)))
	require.ErrorIs(t, err, fact.ErrTooLarge)
	_, err = record(&fact.Released{Reason: strings.Repeat("x", fact.MaxRecord)}).Encode()
	require.ErrorIs(t, err, fact.ErrTooLarge)
	_, err = record(&fact.RunStarted{Metadata: map[string]any{"f": func() {}}}).Encode()
	require.ErrorContains(t, err, "run_started")

	for in, want := range map[string]string{
		``:                       "read record",
		`{"schema":1}{}`:         "read record",
		`{"schema":1,"facts":7}`: "read record",
		`{"schema":1,"facts":[{"kind":"thought"}]}`:                     "read fact thought",
		`{"schema":1,"facts":[{"kind":"thought","fact":{"step":"x"}}]}`: "read fact thought",
		`{"schema":1,"facts":[{}]}`:                                     `fact kind ""`,
		`{"schema":1,"facts":[],"settles":[{"content":"x"}]}`:           "no type",
	} {
		_, err := fact.Parse([]byte(in))
		require.ErrorContains(t, err, want, in)
	}
}

func TestParseIgnoresUnknownFields(t *testing.T) {
	got, err := fact.Parse([]byte(`{"schema":1,"run":"r","later":1,"facts":[{"kind":"released","extra":2,"fact":{"reason":"x","more":3}}]}`))
	require.NoError(t, err)
	require.Equal(t, &fact.Record{Schema: 1, Run: "r", Facts: []fact.Fact{&fact.Released{Reason: "x"}}}, got)
}

func TestSecretsOfARunStayOut(t *testing.T) {
	b, err := record(&fact.RunStarted{Models: []messages.ModelConfig{{APIKey: "hunter2"}}}).Encode()
	require.NoError(t, err)
	require.NotContains(t, string(b), "hunter2")
}

func BenchmarkRecordEncode(b *testing.B) {
	r := record(&fact.Executed{Step: 3, Observation: strings.Repeat("a line of output\n", 20)})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Encode(); err != nil {
			b.Fatal(err)
		}
	}
}
