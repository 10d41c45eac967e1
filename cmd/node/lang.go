package main

import (
	"strings"

	"github.com/troupe-go/troupe/messages"
)

// language finds the language of what a person reads: --lang, else the
// locale's, else English. It looks at the raw arguments, because the help of
// the commands needs it before they are parsed.
func (a *app) language(args []string) string {
	for i, arg := range args {
		if arg == "--" {
			break
		}
		if v, ok := strings.CutPrefix(arg, "--lang="); ok {
			return known(v)
		}
		if arg == "--lang" && i+1 < len(args) {
			return known(args[i+1])
		}
	}
	for _, name := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		if v, ok := a.env(name); ok && v != "" {
			return known(v)
		}
	}
	return messages.EN
}

func known(v string) string {
	if strings.HasPrefix(strings.ToLower(v), messages.ZH) {
		return messages.ZH
	}
	return messages.EN
}
