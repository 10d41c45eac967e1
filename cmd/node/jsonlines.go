package main

import (
	"io"

	"github.com/troupe-go/troupe/messages"
)

// jsonLines is the view for programs: each event is one line.
type jsonLines struct {
	w      io.Writer
	errors io.Writer
	lang   string
	buf    []byte

	workspace string // where files that are handed over lie; empty: not told
}

func (j *jsonLines) event(ev messages.Event) error {
	j.buf = append(ev.AppendJSON(j.buf[:0]), '\n')
	_, err := j.w.Write(j.buf)
	if err == nil && ev.Type == messages.FileArtifact && j.workspace != "" { // its paths are relative
		_, err = io.WriteString(j.errors, tx.filesAt.in(j.lang, j.workspace)+"\n")
	}
	return err
}

func (j *jsonLines) missed() error {
	_, err := io.WriteString(j.errors, tx.missed.in(j.lang)+"\n")
	return err
}
