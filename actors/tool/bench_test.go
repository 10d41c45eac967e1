package tool_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/system"
	"github.com/troupe-go/troupe/actors/tool"
	"github.com/troupe-go/troupe/messages"
)

// BenchmarkCall is one call of a Go function: checked, asked for and answered.
func BenchmarkCall(b *testing.B) {
	type args struct {
		A int `json:"a"`
		B int `json:"b"`
	}
	add, err := tool.Func("add", "Adds.", func(_ context.Context, in args) (int, error) { return in.A + in.B, nil },
		tool.WithEffects(tool.EffectsNone))
	require.NoError(b, err)
	sys := system.New(system.Config{})
	defer sys.Close()
	pid := sys.Root().Spawn(sys.Props(tool.Producer(tool.Config{Tool: add, System: sys})))
	defer func() { require.NoError(b, sys.Root().StopFuture(pid).Wait()) }()
	call := &messages.CallTool{ID: "c", Tool: "add", Args: []json.RawMessage{json.RawMessage("1"), json.RawMessage("2")}}
	b.ReportAllocs()
	for b.Loop() {
		p, bad := tool.Prepare(add.Spec(), call, messages.EN)
		if bad != nil {
			b.Fatal(bad.Message)
		}
		if _, err := system.Ask[*messages.ToolReturned](context.Background(), sys, pid, &tool.Run{Call: call, Prepared: p}); err != nil {
			b.Fatal(err)
		}
	}
}
