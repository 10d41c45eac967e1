package openai

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/troupe-go/troupe/messages"
)

// maxText is how many bytes of a provider's words are shown.
const maxText = 400

// shortestSecret is the length in bytes from which a value is looked for: a
// shorter one would blot out ordinary words, and no provider's key is shorter.
const shortestSecret = 6

// keyLike finds what providers echo of keys, cut or masked.
var keyLike = regexp.MustCompile(`(?i)\bbearer\s+\S+|\b(?:sk|pk|rk)-[\w*-]{4,}`)

// scrubber makes foreign text fit to be shown: without secrets, on one line,
// bounded.
type scrubber struct{ secrets []string }

func newScrubber(m messages.ModelConfig) scrubber {
	values := append(messages.URLSecrets(m.URL), m.APIKey.Reveal())
	for _, v := range m.ExtraHeaders {
		values = append(values, v.Reveal())
	}
	s := scrubber{}
	for _, v := range values {
		if len(v) >= shortestSecret && v != m.ModelName && v != m.CiteName { // a name stands in every text: it is no secret
			s.secrets = append(s.secrets, v)
		}
	}
	slices.SortFunc(s.secrets, func(a, b string) int { return len(b) - len(a) }) // one may hold another
	return s
}

func (s scrubber) clean(text string) string {
	for _, secret := range s.secrets {
		text = strings.ReplaceAll(text, secret, "***")
	}
	text = keyLike.ReplaceAllString(text, "***")
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == utf8.RuneError {
			return ' '
		}
		return r
	}, text)
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= maxText {
		return text
	}
	cut := maxText
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}
