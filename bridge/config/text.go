package config

import (
	"fmt"

	"github.com/troupe-go/troupe/messages"
)

// Text is something a person reads, in both languages.
type Text struct{ EN, ZH string }

// In gives the text in a language; anything but zh is English.
func (t Text) In(lang string) string {
	if lang == messages.ZH && t.ZH != "" {
		return t.ZH
	}
	return t.EN
}

// say formats both languages with the same arguments. An argument that is a
// Text itself is put in in the language at hand.
func say(en, zh string, args ...any) Text {
	return Text{EN: format(messages.EN, en, args), ZH: format(messages.ZH, zh, args)}
}

func format(lang, f string, args []any) string {
	if len(args) == 0 {
		return f
	}
	local := make([]any, len(args))
	for i, a := range args {
		if t, ok := a.(Text); ok {
			a = t.In(lang)
		}
		local[i] = a
	}
	return fmt.Sprintf(f, local...)
}
