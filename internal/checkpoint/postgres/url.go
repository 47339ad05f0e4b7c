package postgres

import (
	"net/url"
	"slices"
)

// redact gives a URL without what is secret in it, and which options it has.
func redact(raw string) (shown string, given func(option string) bool, err error) {
	u, err := url.Parse(raw)
	if err != nil || u.Opaque != "" || !slices.Contains([]string{"postgres", "postgresql"}, u.Scheme) {
		return "", nil, errURL // url.Parse's own error would show the password
	}
	if u.User != nil {
		u.User = url.User(u.User.Username())
	}
	query := u.Query()
	for _, secret := range []string{"password", "sslpassword", "passfile"} {
		query.Del(secret)
	}
	u.RawQuery = query.Encode()
	u.Fragment, u.RawFragment = "", ""
	return u.String(), query.Has, nil
}
