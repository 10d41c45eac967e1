package policy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, name))
	require.NoError(t, err)
	return string(data)
}

// The README gives a reason for every dependency.
func TestReadmeNamesDependencies(t *testing.T) {
	readme := read(t, "README.md")
	requirement := regexp.MustCompile(`^(?:require )?\s*([a-z0-9.-]+\.[a-z]+/\S+) v\S+$`)
	direct := 0
	for _, line := range strings.Split(read(t, "go.mod"), "\n") {
		found := requirement.FindStringSubmatch(strings.TrimSpace(line))
		if found == nil {
			continue
		}
		direct++
		assert.Containsf(t, readme, "`"+found[1]+"`", "README.md must give the reason for the dependency %s", found[1])
	}
	require.Positive(t, direct, "go.mod marks no dependency as direct: is it tidy?")
}

// The README begins with the two commands that CI runs as they stand there.
func TestReadmeBeginsWithTheCommands(t *testing.T) {
	_, block, found := strings.Cut(read(t, "README.md"), "```sh\n")
	require.True(t, found)
	commands := strings.Split(block, "\n")[:2]
	require.Equal(t, []string{"go run ./cmd/node demo", "go test ./..."}, commands)
}

// The README's Go program compiles as it stands there.
func TestReadmeGoCompiles(t *testing.T) {
	_, rest, found := strings.Cut(read(t, "README.md"), "```go\n")
	require.True(t, found)
	program, _, found := strings.Cut(rest, "```\n")
	require.True(t, found)
	file := filepath.Join(t.TempDir(), "main.go")
	require.NoError(t, os.WriteFile(file, []byte(program), 0o600))
	cmd := exec.Command("go", "vet", file)
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
}
