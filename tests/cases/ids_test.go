package cases

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// cases are tests by the id of the fault that each shows to be absent
// (testdata/faults.jsonl).
type cases map[string]func(*testing.T)

// all merges the cases of every area; no id may stand in two.
func all(t *testing.T) cases {
	t.Helper()
	merged := cases{}
	for _, area := range []cases{
		parseCases(),
		thinkCases(),
		wireCases(),
		pyCases(),
		fileCases(),
		stopCases(),
		evtCases(),
		boxCases(),
	} {
		for id, run := range area {
			require.NotContains(t, merged, id)
			merged[id] = run
		}
	}
	return merged
}

// behindWalls are the ids that are run with the tag integration only.
var behindWalls = []string{"BOX-01", "BOX-02", "BOX-06", "BOX-08"}

// TestCases runs every case by its id, e.g. -run TestCases/PARSE-01.
func TestCases(t *testing.T) {
	byID := all(t)
	for _, id := range slices.Sorted(maps.Keys(byID)) {
		t.Run(id, byID[id])
	}
}

// TestEveryIDIsRunOrPending holds the list of faults against what is tested:
// each id is either run here or stands in pending.txt with what it waits for.
func TestEveryIDIsRunOrPending(t *testing.T) {
	run, known := all(t), map[string]bool{}
	waiting, parts := pending(t)
	data, err := os.ReadFile("testdata/faults.jsonl")
	require.NoError(t, err)
	for line := range bytes.Lines(data) {
		var fault struct{ ID, Input, Expected string }
		require.NoError(t, json.Unmarshal(line, &fault))
		require.NotEmpty(t, fault.ID)
		require.False(t, known[fault.ID], "%s stands twice in faults.jsonl", fault.ID)
		known[fault.ID] = true
		_, isRun := run[fault.ID]
		isRun = isRun || slices.Contains(behindWalls, fault.ID)
		require.NotEqual(t, waiting[fault.ID], isRun, "%s must be run by a test or stand in pending.txt, not both", fault.ID)
	}
	for id := range run {
		require.True(t, known[id], "%s is run, but no fault has that id", id)
	}
	if cases := boxCases(); cases != nil {
		require.ElementsMatch(t, behindWalls, slices.Collect(maps.Keys(cases)))
	}
	for id := range waiting {
		require.True(t, known[id], "%s is pending, but no fault has that id", id)
	}
	for id := range parts {
		require.Contains(t, run, id, "a part of %s is pending, so the rest must be run", id)
	}
}

// pending are the ids that wait for a part which doesn't exist yet, and those
// that are run but for a part, whose lines begin with the word.
func pending(t *testing.T) (whole, parts map[string]bool) {
	t.Helper()
	data, err := os.ReadFile("pending.txt")
	require.NoError(t, err)
	whole, parts = map[string]bool{}, map[string]bool{}
	for i, line := range strings.Split(strings.TrimSuffix(string(data), "\n"), "\n") {
		fields := strings.Split(line, "\t")
		require.Len(t, fields, 3, "pending.txt line %d: want id, missing part and component between tabs", i+1)
		require.NotContains(t, fields, "", "pending.txt line %d has an empty field", i+1)
		ids, id := whole, fields[0]
		if name, ok := strings.CutPrefix(id, "part "); ok {
			ids, id = parts, name
		}
		require.False(t, ids[id], "%s stands twice in pending.txt", id)
		ids[id] = true
	}
	return whole, parts
}
