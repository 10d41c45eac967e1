//go:build amd64 || arm64

package local

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/troupe-go/troupe/actors/python"
)

// usage reads what a live process takes. The kernel shows the proportional
// size to those who may trace the process; the resident size, which it shows to
// everybody, never stands in for it.
func (p *process) usage() (u python.Usage) {
	rollup, statm := p.openUsage()
	defer files{rollup, statm}.close()
	if u = sizes(rollup, statm); u != (python.Usage{}) { // else it has ended, or nothing can be known
		u.CPU = p.CPU()
	}
	return u
}

func sizes(rollup, statm *os.File) (u python.Usage) {
	u.PSS = field(rollup, "Pss:", 1) << 10 // it says kB
	if u.PSS == 0 {
		u.RSS = field(statm, "", 1) * int64(os.Getpagesize())
	}
	return u
}

// openUsage opens the kernel's figures under the lock, where the id is
// certainly the process's; the open files stay those of this process. Reading
// them may take a while, and a kill must not wait for it.
func (p *process) openUsage() (rollup, statm *os.File) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reaped {
		return nil, nil
	}
	// A file that can't be opened is a figure that isn't known.
	rollup, _ = os.Open(fmt.Sprintf("/proc/%d/smaps_rollup", p.pid))
	statm, _ = os.Open(fmt.Sprintf("/proc/%d/statm", p.pid))
	return rollup, statm
}

// field gives the i-th field of the line that begins with name, 0 where there
// is none.
func field(f *os.File, name string, i int) int64 {
	if f == nil {
		return 0
	}
	text, err := io.ReadAll(io.LimitReader(f, 16<<10))
	if err != nil { // it ended meanwhile
		return 0
	}
	for line := range bytes.Lines(text) {
		fields := bytes.Fields(line)
		if !bytes.HasPrefix(line, []byte(name)) || len(fields) <= i {
			continue
		}
		n, err := strconv.ParseInt(string(fields[i]), 10, 64)
		if err != nil {
			return 0
		}
		return n
	}
	return 0
}
