package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/troupe-go/troupe/messages"
)

// maxFaults bounds a report; what is beyond is counted only.
const maxFaults = 100

// Fault is one thing wrong with a configuration file.
type Fault struct {
	File     string
	Line     int    // from 1; 0: the file as a whole
	Column   int    // from 1, in characters
	Key      string // path, e.g. agents[0].max_steps; empty: no key in particular
	Expected Text
	Got      Text   // never a secret, never a variable's value
	Hint     string // the nearest known key or name; empty: none is near
}

// In gives the fault as one line in a language.
func (f Fault) In(lang string) string {
	var b strings.Builder
	b.WriteString(f.File)
	if f.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", f.Line, f.Column)
	}
	b.WriteString(": ")
	if f.Key != "" {
		b.WriteString(f.Key + ": ")
	}
	if lang == messages.ZH {
		fmt.Fprintf(&b, "应为 %s，实际为 %s", f.Expected.ZH, f.Got.ZH)
		if f.Hint != "" {
			fmt.Fprintf(&b, "；是否想写 %s？", f.Hint)
		}
		return b.String()
	}
	fmt.Fprintf(&b, "expected %s, got %s", f.Expected.EN, f.Got.EN)
	if f.Hint != "" {
		fmt.Fprintf(&b, "; did you mean %s?", f.Hint)
	}
	return b.String()
}

// Error gives the fault as one English line.
func (f Fault) Error() string { return f.In(messages.EN) }

// Faults are all the faults of a file, in the order of its lines. It is the
// error that [Load] and [Parse] return.
type Faults []Fault

// Code is the stable code of a configuration that isn't right.
func (Faults) Code() string { return "config_invalid" }

// Error gives one English line a fault.
func (fs Faults) Error() string { return fs.In(messages.EN) }

// In gives one line a fault in a language.
func (fs Faults) In(lang string) string {
	lines := make([]string, 0, min(len(fs), maxFaults)+1)
	for i, f := range fs {
		if i == maxFaults {
			more := say("… and %d more", "……另有 %d 处", len(fs)-maxFaults)
			lines = append(lines, more.In(lang))
			break
		}
		lines = append(lines, f.In(lang))
	}
	return strings.Join(lines, "\n")
}

func (fs Faults) sort() {
	slices.SortStableFunc(fs, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}
