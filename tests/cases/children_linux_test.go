package cases

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// children gives the processes that this one has started and not yet reaped:
// the interpreters.
func children(t testing.TB) []int {
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	require.NoError(t, err)
	var list []int
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended meanwhile
		}
		// pid (name) state parent …; a name may hold anything
		pid, rest, _ := strings.Cut(string(raw), " ")
		fields := strings.Fields(rest[strings.LastIndexByte(rest, ')')+1:])
		if len(fields) > 1 && fields[1] == strconv.Itoa(os.Getpid()) {
			n, err := strconv.Atoi(pid)
			require.NoError(t, err)
			list = append(list, n)
		}
	}
	return list
}
