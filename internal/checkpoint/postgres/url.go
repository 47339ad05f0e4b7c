package postgres

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint/storeurl"
)

// form is how a URL is written.
const form = "postgres://USER@HOST/DATABASE"

// shownOptions are the options of a URL that anybody may see: they tell which store it is. The value of any other may be a
// password, if only by a slip in a name.
func shownOptions() []string {
	return []string{"host", "port", "dbname", "user", "search_path", "sslmode", "target_session_attrs", "application_name"}
}

// redact gives a URL without what is secret in it, and which options it has.
func redact(raw string) (shown string, given func(option string) bool, err error) {
	u, err := storeurl.Parse(raw, form)
	if err == nil && u.Scheme != "postgres" && u.Scheme != "postgresql" {
		err = errors.New("it is another kind of URL; write " + form)
	}
	if err != nil {
		return "", nil, fmt.Errorf("the URL of the PostgreSQL store: %w", err)
	}
	if u.User != nil {
		u.User = url.User(u.User.Username())
	}
	all := u.Query()
	query := maps.Clone(all)
	maps.DeleteFunc(query, func(name string, _ []string) bool { return !slices.Contains(shownOptions(), name) })
	u.RawQuery = query.Encode()
	return u.String(), all.Has, nil
}

// misread is why a URL cannot be used, without any value that may be secret.
func misread(raw string, err error) error {
	unusable := errors.New("it cannot be used; write " + form)
	u, failed := url.Parse(raw)
	if failed != nil {
		return unusable
	}
	query := u.Query()
	// Each option is read for itself, if the fault is in one and not in the environment.
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if !parses(nil) {
			break
		}
		if !parses(url.Values{name: query[name]}) {
			return fmt.Errorf("the value of the option %s cannot be used", name)
		}
	}
	secrets := slices.Concat(slices.Collect(maps.Values(query))...)
	if password, has := u.User.Password(); has {
		secrets = append(secrets, password)
	}
	inner := errors.Unwrap(err)
	if inner == nil || slices.ContainsFunc(secrets, func(s string) bool { return s != "" && strings.Contains(inner.Error(), s) }) {
		return unusable
	}
	return inner
}

func parses(options url.Values) bool {
	u := url.URL{Scheme: "postgres", Host: "host", Path: "/", RawQuery: options.Encode()}
	_, err := pgxpool.ParseConfig(u.String())
	return err == nil
}
