package troupe

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/actors/python/local"
	"github.com/troupe-go/troupe/actors/python/wasm"
	"github.com/troupe-go/troupe/messages"
)

// namedDriver is a driver that only has a level.
type namedDriver struct {
	python.Driver
	level messages.SandboxLevel
}

func (d namedDriver) Describe() python.Description { return python.Description{Level: d.level} }
func (namedDriver) Close()                         {}

// Without a level, the first that can be had is taken; without any, the error
// says what to do for either.
func TestFirstLevel(t *testing.T) {
	missing := local.ErrWallMissing.Withf("landlock", "the kernel has none", "use another kernel").With(errors.New("ENOSYS"))
	opens := func(level messages.SandboxLevel, err error) func() (sandboxDriver, error) {
		return func() (sandboxDriver, error) {
			if err != nil {
				return nil, err
			}
			return namedDriver{level: level}, nil
		}
	}
	for name, c := range map[string]struct {
		local, wasm error
		want        messages.SandboxLevel
	}{
		"both":      {nil, nil, messages.SandboxLocal},
		"local":     {nil, wasm.ErrNotInstalled, messages.SandboxLocal},
		"only wasm": {missing, nil, messages.SandboxWasm},
	} {
		d, err := firstLevel(opens(messages.SandboxLocal, c.local), opens(messages.SandboxWasm, c.wasm))
		require.NoError(t, err, name)
		require.Equal(t, c.want, d.Describe().Level, name)
	}
	_, err := firstLevel(opens("", missing), opens("", wasm.ErrNotInstalled))
	fault := messages.AsFault(err)
	require.Equal(t, "sandbox_wall_missing", fault.Code)
	for _, lang := range []string{messages.EN, messages.ZH} {
		require.Contains(t, fault.In(lang), "use another kernel")
		require.Contains(t, fault.In(lang), "troupe python install")
	}
	require.ErrorContains(t, err, "ENOSYS")

	_, err = firstLevel(opens("", missing), opens("", wasm.ErrPlatform))
	require.ErrorIs(t, err, wasm.ErrPlatform)
	require.NotContains(t, messages.AsFault(err).EN, "troupe python install", "it would not help")
}
