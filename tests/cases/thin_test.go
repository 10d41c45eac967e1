package cases

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe"
	"github.com/troupe-go/troupe/messages"
)

// TestMainJob is the thread through everything: model, Python, a tool, an
// answer.
func TestMainJob(t *testing.T) {
	s := setup(t, `
turns:
  - match: {step: 1}
    reply:
      text: |
        Thought: write and look.
        <code>
        create_file(file_path="notes/a.txt", content="one\ntwo\n")
        print(list_directory())
        total = sum(range(10))
        total
        </code>
  - match: {step: 2, last_user: "45"}
    reply:
      text: |
        <code>
        final_answer(f"the total is {total}")
        </code>
`, fileTools)
	tr := s.run(troupe.RunRequest{Query: "Add up."})
	require.Equal(t, messages.StatusAnswered, tr.last().Status)
	require.Equal(t, "the total is 45", tr.last().Content)
	require.Contains(t, tr.text(messages.ExecutionLogs), "a.txt")
	require.Len(t, tr.of(messages.Tool), 2)
	require.Len(t, tr.of(messages.FileArtifact), 1)
	require.Len(t, tr.of(messages.StepCount), 2)
	require.Len(t, tr.of(messages.TokenCount), 2)
}

// fileTools gives the agent the file tools.
func fileTools(cfg *troupe.Config) {
	cfg.Definitions.Tools = []messages.ToolConfig{
		{Name: "read_file", ClassName: "ReadFileTool"},
		{Name: "create_file", ClassName: "CreateFileTool"},
		{Name: "list_directory", ClassName: "ListDirectoryTool"},
	}
	cfg.Agents[0].Tools = []string{"read_file", "create_file", "list_directory"}
}
