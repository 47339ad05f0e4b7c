package open_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint/open"
	"github.com/hitl-tui/hitl-tui/internal/redact"
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
	var shown redact.Rules
	t.Chdir(t.TempDir())
	for url, want := range map[string]string{
		"sqlite:": "path", "memory:x": "nothing can follow", "none:x": "nothing can follow", "": "a path is missing",
		"redis://:secret@127.0.0.1:1": "redis://127.0.0.1:1 cannot be reached: dial", "rediss://:se cret@host": "cannot be read", "redis://:secret@host/x": "number of a database",
		"postgres://user:secret@127.0.0.1:1/db": "cannot be reached", "postgres://user:pw@host:secret/db": "number of a port", "postgres:db?password=secret": "two slashes",
		"redis:secret": "write redis://HOST", "redis:///0": "no host", "redis://:secret@": "no host", "redis://:6379": "no host", "redis://:se%ZZcret@h": "%25", "redis://h:secret": "number of a port",
		"redis://h?passwrd=secret": "no option \"passwrd\"", "redis://h?prefx=secret": "did you mean \"prefix\"", "redis://h?db=secret": "of the option db cannot", "redis://h/secret": "number of a database",
		"redis://h?read_timeout=secret": "of the option read_timeout cannot", "redis://h/0#secret": "%23", "postgres://u@h/d#secret": "%23", "postgres://u:se%ZZcret@h/d": "%25",
		"postgres://127.0.0.1:1/x?passwrd=secret": "postgres://127.0.0.1:1/x cannot be reached", "postgres://h/x?sslmode=verify-al&sslkey=secret": "of the option ss",
		"postgres://h/x?connect_timeout=secret": "of the option connect_timeout cannot", "postgres://u@h/x?pool_max_conns=secret": "of the option pool_max_conns cannot",
		"sqlite://u:secret@h/x.db": "write sqlite:PATH", "sqlite://x.db": "write sqlite:PATH", "file://secret/dir": "write file:PATH", "FILE://u:secret@h": "write file:PATH",
		"file:": "a folder is missing", "sqlite:s.db?synchronous=off": "synchronous is FULL or NORMAL, not", "mysql://secret@host": "unknown kind",
		"redis+sentinel://:secret@host": "redis+sentinel:", "MySQL://u:secret@host": "unknown kind", "my_sql://u:secret@host": "unknown kind",
		"Postgres://user:secret@127.0.0.1:1/db": "cannot be reached", "REDIS://:secret@127.0.0.1:1": "redis://127.0.0.1:1 cannot be reached: dial",
		"host=h password=secret": "postgres://USER@HOST", "password = 'secret://x' host=h": "postgres://USER@HOST", "memory://u:secret@h": "nothing can follow",
		"sqlite:d.db?bogus=1": "no option \"bogus\"", "d.db?mode=ro": "no option \"mode\"", "d.db?bogus=secret&synchronous=FULL": "no option",
	} {
		s, err := open.Open(t.Context(), url, open.Options{})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: error %v, want one with %q and no secret", url, err, want)
		}
		if err != nil && shown.Text(err.Error()) != err.Error() { // it would hide what is wrong
			t.Errorf("%q: %v is shown as %s", url, err, shown.Text(err.Error()))
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
		"sqlite:": "", "memory:": "", "none:": "", "redis://h": "", "redis+sentinel://h": "", "host=h password=x": "", "a.db?bogus=1": "", "SQLite:b.db": "b.db", "sqlite://h/b.db": "", "file://h/d": "", "file:///d": "///d", "postgres:///db?host=/run": "",
	} {
		if path, local := open.Path(url); local != (want != "") || local && path != want {
			t.Errorf("%q: %q (%v), want %q", url, path, local, want)
		}
	}
}
