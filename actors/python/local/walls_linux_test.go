package local_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/python/local"
	"github.com/troupe-go/troupe/messages"
)

func TestWithoutWalls(t *testing.T) {
	for _, wall := range []string{"landlock", "seccomp"} {
		t.Run(wall+" is required", func(t *testing.T) {
			_, err := open(t, local.Without(local.Config{}, wall))
			require.ErrorIs(t, err, local.ErrWallMissing)
			fault := messages.AsFault(err)
			require.Equal(t, "sandbox_wall_missing", fault.Code)
			require.Contains(t, fault.In(messages.EN), wall)
			require.Contains(t, fault.In(messages.ZH), "sandbox.unsafe")
		})
	}
	for _, walls := range [][]string{{"landlock"}, {"seccomp"}, {"namespaces"}, {"exec_once"}, {"landlock", "seccomp", "namespaces", "exec_once"}} {
		t.Run("going on without "+walls[0], func(t *testing.T) {
			d := setup(t, local.Without(local.Config{AllowMissing: true}, walls...))
			require.JSONEq(t, "2", string(run(t, start(t, d), "1 + 1").Value))
			desc := d.Describe()
			for _, wall := range walls {
				require.NotContains(t, desc.Walls, wall)
			}
			require.GreaterOrEqual(t, len(desc.Missing), len(walls))
			require.NotEmpty(t, desc.Missing[len(desc.Missing)-1].Advice)
		})
	}
	t.Run("without any", func(t *testing.T) {
		d := setup(t, local.Bare(local.Config{}))
		require.JSONEq(t, "2", string(run(t, start(t, d), "1 + 1").Value))
	})
}
