package messages

import (
	"fmt"
	"io"
	"log/slog"
	"strconv"
)

// Secret is a string that never prints: formatting with any verb, JSON, YAML
// and logs show "***". Reveal gives the value to the one place that needs it.
//
// The fmt package can't call methods on unexported struct fields and prints
// what is in them: keep a Secret in an exported field, or revealed in a value
// that nobody prints.
type Secret string

const mask = "***"

// String masks the secret; an empty one prints as "".
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return mask
}

// GoString masks the secret for %#v.
func (s Secret) GoString() string { return strconv.Quote(s.String()) }

// Format masks the secret for every verb: %x and %q of a string would show it.
func (s Secret) Format(f fmt.State, verb rune) {
	text := s.String()
	if verb == 'q' || verb == 'v' && f.Flag('#') {
		text = s.GoString()
	}
	_, _ = io.WriteString(f, text) // fmt gives a Formatter no way to report an error
}

// LogValue masks the secret in slog.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText masks the secret in JSON and YAML.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText takes the plain value.
func (s *Secret) UnmarshalText(b []byte) error { *s = Secret(b); return nil }

// Reveal returns the value.
func (s Secret) Reveal() string { return string(s) }
