//go:build linux

package e2e

import (
	"path/filepath"
	"testing"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint/checkpointtest/servers"
)

// kinds are the stores that several processes can share, by their names, as worlds that have one of their own.
func kinds() map[string]func(t *testing.T) *world {
	return map[string]func(t *testing.T) *world{
		"sqlite": newWorld,
		"file": func(t *testing.T) *world {
			w := newWorld(t)
			folder := filepath.Join(filepath.Dir(w.dir), "data", "threads")
			w.keepIn("file", "file:"+folder)
			w.folder = folder
			return w
		},
		"redis": func(t *testing.T) *world {
			s := servers.StartRedis(t, servers.Durable()...)
			w := newWorld(t)
			w.keepIn("redis", s.URL)
			w.server = s
			return w
		},
		"postgres": func(t *testing.T) *world {
			url := servers.PostgresStore(t)
			w := newWorld(t)
			w.keepIn("postgres", url)
			return w
		},
	}
}

// everyStore runs a test on each of them.
func everyStore(t *testing.T, test func(t *testing.T, w *world)) {
	t.Parallel()
	for name, open := range kinds() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t))
		})
	}
}

// keepIn has the world keep its threads in another store than a SQLite file.
func (w *world) keepIn(kind, url string) {
	w.kind, w.url, w.store = kind, url, ""
	w.env = append(w.env, "HITL_TUI_STORE="+url)
}
