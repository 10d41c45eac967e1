package messages_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/messages"
)

func parse(t *testing.T, file string) *ast.File {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
	require.NoError(t, err)
	return f
}

// constants gives the string constants of a named type in a file, unquoted.
func constants(t *testing.T, file, typ string) []string {
	var values []string
	ast.Inspect(parse(t, file), func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) == 0 {
			return true
		}
		if id, ok := spec.Type.(*ast.Ident); ok && id.Name == typ {
			value := spec.Values[0].(*ast.BasicLit).Value
			values = append(values, value[1:len(value)-1])
		}
		return true
	})
	require.NotEmpty(t, values)
	return values
}

func TestProcessTypesIsComplete(t *testing.T) {
	var listed []string
	for _, info := range messages.ProcessTypes {
		listed = append(listed, string(info.Type))
		require.NotEmpty(t, info.Emitter, info.Type)
	}
	require.Equal(t, constants(t, "process.go", "ProcessType"), listed)
}

func TestTerminalTable(t *testing.T) {
	last := map[messages.Status]messages.ProcessType{
		messages.StatusAnswered: messages.FinalAnswer,
		messages.StatusMaxSteps: messages.FinalAnswer,
		messages.StatusBlocked:  messages.FinalAnswer,
		messages.StatusStopped:  messages.FinalAnswer,
		messages.StatusBudget:   messages.FinalAnswer,
		messages.StatusFailed:   messages.Error,
	}
	statuses := constants(t, "process.go", "Status")
	require.Len(t, messages.Terminal, len(statuses))
	for _, s := range statuses {
		t.Run(s, func(t *testing.T) {
			events := messages.Terminal[messages.Status(s)]
			require.NotEmpty(t, events)
			end := events[len(events)-1]
			require.Equal(t, last[messages.Status(s)], end)
			require.Len(t, slices.DeleteFunc(slices.Clone(events), func(p messages.ProcessType) bool { return p != end }), 1, "the last event comes once")
			for i, typ := range events {
				ev := messages.Event{Type: typ}
				if i == len(events)-1 {
					ev.Status = messages.Status(s)
				}
				require.Equal(t, i == len(events)-1, ev.Last())
			}
		})
	}
}

func TestLastEvent(t *testing.T) {
	require.False(t, (&messages.Event{Type: messages.FinalAnswer, Depth: 1, Status: "answered"}).Last())
	require.False(t, (&messages.Event{Type: messages.SubagentEnd, Status: "answered"}).Last())
	require.False(t, (&messages.Event{Type: messages.FinalAnswer}).Last())
}
