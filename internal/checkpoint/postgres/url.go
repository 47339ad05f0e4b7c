package postgres

import (
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// secretOptions are the options of a URL that nobody is to see.
func secretOptions() []string { return []string{"password", "sslpassword", "passfile"} }

// redact gives a URL without what is secret in it, and which options it has.
func redact(raw string) (shown string, given func(option string) bool, err error) {
	u, err := url.Parse(raw)
	if err != nil || u.Opaque != "" || u.Fragment != "" || !slices.Contains([]string{"postgres", "postgresql"}, u.Scheme) {
		return "", nil, errURL // url.Parse's own error would show the password
	}
	if u.User != nil {
		u.User = url.User(u.User.Username())
	}
	query := u.Query()
	for _, secret := range secretOptions() {
		query.Del(secret)
	}
	u.RawQuery = query.Encode()
	return u.String(), query.Has, nil
}

// reason is why a URL cannot be used, as far as that tells no secret: the whole error would repeat the URL.
func reason(raw string, err error) string {
	u, failed := url.Parse(raw)
	if failed != nil {
		return ""
	}
	var whole *pgconn.ParseConfigError
	if inner := errors.Unwrap(err); inner != nil && errors.As(err, &whole) {
		err = inner
	}
	secrets := []string{raw}
	if password, has := u.User.Password(); has {
		secrets = append(secrets, password)
	}
	for _, option := range secretOptions() {
		secrets = append(secrets, u.Query()[option]...)
	}
	if slices.ContainsFunc(secrets, func(s string) bool { return s != "" && strings.Contains(err.Error(), s) }) {
		return ""
	}
	return ": " + err.Error()
}
