// Package open finds the backend a store's URL names. It alone imports them all.
package open

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/file"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/memory"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/postgres"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/redis"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/sqlite"
)

// Options configure whatever backend is opened. The zero value works.
type Options struct {
	Now         func() time.Time // clock; nil is that of this host, or of the server where the store is one
	ReadOnly    bool             // change nothing and create no store
	Existing    bool             // create no store: a *checkpoint.AbsentError says that there is none
	BusyTimeout time.Duration    // how long to wait for another process, or for a server to come back
}

// Open opens the store that url names: sqlite:PATH or sqlite:PATH?synchronous=NORMAL, or a path alone, file:DIR,
// postgres://USER@HOST/DATABASE, redis://HOST or rediss://HOST, memory:, or none:, for which it returns nil.
func Open(ctx context.Context, url string, o Options) (checkpoint.Store, error) {
	scheme, rest := split(url)
	if hasHost(scheme, rest) { // which may hold a password, and is not repeated
		return nil, fmt.Errorf("store %s://: a path of this host follows the colon, and no host; write %[1]s:PATH, or %[1]s:///PATH for one from the root", scheme)
	}
	if path, local := Path(url); local && o.Existing {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return nil, &checkpoint.AbsentError{Store: path}
		}
	}
	switch scheme {
	case "sqlite":
		if rest == "" {
			return nil, fmt.Errorf("store %q: a path is missing, as in sqlite:store.db", url)
		}
		path, synchronous, err := cutOption(rest)
		if err != nil {
			return nil, err
		}
		s, err := sqlite.Open(ctx, path, sqlite.Options{Now: o.Now, ReadOnly: o.ReadOnly, Synchronous: synchronous, BusyTimeout: o.BusyTimeout})
		if err != nil {
			return nil, err
		}
		return s, nil
	case "file":
		if rest == "" {
			return nil, fmt.Errorf("store %q: a folder is missing, as in file:threads", url)
		}
		s, err := file.Open(ctx, rest, file.Options{Now: o.Now, ReadOnly: o.ReadOnly, BusyTimeout: o.BusyTimeout})
		if err != nil {
			return nil, err
		}
		return s, nil
	case "memory", "none":
		if rest != "" {
			return nil, fmt.Errorf("store %s: nothing can follow the colon", scheme+":")
		}
		if scheme == "none" {
			return nil, nil
		}
		return memory.New(memory.Options{Now: o.Now}), nil
	case "redis", "rediss":
		s, err := redis.Open(ctx, scheme+":"+rest, redis.Options{Now: o.Now, ReadOnly: o.ReadOnly, Existing: o.Existing, BusyTimeout: o.BusyTimeout})
		if err != nil {
			return nil, err
		}
		return s, nil
	case "postgres", "postgresql":
		s, err := postgres.Open(ctx, scheme+":"+rest, postgres.Options{Now: o.Now, ReadOnly: o.ReadOnly, Existing: o.Existing, BusyTimeout: o.BusyTimeout})
		if err != nil {
			return nil, err
		}
		return s, nil
	case settings:
		return nil, errors.New("a store is named by a path or a URL, not by host=... and the like; write postgres://USER@HOST/DATABASE")
	default:
		return nil, fmt.Errorf("unknown kind of store %q; use sqlite:PATH, file:DIR, postgres://USER@HOST/DATABASE, redis://HOST, memory: or none:", scheme+":")
	}
}

// settings stands for a scheme where PostgreSQL's own way of naming a database was used, which may hold a password.
const settings = "="

var (
	setting = regexp.MustCompile(`(?i)(^|\s)(host|hostaddr|port|user|password|passfile|dbname|service|sslmode|sslpassword)\s*=`)
	option  = regexp.MustCompile(`^([A-Za-z_]+)=(.*)$`)
)

// split tells the scheme of url, in small letters. A path has none: it begins with a separator or a dot, or has no colon, or
// what stands before its colon is one letter, as in C:\store.db, or is no word and no two slashes follow.
func split(url string) (scheme, rest string) {
	scheme, rest, found := strings.Cut(url, ":")
	path := strings.HasPrefix(url, ".") || strings.HasPrefix(url, "/") || strings.HasPrefix(url, `\`)
	word := len(scheme) > 1 && !strings.ContainsFunc(strings.ToLower(scheme), func(r rune) bool { return r < 'a' || r > 'z' })
	switch {
	case path:
		return "sqlite", url
	case found && (word || len(scheme) != 1 && strings.HasPrefix(rest, "//") && !setting.MatchString(scheme)):
		return strings.ToLower(scheme), rest
	case setting.MatchString(url):
		return settings, ""
	default:
		return "sqlite", url
	}
}

// hasHost reports whether a URL of a store that is kept on this host names a host, as if it were one of a server.
func hasHost(scheme, rest string) bool {
	return (scheme == "sqlite" || scheme == "file") && strings.HasPrefix(rest, "//") && !strings.HasPrefix(rest, "///")
}

// Path is the file or the folder of the store that url names, of one that is kept in such and can be opened.
func Path(url string) (path string, local bool) {
	scheme, rest := split(url)
	if hasHost(scheme, rest) {
		return "", false
	}
	if scheme == "sqlite" {
		path, _, err := cutOption(rest)
		return path, path != "" && err == nil
	}
	return rest, rest != "" && scheme == "file"
}

// cutOption cuts the option off a path; a question mark that no NAME=VALUE follows is the path's own.
func cutOption(rest string) (path, synchronous string, err error) {
	i := strings.LastIndexByte(rest, '?')
	if i < 0 {
		return rest, "", nil
	}
	given := option.FindStringSubmatch(rest[i+1:])
	switch {
	case given == nil:
		return rest, "", nil
	case given[1] != "synchronous":
		return "", "", fmt.Errorf("a SQLite store has no option %q; the only one is synchronous, as in sqlite:store.db?synchronous=NORMAL", given[1])
	}
	return rest[:i], strings.ToUpper(given[2]), nil
}
