package wire_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/actors/python/wire"
	"github.com/troupe-go/troupe/messages"
)

// guest is a process that the test plays. Killing it closes its pipes.
type guest struct {
	t        testing.TB
	alive    context.Context
	end      context.CancelFunc
	once     sync.Once
	reason   string
	frozen   bool
	commands *bufio.Reader
	ends     []*os.File
	messages *os.File
	session  *wire.Session
	init     string // the first command
	host     *host
}

func (g *guest) Kill(reason string) {
	g.once.Do(func() {
		g.reason = reason
		for _, f := range g.ends {
			f.Close()
		}
		g.end()
	})
}

func (g *guest) Alive() context.Context { return g.alive }

func (g *guest) Why() string {
	<-g.alive.Done()
	if g.reason == "" {
		return python.KilledDied
	}
	return g.reason
}

func (g *guest) CPU() time.Duration { return 0 }

func (g *guest) Freeze() { g.frozen = true }

func (g *guest) Thaw() { g.frozen = false }

// host answers every call with 7 and keeps it.
type host struct{ calls []python.Call }

func (h *host) Call(_ context.Context, c python.Call) python.Result {
	h.calls = append(h.calls, c)
	return python.Result{Value: json.RawMessage("7")}
}

func setup(t testing.TB) *guest {
	commandsR, commandsW, err := os.Pipe()
	require.NoError(t, err)
	messagesR, messagesW, err := os.Pipe()
	require.NoError(t, err)
	g := &guest{t: t, commands: bufio.NewReader(commandsR), ends: []*os.File{commandsR, messagesW}, messages: messagesW, host: &host{}}
	g.alive, g.end = context.WithCancel(context.Background())
	spec := python.Spec{Tools: []string{"tool"}, Timeout: 5 * time.Second, OutputLimit: 100, Lang: messages.EN}
	g.session = wire.NewSession(messagesR, commandsW, g)
	require.NoError(t, g.session.Begin(spec))
	g.init, err = g.commands.ReadString('\n')
	require.NoError(t, err)
	t.Cleanup(func() {
		g.Kill("")
		commandsW.Close()
		messagesR.Close()
	})
	return g
}

// plays runs a block while the guest writes lines, to the guest's end.
func (g *guest) plays(lines ...string) *python.Outcome {
	g.t.Helper()
	out, written := g.runs(lines...)
	g.Kill("")
	<-written // an error when the guest was killed in the middle
	return out
}

// runs is plays without the end.
func (g *guest) runs(lines ...string) (*python.Outcome, <-chan error) {
	g.t.Helper()
	written := make(chan error, 1)
	go func() {
		_, err := io.WriteString(g.messages, strings.Join(lines, "\n")+"\n")
		written <- err
	}()
	out, err := g.session.Exec(context.Background(), python.Block{Code: "code"}, g.host)
	require.NoError(g.t, err)
	return out, written
}

const done = `{"t":"done","b":1,"value":1,"repr":"1"}`

func TestGreet(t *testing.T) {
	t.Run("ready", func(t *testing.T) {
		g := setup(t)
		fmt.Fprintln(g.messages, `{"t":"ready","version":"3.14.6"}`)
		version, err := g.session.Greet()
		require.NoError(t, err)
		require.Equal(t, "3.14.6", version)
		require.Contains(t, g.init, `"tools":["tool"]`)
		require.Contains(t, g.init, `"math"`)
	})
	t.Run("a wall is missing", func(t *testing.T) {
		g := setup(t)
		fmt.Fprintln(g.messages, `{"t":"wall","tool":"seccomp","text":"why"}`)
		_, err := g.session.Greet()
		var refused *wire.WallError
		require.ErrorAs(t, err, &refused)
		require.Equal(t, wire.WallError{Name: "seccomp", Why: "why"}, *refused)
	})
	t.Run("something else", func(t *testing.T) {
		g := setup(t)
		fmt.Fprintln(g.messages, "Segmentation fault")
		_, err := g.session.Greet()
		require.ErrorContains(t, err, "Segmentation fault")
	})
	t.Run("nothing", func(t *testing.T) {
		g := setup(t)
		g.Kill("")
		_, err := g.session.Greet()
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	})
}

func TestPassesOverWhatIsNoMessageOfTheBlock(t *testing.T) {
	out := setup(t).plays("", "{", "null", "[1]", "7", "\x00\xff", `{"t":1}`, `{"t":"done"}`, `{"t":"done","b":2}`,
		`{"t":"nonsense","b":1}`, `{"t":"out","b":0,"head":"other block"}`, `{"t":"out","b":1,"head":"mine"}`, done)
	require.Equal(t, "mine", out.Output)
	require.JSONEq(t, "1", string(out.Value))
}

func TestCalls(t *testing.T) {
	g := setup(t)
	out, written := g.runs(
		`{"t":"call","b":1,"tool":"tool","args":[1],"kwargs":{}}`,
		`{"t":"call","b":1,"tool":"format_disk","args":[1]}`,
		`{"t":"call","b":1,"tool":"tool","args":[`+strings.Repeat("[", 5000)+strings.Repeat("]", 5000)+`]}`,
		`{"t":"call","b":1,"tool":"tool","kwargs":7}`,
		done)
	require.NoError(t, <-written)
	require.Empty(t, out.Killed)
	require.Equal(t, []python.Call{
		{Ordinal: 1, Tool: "tool", Args: []json.RawMessage{json.RawMessage("1")}},
		{Ordinal: 2, Tool: "tool"},
	}, g.host.calls, "only listed tools, only sound arguments; numbers by the host")
	for _, want := range []string{`"op":"exec"`, `"value":7`, "NameError", "ValueError", `"value":7`} {
		line, err := g.commands.ReadString('\n')
		require.NoError(t, err)
		require.Contains(t, line, want)
	}
}

func TestBounds(t *testing.T) {
	t.Run("line", func(t *testing.T) {
		out := setup(t).plays(strings.Repeat("x", 33<<20))
		require.Equal(t, python.KilledDied, out.Killed)
		require.Contains(t, out.Err.Message, "broke the protocol")
	})
	t.Run("a long line within bounds", func(t *testing.T) {
		out := setup(t).plays(`{"t":"done","b":1,"value":"` + strings.Repeat("x", 1<<20) + `"}`)
		require.Len(t, out.Value, 1<<20+2)
	})
	t.Run("number of lines", func(t *testing.T) {
		out := setup(t).plays(strings.Repeat("{}\n", 1_000_000))
		require.Equal(t, python.KilledDied, out.Killed)
	})
	t.Run("output", func(t *testing.T) {
		out := setup(t).plays(`{"t":"out","b":1,"head":"`+strings.Repeat("é", 40)+`"}`, `{"t":"out","b":1,"tail":"`+strings.Repeat("é", 40)+`","cut":-5}`, done)
		require.Equal(t, strings.Repeat("é", 25)+"\n… 60 bytes of output left out …\n"+strings.Repeat("é", 25), out.Output)
		require.EqualValues(t, 160, out.Printed)
	})
	t.Run("values", func(t *testing.T) {
		out := setup(t).plays(`{"t":"done","b":1,"value":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}`)
		require.Contains(t, string(out.Value), "$repr")
	})
	t.Run("texts", func(t *testing.T) {
		long := strings.Repeat("é", 1<<20)
		out := setup(t).plays(`{"t":"done","b":1,"repr":"` + long + `","error":{"type":"` + long + `","message":"` + long + `","line":-4,"traceback":"` + long + `"}}`)
		require.LessOrEqual(t, len(out.Repr)+len(out.Err.Type)+len(out.Err.Message)+len(out.Err.Traceback), 512<<10)
		require.Zero(t, out.Err.Line)
	})
}

func TestFinal(t *testing.T) {
	out := setup(t).plays(`{"t":"final","b":1,"value":{"a":1},"text":"{'a': 1}"}`, `{"t":"final","b":1,"value":2,"text":"2"}`, done)
	require.True(t, out.IsFinal)
	require.Equal(t, "{'a': 1}", out.FinalText, "the first stays")
}

func TestEnds(t *testing.T) {
	t.Run("gone before", func(t *testing.T) {
		g := setup(t)
		g.Kill("")
		_, err := g.session.Exec(t.Context(), python.Block{Code: "1"}, g.host)
		require.ErrorIs(t, err, python.ErrGone)
	})
	t.Run("gone in the middle", func(t *testing.T) {
		g := setup(t)
		go func() {
			_, _ = g.commands.ReadString('\n') // the block has come
			g.Kill("")
		}()
		out, err := g.session.Exec(t.Context(), python.Block{Code: "1"}, g.host)
		require.NoError(t, err)
		require.Equal(t, python.KilledDied, out.Killed)
	})
	t.Run("deadline of the caller", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		g := setup(t)
		out, err := g.session.Exec(ctx, python.Block{Code: "1"}, g.host)
		require.NoError(t, err)
		require.Equal(t, python.KilledTimeout, out.Killed)
	})
}

// FuzzGuest plays any bytes at all: the host must come to an end.
func FuzzGuest(f *testing.F) {
	f.Add([]byte(done))
	f.Add([]byte(`{"t":"call","b":1,"tool":"tool","args":[{"$dict":[[1,2]]}],"kwargs":{"a":null}}` + "\n"))
	f.Add([]byte(`{"t":"out","b":1,"head":"a","tail":"b","cut":9223372036854775807}` + "\n" + done))
	f.Fuzz(func(t *testing.T, stream []byte) {
		if len(stream) > 32<<10 {
			return // more than a pipe holds
		}
		g := setup(t)
		_, err := g.messages.Write(append(stream, '\n'))
		require.NoError(t, err)
		require.NoError(t, g.messages.Close())
		out, err := g.session.Exec(t.Context(), python.Block{Code: "code"}, g.host)
		require.NoError(t, err)
		require.LessOrEqual(t, len(out.Output), 300)
	})
}

// What the driver program can't say any more ends the interpreter, and says so.
func TestBrokenDriver(t *testing.T) {
	for name, line := range map[string]string{
		"says so":   `{"t":"broken","b":1,"text":"TypeError"}`,
		"malformed": `{"t":"done","b":1,"error":5}`,
	} {
		t.Run(name, func(t *testing.T) {
			out := setup(t).plays(`{"t":"out","b":1,"head":"before"}`, line)
			require.Equal(t, python.KilledDied, out.Killed)
			require.Equal(t, "before", out.Output)
			require.Equal(t, "InterpreterError", out.Err.Type)
			require.Contains(t, out.Err.Message, "the code broke the interpreter it runs in: ")
		})
	}
}

func TestFrozenBetweenBlocks(t *testing.T) {
	g := setup(t)
	for _, line := range []string{done, strings.Replace(done, `"b":1`, `"b":2`, 1)} {
		_, written := g.runs(line)
		require.NoError(t, <-written)
		require.True(t, g.frozen)
	}
}
