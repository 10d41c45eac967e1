package messages

import (
	"net/url"
	"strings"
)

// publicQuery is the one parameter of a model's URL that is known to be no
// key; what providers say about it is of use.
const publicQuery = "api-version"

// PublicURL gives a URL that may be shown and stored: without its fragment, and
// with user, password and the values of its query masked, for they may be keys.
func PublicURL(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return mask
	}
	user := u.User
	u.User, u.Fragment, u.RawFragment = nil, "", ""
	u.RawQuery, _ = splitQuery(u.RawQuery)
	shown := u.String()
	if user != nil {
		shown = strings.Replace(shown, "//", "//"+mask+"@", 1)
	}
	return shown
}

// URLSecrets gives what PublicURL masks, as it is written and as it is meant.
func URLSecrets(raw string) []string {
	u, err := url.Parse(raw)
	if err != nil {
		return nil
	}
	_, secrets := splitQuery(u.RawQuery)
	if password, ok := u.User.Password(); ok {
		secrets = append(secrets, password)
	} else if u.User != nil {
		secrets = append(secrets, u.User.Username()) // a name without a password is a key
	}
	if u.User != nil {
		_, written, found := strings.Cut(u.User.String(), ":")
		if !found {
			written = u.User.String()
		}
		secrets = append(secrets, written)
	}
	return secrets
}

// splitQuery masks a query and gives what it masked.
func splitQuery(query string) (masked string, secrets []string) {
	if query == "" {
		return "", nil
	}
	pairs := strings.Split(query, "&")
	for i, pair := range pairs {
		name, value, named := strings.Cut(pair, "=")
		switch {
		case !named:
			value, pairs[i] = pair, mask
		case name == publicQuery:
			continue
		default:
			pairs[i] = name + "=" + mask
		}
		secrets = append(secrets, value)
		if meant, err := url.QueryUnescape(value); err == nil && meant != value {
			secrets = append(secrets, meant)
		}
	}
	return strings.Join(pairs, "&"), secrets
}
