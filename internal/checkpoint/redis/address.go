package redis

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// defaultPrefix begins the keys of a store whose URL names no prefix.
const defaultPrefix = "hitl:"

// address is a parsed URL.
type address struct {
	options *redis.Options
	prefix  string
	shown   string // without the password
}

// parseAddress reads the URL of a store. Its errors never repeat it: there may be a password in it.
func parseAddress(text string) (address, error) {
	u, err := url.Parse(text)
	if err != nil {
		var fault *url.Error
		if errors.As(err, &fault) {
			err = fault.Err
		}
		return address{}, fmt.Errorf("the URL of the Redis store cannot be read: %w; want redis://[user:password@]host[:port][/db][?prefix=hitl:], and write special characters of a password as %%XX", err)
	}
	query := u.Query()
	a := address{prefix: cmp.Or(query.Get("prefix"), defaultPrefix)}
	query.Del("prefix")
	u.RawQuery = query.Encode()
	if a.options, err = redis.ParseURL(u.String()); err != nil {
		return address{}, fmt.Errorf("the URL of the Redis store: %w", err)
	}
	a.options.MaxRetries = -1 // whoever sends a command knows best what to do when it fails
	a.options.DialerRetries = 1
	a.options.ContextTimeoutEnabled = true
	a.options.PipelinePoolSize = -1
	a.options.Protocol = 2
	a.options.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
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
