package open_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint/open"
)

func TestOpen(t *testing.T) {
	t.Chdir(t.TempDir())
	for url, want := range map[string]string{
		"sqlite:a.db": "a.db", "b.db": "b.db", "./c:d.db": "c:d.db", "sqlite:e:f.db": "e:f.db", "memory:": "memory:", "file:g": "g",
		"sqlite:n.db?synchronous=normal": "n.db?synchronous=NORMAL", "f.db?synchronous=FULL": "f.db", "sqlite:what?.db": "what?.db",
		"sqlite:" + filepath.Join(t.TempDir(), "g.db"): "g.db",
	} {
		s, err := open.Open(t.Context(), url, open.Options{})
		if err != nil {
			t.Errorf("%s: %v", url, err)
			continue
		}
		if !strings.HasSuffix(s.URL(), want) {
			t.Errorf("%s opened %s", url, s.URL())
		}
		if err := s.Close(); err != nil {
			t.Errorf("%s: %v", url, err)
		}
	}
	if s, err := open.Open(t.Context(), "none:", open.Options{}); s != nil || err != nil {
		t.Errorf("none: gave %v (%v)", s, err)
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Chdir(t.TempDir())
	for url, want := range map[string]string{
		"sqlite:": "path", "memory:x": "nothing can follow", "none:x": "nothing can follow", "": "a path is missing",
		"redis://:secret@127.0.0.1:1": "redis://127.0.0.1:1: dial", "rediss://:se cret@host": "cannot be read", "redis://:secret@host/x": "database number",
		"postgres://user:secret@127.0.0.1:1/db": "cannot be reached", "postgres://user:secret@host:port/db": "no URL", "postgres:db?password=secret": "no URL",
		"file:": "a folder is missing", "sqlite:s.db?synchronous=off": "synchronous is FULL or NORMAL, not", "mysql://secret@host": "unknown kind",
		"redis+sentinel://:secret@host": "redis+sentinel:", "MySQL://u:secret@host": "unknown kind", "my_sql://u:secret@host": "unknown kind",
		"Postgres://user:secret@127.0.0.1:1/db": "cannot be reached", "REDIS://:secret@127.0.0.1:1": "redis://127.0.0.1:1: dial",
		"host=h password=secret": "postgres://USER@HOST", "password = 'secret://x' host=h": "postgres://USER@HOST", "memory://u:secret@h": "nothing can follow",
		"sqlite:d.db?bogus=1": "no option \"bogus\"", "d.db?mode=ro": "no option \"mode\"", "d.db?bogus=secret&synchronous=FULL": "no option",
	} {
		s, err := open.Open(t.Context(), url, open.Options{})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: error %v, want one with %q and no secret", url, err, want)
		}
		if s != nil {
			t.Errorf("%q: a store with an error", url)
		}
	}
	if made, err := os.ReadDir("."); err != nil || len(made) > 0 {
		t.Errorf("what was refused made %v (%v)", made, err)
	}
}

func TestPath(t *testing.T) {
	for url, want := range map[string]string{
		"a.db": "a.db", "sqlite:a.db": "a.db", "sqlite:a.db?synchronous=NORMAL": "a.db", "sqlite:a?b.db": "a?b.db", "file:d": "d",
		"sqlite:": "", "memory:": "", "none:": "", "redis://h": "", "redis+sentinel://h": "", "host=h password=x": "", "a.db?bogus=1": "", "SQLite:b.db": "b.db", "postgres:///db?host=/run": "",
	} {
		if path, local := open.Path(url); local != (want != "") || local && path != want {
			t.Errorf("%q: %q (%v), want %q", url, path, local, want)
		}
	}
}
