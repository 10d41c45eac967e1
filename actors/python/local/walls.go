//go:build (linux || darwin) && (amd64 || arm64)

package local

import (
	"errors"
	"os"
	"slices"
	"syscall"

	"github.com/troupe-go/troupe/actors/python"
	"github.com/troupe-go/troupe/actors/python/local/internal/launch"
	"github.com/troupe-go/troupe/actors/python/wire"
	"github.com/troupe-go/troupe/messages"
)

// walls says which walls an interpreter is started with. It is a value; the
// driver replaces it when a wall turns out not to work.
type walls struct {
	standing []string
	missing  []missingWall

	ruleset   *os.File // Landlock's, when it stands
	libraries []string // of the system, that the interpreter loads
}

type missingWall struct {
	python.Wall
	required bool
}

func (w *walls) has(name string) bool { return slices.Contains(w.standing, name) }

// add puts a wall into one of the two lists; why is "" when it stands.
func (w *walls) add(name, why, advice string, required bool) {
	if why == "" {
		w.standing = append(w.standing, name)
		return
	}
	w.missing = append(w.missing, missingWall{python.Wall{Name: name, Why: why, Advice: advice}, required})
}

// drop moves a wall to the missing ones and reports whether starting without
// it is allowed: it is not required, or mayMiss.
func (w *walls) drop(name, why string, mayMiss bool) (python.Wall, bool) {
	required := !slices.Contains(optional, name)
	if !w.has(name) || (required && !mayMiss) {
		return python.Wall{}, false
	}
	w.standing = slices.DeleteFunc(slices.Clone(w.standing), func(s string) bool { return s == name })
	w.missing = slices.Clone(w.missing)
	w.add(name, why, adviceFor(name), required)
	dropped := w.missing[len(w.missing)-1].Wall
	for above, below := range rests {
		if below == name {
			w.drop(above, needs(name), mayMiss)
		}
	}
	return dropped, true
}

// needs is why a wall is missing that rests on another.
func needs(below string) string { return "it needs the wall " + below }

// refusals are how a kernel says that it makes no namespaces: it may not, it
// may make no more, it doesn't know how.
var refusals = []syscall.Errno{syscall.EPERM, syscall.EACCES, syscall.ENOSPC, syscall.EUSERS, syscall.EINVAL, syscall.ENOSYS}

// refused gives the wall that made a start fail before the launcher ran, where
// it was one.
func (w *walls) refused(err error) error {
	errno, ok := errors.AsType[syscall.Errno](err)
	if !ok || !slices.Contains(refusals, errno) {
		return err
	}
	for _, name := range []string{launch.WallUser, launch.WallNamespaces} {
		if w.has(name) {
			return &wire.WallError{Name: name, Why: err.Error()}
		}
	}
	return err
}

// fault describes why an interpreter did not start.
func (w *walls) fault(err error) error {
	var refused *wire.WallError
	if errors.As(err, &refused) && w.has(refused.Name) {
		return missingFault(python.Wall{Name: refused.Name, Why: refused.Why, Advice: adviceFor(refused.Name)})
	}
	var fault *messages.Fault
	if errors.As(err, &fault) {
		return err
	}
	return errStart.With(err)
}

func (w *walls) close() {
	if w.ruleset != nil {
		w.ruleset.Close()
	}
}
