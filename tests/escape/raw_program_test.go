//go:build linux && integration

package escape

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/actors/python/local"
)

// The raw program is this test binary in the interpreter's place, in a cache
// of its own: the driver starts it behind the very walls it starts Python
// behind, and it speaks the protocol as far as that goes. A block's "code" is
// a probe, as JSON; its value is what came of it.

// isRaw reports whether this process is the raw program.
func isRaw() bool {
	return len(os.Args) > 2 && filepath.Base(os.Args[0]) == "python3.14" && os.Args[1] == "-s"
}

// probe names a raw attack and what it aims at.
type probe struct {
	Group, Name string
	Parent      int     // process id
	Memory      uintptr // address in the parent
	Length      int     // bytes there
	Tree        string  // folder
	Port        int     // TCP and UDP
}

// serve answers until the commands end.
func serve() {
	debug.SetGCPercent(-1) // its threads may get in the way of what is tried
	in, out := bufio.NewReaderSize(os.NewFile(3, "commands"), 1<<20), os.NewFile(4, "messages")
	send := func(m map[string]any) {
		line, err := json.Marshal(m)
		if err != nil {
			panic(err)
		}
		if _, err := out.Write(append(line, '\n')); err != nil {
			os.Exit(1)
		}
	}
	send(map[string]any{"t": "ready", "version": "3.14.6"})
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var command struct {
			Op, Code string
			Block    uint64
		}
		if err := json.Unmarshal(line, &command); err != nil || command.Op != "exec" {
			continue
		}
		var p probe
		if err := json.Unmarshal([]byte(command.Code), &p); err != nil {
			panic(err)
		}
		value := rawAttacks[p.Group][p.Name](&p)
		send(map[string]any{"t": "done", "b": command.Block, "value": value, "repr": value})
	}
}

// errno is what came of a call, as text: the error's name, or that it worked.
func errno(err error) string {
	e, ok := err.(syscall.Errno) //nolint:errorlint // it is nothing else
	switch {
	case err == nil || e == 0:
		return worked
	case ok:
		return e.Error()
	}
	return err.Error()
}

const worked = "it worked"

// openRaw makes a driver whose interpreter is the raw program.
func openRaw(t *testing.T) python.Driver {
	cache := t.TempDir()
	copyCache(t, cache)
	homes, err := filepath.Glob(filepath.Join(cache, "cpython-*", "bin", "python3.14"))
	require.NoError(t, err)
	require.NotEmpty(t, homes) // one, and those of other versions
	binary, err := os.ReadFile("/proc/self/exe")
	require.NoError(t, err)
	for _, exe := range homes {
		require.NoError(t, os.WriteFile(exe, binary, 0o600))
		relist(t, filepath.Dir(filepath.Dir(exe)), "bin/python3.14", binary)
	}
	d, err := local.New(local.Config{CacheDir: cache})
	require.NoError(t, err)
	t.Cleanup(d.Close)
	return d
}

// relist puts another file into an unpacked folder's list.
func relist(t *testing.T, home, name string, content []byte) {
	path := filepath.Join(home, ".manifest")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	_, list, _ := strings.Cut(string(text), "\n")
	var changed bytes.Buffer
	found := false
	for line := range strings.Lines(list) {
		if fields := strings.Fields(line); fields[len(fields)-1] == name {
			found = true
			line = fmt.Sprintf("%s %d %s %s\n", fields[0], len(content), sum(content), name)
		}
		changed.WriteString(line)
	}
	require.True(t, found)
	require.NoError(t, os.WriteFile(path, []byte(sum(changed.Bytes())+"\n"+changed.String()), 0o600))
}

func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}
