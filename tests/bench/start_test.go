package bench

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/tests/scripted"
)

// BenchmarkStart is the time from the start of the process `troupe run` to its
// first model request.
func BenchmarkStart(b *testing.B) {
	binary := filepath.Join(b.TempDir(), "troupe")
	build := exec.Command("go", "build", "-o", binary, "github.com/troupe-go/troupe/cmd/node")
	out, err := build.CombinedOutput()
	require.NoError(b, err, string(out))
	script, err := scripted.Parse([]byte("turns:\n  - repeat: true\n    reply: {text: Hello.}\n"))
	require.NoError(b, err)
	server, err := scripted.Start(script)
	require.NoError(b, err)
	times := make([]time.Duration, 0, max(b.N, 5))
	for len(times) < cap(times) {
		cmd := exec.Command(binary, "run", "Hello?", "--json")
		cmd.Dir = b.TempDir()
		cmd.Env = append(os.Environ(), "OPENAI_BASE_URL="+server.URL(), "OPENAI_API_KEY=key", "OPENAI_MODEL=scripted")
		begin := time.Now()
		out, err := cmd.CombinedOutput()
		require.NoError(b, err, string(out))
		requests := server.Requests()
		times = append(times, requests[len(requests)-1].Time.Sub(begin))
	}
	slices.Sort(times)
	b.ReportMetric(ms(times[len(times)/2]), "ms")
	b.ReportMetric(0, "ns/op")
	require.NoError(b, server.Close())
}
