package python_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/messages"
)

func TestDefaults(t *testing.T) {
	require.Equal(t, messages.SandboxConfig{
		MemoryLimitMB: 2048, TimeoutSeconds: 120, BlockTimeout: 30 * time.Minute, RebuildLimit: 30 * time.Second, OutputLimit: 1 << 20, ObservationLimit: 20 << 10,
	}, python.Defaults(messages.SandboxConfig{}))
	spec := python.NewSpec(messages.SandboxConfig{MemoryLimitMB: 256, TimeoutSeconds: 0.5, OutputLimit: 1}, []string{"a"}, []string{"shlex"}, messages.ZH)
	require.Equal(t, python.Spec{
		Tools: []string{"a"}, Imports: []string{"shlex"}, MemoryLimit: 256 << 20, Timeout: 500 * time.Millisecond, OutputLimit: 1 << 10, Lang: messages.ZH,
	}, spec)
	require.IsIncreasing(t, python.BaseImports())
}
