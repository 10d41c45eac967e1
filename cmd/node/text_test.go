package main

import (
	"reflect"
	"regexp"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
)

// Every phrase exists in both languages and takes the same arguments.
func TestEveryPhraseIsInBothLanguages(t *testing.T) {
	verbs := regexp.MustCompile(`%[.\d]*[a-z]`)
	v := reflect.ValueOf(tx)
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		en, zh := v.Field(i).Field(0).String(), v.Field(i).Field(1).String()
		require.NotEmpty(t, en, name)
		require.Equal(t, verbs.FindAllString(en, -1), verbs.FindAllString(zh, -1), name)
		if regexp.MustCompile(`[a-z]`).MatchString(verbs.ReplaceAllString(en, "")) {
			require.NotEmpty(t, firstHan(zh), name)
		}
		require.Empty(t, firstHan(en), name)
	}
}

func firstHan(s string) string {
	for _, r := range s {
		if unicode.Is(unicode.Han, r) {
			return string(r)
		}
	}
	return ""
}
