package redis

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint/storeurl"
	"github.com/hitl-tui/hitl-tui/internal/nearest"
)

// defaultPrefix begins the keys of a store whose URL names no prefix.
const defaultPrefix = "hitl:"

// address is a parsed URL.
type address struct {
	options *redis.Options
	prefix  string
	shown   string // without the password
}

// parseAddress reads the URL of a store. Its errors repeat no value that is in it: it may be a password.
func parseAddress(text string) (address, error) {
	const form = "redis://HOST, or redis://HOST:PORT/DATABASE?prefix=hitl:"
	u, err := storeurl.Parse(text, form)
	switch {
	case err != nil:
		return address{}, fmt.Errorf("the URL of the Redis store: %w", err)
	case u.Hostname() == "":
		return address{}, errors.New("the URL of the Redis store names no host; write " + form)
	}
	query := u.Query()
	a := address{prefix: cmp.Or(query.Get("prefix"), defaultPrefix)}
	query.Del("prefix")
	u.RawQuery = query.Encode()
	if a.options, err = redis.ParseURL(u.String()); err != nil {
		return address{}, fmt.Errorf("the URL of the Redis store: %s; write %s", misread(u, query), form)
	}
	a.options.MaxRetries = -1 // whoever sends a command knows best what to do when it fails
	a.options.DialerRetries = 1
	a.options.ContextTimeoutEnabled = true
	a.options.PipelinePoolSize = -1
	a.options.Protocol = 2
	a.options.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	a.options.Dialer = dialer(a.options)
	shown := url.URL{Scheme: u.Scheme, Host: a.options.Addr}
	if user := u.User.Username(); user != "" {
		shown.User = url.User(user)
	}
	if a.options.DB != 0 {
		shown.Path = fmt.Sprint("/", a.options.DB)
	}
	if a.prefix != defaultPrefix {
		shown.RawQuery = url.Values{"prefix": {a.prefix}}.Encode()
	}
	a.shown = shown.String()
	return a, nil
}

// misread is what of a URL the client does not understand, without its value.
func misread(u *url.URL, query url.Values) string {
	if _, err := strconv.ParseUint(strings.Trim(u.Path, "/"), 10, 31); err != nil && strings.Trim(u.Path, "/") != "" {
		return "what follows the host and its slash is no number of a database"
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		_, err := redis.ParseURL("redis://host?" + url.Values{name: query[name]}.Encode())
		switch {
		case err != nil && strings.Contains(err.Error(), "unexpected option"):
			return fmt.Sprintf("it has no option %q%s", name, nearest.Hint(name, options()))
		case err != nil:
			return fmt.Sprintf("the value of the option %s cannot be used", name)
		}
	}
	return "it cannot be used"
}

// options are those a person may have meant.
func options() []string {
	return []string{"prefix", "skip_verify", "dial_timeout", "read_timeout", "write_timeout", "pool_size", "client_name", "db"}
}
