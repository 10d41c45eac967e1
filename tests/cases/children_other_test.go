//go:build !linux

package cases

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// children gives the processes that this one has started: the interpreters.
func children(t testing.TB) []int {
	cmd := exec.Command("ps", "-axo", "pid=,ppid=")
	raw, err := cmd.Output()
	require.NoError(t, err)
	var list []int
	for line := range strings.Lines(string(raw)) {
		fields := strings.Fields(line)
		if len(fields) == 2 && fields[1] == strconv.Itoa(os.Getpid()) && fields[0] != strconv.Itoa(cmd.Process.Pid) {
			n, err := strconv.Atoi(fields[0])
			require.NoError(t, err)
			list = append(list, n)
		}
	}
	return list
}
