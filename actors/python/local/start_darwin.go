//go:build amd64 || arm64

package local

import (
	"os/exec"
	"syscall"
	"time"

	"github.com/troupe-go/troupe/actors/python"
)

// This system has none of the walls: the level runs with unsafe only.

var (
	optional []string
	rests    map[string]string
)

func findWalls(cfg Config) walls {
	var w walls
	if !cfg.bare {
		w.add("landlock", "it exists on Linux only", adviceFor("landlock"), true)
	}
	return w
}

func adviceFor(string) string { return "run on Linux" }

func (w *walls) use(*installation) error { return nil }

func checkLibraries(string) error { return nil }

func command(in *installation, _ walls) (*exec.Cmd, error) {
	return &exec.Cmd{
		Path:        in.exe,
		Args:        in.argv(),
		Env:         in.env(),
		Dir:         "/",
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true},
	}, nil
}

func probe(*exec.Cmd) error { return nil }

func (p *process) limit(_ walls, memory int64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.memory = memory
	return nil
}

// CPU implements wire.Process: known at the end only.
func (p *process) CPU() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.finalCPU()
}

// usage is not known here.
func (p *process) usage() python.Usage { return python.Usage{} }

// waitable waits until the process has ended. There is no portable way to do so
// without reaping it.
func waitable(cmd *exec.Cmd) { _ = cmd.Wait() }

func maxResident(u *syscall.Rusage) int64 { return u.Maxrss }
