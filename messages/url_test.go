package messages_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/troupe-go/troupe/messages"
)

func TestURLs(t *testing.T) {
	for raw, c := range map[string]struct {
		shown   string
		secrets []string
	}{
		"https://api.example.com/v1":                       {"https://api.example.com/v1", nil},
		"https://user:pa%20ss@host/v1":                     {"https://***@host/v1", []string{"pa ss", "pa%20ss"}},
		"https://the-key@host:8443/v1":                     {"https://***@host:8443/v1", []string{"the-key", "the-key"}},
		"https://host/v1?api-version=2024-06-01&key=a%2Fb": {"https://host/v1?api-version=2024-06-01&key=***", []string{"a%2Fb", "a/b"}},
		"https://host/v1?the-key#part":                     {"https://host/v1?***", []string{"the-key"}},
		"https://host/%zz?key=abc":                         {"***", nil},
	} {
		t.Run(raw, func(t *testing.T) {
			require.Equal(t, c.shown, messages.PublicURL(raw))
			require.Equal(t, c.secrets, messages.URLSecrets(raw))
		})
	}
}
