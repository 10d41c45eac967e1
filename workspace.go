package troupe

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/troupe-go/troupe/actors/tool/file"
	"github.com/troupe-go/troupe/messages"
)

// inputsPrefix and the run's id name the folder of attachments in a caller's
// workspace.
const inputsPrefix = "inputs-"

// workspace is a run's folder, and what this run put there.
type workspace struct {
	dir    string
	own    bool   // made for this run: it goes with it
	inputs string // folder of attachments in a caller's workspace; "" in one of ours

	mu     sync.Mutex
	placed []string // files of ours in a caller's workspace
}

// workspace is the folder of a run that names none.
func (p *planner) workspace(run string) string { return filepath.Join(p.dataDir, "runs", run) }

// place gives a run its folder: the one that it names, or a fresh one. One
// that is there from an earlier process is refused: what lies in it is not
// this run's.
func (p *planner) place(run string, req *messages.RunAgent) (*workspace, error) {
	if own := req.Overrides.Workspace; own != "" {
		abs, err := filepath.Abs(own)
		if err == nil {
			err = os.MkdirAll(abs, 0o700)
		}
		if err != nil {
			return nil, errWorkspace.Withf(own).With(err)
		}
		return &workspace{dir: abs, inputs: inputsPrefix + run}, nil
	}
	dir := p.workspace(run)
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return nil, errWorkspace.Withf(dir).With(err)
	}
	if err := makeFresh(run, dir); err != nil {
		return nil, err
	}
	return &workspace{dir: dir, own: true}, nil
}

// makeFresh makes a folder that must not be there yet.
func makeFresh(run, dir string) error {
	switch err := os.Mkdir(dir, 0o700); {
	case errors.Is(err, fs.ErrExist):
		return errRunFolder.Withf(run, dir)
	case err != nil:
		return errWorkspace.Withf(dir).With(err)
	}
	return nil
}

// place writes the attachments. In a caller's workspace they get a folder of
// their own: nothing there is overwritten.
func (w *workspace) place(files []messages.Attachment) error {
	if len(files) == 0 {
		return nil
	}
	if !w.own {
		folder := filepath.Join(w.dir, w.inputs)
		if err := makeFresh(strings.TrimPrefix(w.inputs, inputsPrefix), folder); err != nil {
			return err
		}
		w.mu.Lock()
		for i := range files {
			w.placed = append(w.placed, filepath.Join(w.dir, filepath.FromSlash(files[i].Name)))
		}
		w.placed = append(w.placed, folder)
		w.mu.Unlock()
	}
	return file.Place(w.dir, files)
}

// release removes what is the run's own: its folder, unless keep says that
// there are files in it for somebody; in a caller's workspace just the
// attachments, and their folder if nothing else is in it. Doing it again
// changes nothing.
func (w *workspace) release(keep bool) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.own {
		if keep {
			return nil
		}
		w.own = false
		gone := w.dir + ".gone" // at once: the id may be used again
		if err := os.Rename(w.dir, gone); err != nil {
			return os.RemoveAll(w.dir)
		}
		return os.RemoveAll(gone)
	}
	var err error
	for _, path := range w.placed {
		if e := os.Remove(path); e != nil && !errors.Is(e, fs.ErrNotExist) && filepath.Base(path) != w.inputs {
			err = errors.Join(err, e)
		}
	}
	w.placed = nil
	return err
}
