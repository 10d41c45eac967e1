package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/troupe-go/troupe/messages"
)

// Bounds of what a command reads.
const (
	maxFile  = 32 << 20 // bytes of an attachment or a history
	maxFiles = 64
	maxQuery = 1 << 20 // bytes of a query from stdin
)

// readQuery gives the query: the argument, or stdin when it is "-".
func (a *app) readQuery(ctx context.Context, arg string) (string, error) {
	query := arg
	if arg == "-" {
		data, err := a.readStdin(ctx)
		if err != nil {
			return "", fmt.Errorf("read the query from stdin: %w", err)
		}
		if len(data) > maxQuery {
			return "", usage(tx.queryTooLong, maxQuery>>10)
		}
		query = string(data)
	}
	query = strings.TrimSpace(query)
	if query == "" {
		return "", usage(tx.emptyQuery)
	}
	return query, nil
}

// readStdin reads stdin to its end, or to just over maxQuery bytes. Nothing
// ends a read that waits for a person: when ctx is done it is left behind, with
// a process that is about to end.
func (a *app) readStdin(ctx context.Context) ([]byte, error) {
	type read struct {
		data []byte
		err  error
	}
	got := make(chan read, 1)
	go func() {
		data, err := io.ReadAll(io.LimitReader(a.stdin, maxQuery+1))
		got <- read{data, err}
	}()
	select {
	case r := <-got:
		return r.data, r.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// readFiles gives the files as attachments named by their base names.
func readFiles(paths []string) ([]messages.Attachment, error) {
	if len(paths) > maxFiles {
		return nil, usage(tx.tooManyFiles, maxFiles, len(paths))
	}
	var list []messages.Attachment
	for _, path := range paths {
		name := filepath.Base(path)
		data, err := readBounded(path)
		if err != nil {
			return nil, err
		}
		list = append(list, messages.Attachment{Name: name, Data: data})
	}
	return list, nil
}

// readBounded reads a regular file of at most maxFile bytes.
func readBounded(path string) ([]byte, error) {
	info, err := os.Stat(path) // before opening: a FIFO would block
	if err != nil {
		return nil, unreadableFile(path, err)
	}
	if !info.Mode().IsRegular() {
		return nil, usage(tx.notAFile, path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, unreadableFile(path, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, unreadableFile(path, err)
	}
	if len(data) > maxFile {
		return nil, usage(tx.fileTooLarge, path, maxFile>>20)
	}
	return data, nil
}

func unreadableFile(path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return usage(tx.noSuchFile, path)
	case errors.Is(err, fs.ErrPermission):
		return usage(tx.noPermission, path)
	}
	return fmt.Errorf("read %s: %w", path, err)
}

// readHistory reads a JSON list of {role, content}.
func readHistory(path string) ([]messages.Turn, error) {
	if path == "" {
		return nil, nil
	}
	data, err := readBounded(path)
	if err != nil {
		return nil, err
	}
	dec := json.NewDecoder(strings.NewReader(string(data)))
	dec.DisallowUnknownFields()
	var turns []messages.Turn
	if err := dec.Decode(&turns); err != nil {
		return nil, usage(tx.badHistory, path, err.Error())
	}
	if dec.More() {
		return nil, usage(tx.badHistory, path, "more than one value")
	}
	for i, t := range turns {
		if t.Role != "user" && t.Role != "assistant" {
			return nil, usage(tx.badRole, path, i, t.Role)
		}
		if t.Content == "" && len(t.Parts) == 0 {
			return nil, usage(tx.emptyTurn, path, i)
		}
	}
	return turns, nil
}
