// Package open finds the backend a store's URL names. It alone imports them all.
package open

import (
	"context"
	"fmt"
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
	BusyTimeout time.Duration    // how long to wait for another process, or for a server to come back
}

// Open opens the store that url names: sqlite:PATH or sqlite:PATH?synchronous=NORMAL, or a path alone, file:DIR,
// postgres://USER@HOST/DATABASE, redis://HOST or rediss://HOST, memory:, or none:, for which it returns nil.
func Open(ctx context.Context, url string, o Options) (checkpoint.Store, error) {
	scheme, rest := split(url)
	switch scheme {
	case "sqlite":
		if rest == "" {
			return nil, fmt.Errorf("store %q: a path is missing, as in sqlite:store.db", url)
		}
		path, synchronous := cutSynchronous(rest)
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
			return nil, fmt.Errorf("store %q: nothing can follow %s:", url, scheme)
		}
		if scheme == "none" {
			return nil, nil
		}
		return memory.New(memory.Options{Now: o.Now}), nil
	case "redis", "rediss":
		s, err := redis.Open(ctx, url, redis.Options{Now: o.Now, ReadOnly: o.ReadOnly, BusyTimeout: o.BusyTimeout})
		if err != nil {
			return nil, err
		}
		return s, nil
	case "postgres", "postgresql":
		s, err := postgres.Open(ctx, url, postgres.Options{Now: o.Now, ReadOnly: o.ReadOnly, BusyTimeout: o.BusyTimeout})
		if err != nil {
			return nil, err
		}
		return s, nil
	default:
		return nil, fmt.Errorf("unknown kind of store %q; use sqlite:PATH, file:DIR, postgres://USER@HOST/DATABASE, redis://HOST, memory: or none:", scheme+":")
	}
}

// split tells the scheme of url. A path has none: it begins with a separator or a dot, or has no colon, or what stands
// before its colon is no name or one letter, as in C:\store.db.
func split(url string) (scheme, rest string) {
	scheme, rest, found := strings.Cut(url, ":")
	if !found || len(scheme) < 2 || strings.ContainsFunc(scheme, func(r rune) bool { return r < 'a' || r > 'z' }) {
		return "sqlite", url
	}
	return scheme, rest
}

// Path is the file or the folder of the store that url names, of one that is kept in such.
func Path(url string) (path string, local bool) {
	scheme, rest := split(url)
	if scheme == "sqlite" {
		rest, _ = cutSynchronous(rest)
	}
	return rest, rest != "" && (scheme == "sqlite" || scheme == "file")
}

// cutSynchronous cuts the option off a path; any other question mark is the path's own.
func cutSynchronous(rest string) (path, synchronous string) {
	if i := strings.LastIndexByte(rest, '?'); i >= 0 {
		if value, is := strings.CutPrefix(rest[i:], "?synchronous="); is {
			return rest[:i], strings.ToUpper(value)
		}
	}
	return rest, ""
}
