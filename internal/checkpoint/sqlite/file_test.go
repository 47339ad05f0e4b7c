package sqlite_test

import (
	"bytes"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/sqlite"
)

func put(t *testing.T, s *sqlite.Store, thread string) {
	t.Helper()
	if _, err := s.Put(t.Context(), checkpoint.Checkpoint{Thread: thread, Step: 1, Channels: checkpoint.Channels{"a": []byte("1")}}, nil); err != nil {
		t.Fatal(err)
	}
}

func mode(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

func TestModes(t *testing.T) {
	for _, mask := range []int{0, 0o077, 0o277} {
		func() {
			defer syscall.Umask(syscall.Umask(mask))
			path := filepath.Join(t.TempDir(), "folder", "store.db")
			s := open(t, path, sqlite.Options{})
			put(t, s, "t")
			if err := s.Backup(t.Context(), path+".copy"); err != nil {
				t.Fatal(err)
			}
			for _, file := range []string{path, path + "-wal", path + "-shm", path + ".copy"} {
				if m := mode(t, file); m != 0o600 {
					t.Errorf("umask %#o: %s has mode %#o", mask, filepath.Base(file), m)
				}
			}
			if m := mode(t, filepath.Dir(path)); m != 0o700 {
				t.Errorf("umask %#o: the folder has mode %#o", mask, m)
			}
			if w := s.Warnings(); len(w) != 0 {
				t.Errorf("warnings: %q", w)
			}
		}()
	}
}

func TestLooseModesAreReported(t *testing.T) {
	path := filepath.Join(t.TempDir(), "folder", "store.db")
	open(t, path, sqlite.Options{}).Close()
	for file, m := range map[string]fs.FileMode{path: 0o640, filepath.Dir(path): 0o755} {
		if err := os.Chmod(file, m); err != nil {
			t.Fatal(err)
		}
	}
	w := open(t, path, sqlite.Options{}).Warnings()
	if len(w) == 0 || !strings.Contains(w[0], "0640") || strings.Contains(strings.Join(w, ""), "0755") {
		t.Errorf("warnings: %q", w)
	}
}

// refuse opens what must be refused and left as it is.
func refuse(t *testing.T, path string, want error) error {
	t.Helper()
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err == nil {
		s.Close()
	}
	if !errors.Is(err, want) {
		t.Fatalf("error %v, want %v", err, want)
	}
	after, err2 := os.ReadFile(path)
	if err2 != nil || !bytes.Equal(before, after) {
		t.Error("the file was changed")
	}
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
		t.Errorf("files were left: %v", entries)
	}
	return err
}

func TestForeignFiles(t *testing.T) {
	for name, content := range map[string]string{"text": "hello", "long text": strings.Repeat("hello ", 1000), "cut off": "SQLite format 3\x00"} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x")
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			refuse(t, path, checkpoint.ErrForeign)
		})
	}
	for name, pragma := range map[string]string{"no mark": "user_version = 0", "version of its own": "user_version = 1", "another mark": "application_id = 7"} {
		t.Run("sqlite, "+name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.db")
			db := rawDB(t, path)
			if _, err := db.Exec("CREATE TABLE threads (id); PRAGMA " + pragma); err != nil {
				t.Fatal(err)
			}
			db.Close()
			refuse(t, path, checkpoint.ErrForeign)
		})
	}
}

func TestNewerSchema(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	open(t, path, sqlite.Options{}).Close()
	db := rawDB(t, path)
	if _, err := db.Exec("PRAGMA user_version = 99"); err != nil {
		t.Fatal(err)
	}
	db.Close()
	if err := refuse(t, path, checkpoint.ErrNewerSchema); !strings.Contains(err.Error(), "99") {
		t.Errorf("%q does not tell the version", err)
	}
}

func TestPaths(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a b.db", "a?b=c#d.db", "100%25.db", "ü'\".db", "deep/er/x.db"} {
		path := filepath.Join(dir, name)
		s := open(t, path, sqlite.Options{})
		put(t, s, "t")
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{dir: "folder", filepath.Join(file, "x.db"): "not a directory", "": "empty", os.DevNull: "regular file"} {
		if _, err := sqlite.Open(t.Context(), path, sqlite.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", path, err, want)
		}
	}
	if _, err := sqlite.Open(t.Context(), filepath.Join(dir, "y.db"), sqlite.Options{Synchronous: "OFF"}); err == nil {
		t.Error("synchronous OFF was taken")
	}
}

// TestUnfinishedFile has a file whose making was cut short by a death: for who only reads there is no store, and who writes
// makes it.
func TestUnfinishedFile(t *testing.T) {
	for name, made := range map[string]string{"empty": "", "marked": "PRAGMA application_id = 1212765260", "in WAL mode": "PRAGMA application_id = 1212765260; PRAGMA journal_mode = WAL"} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "store.db")
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := rawDB(t, path).Exec(made); err != nil {
				t.Fatal(err)
			}
			if _, err := sqlite.Open(t.Context(), path, sqlite.Options{ReadOnly: true}); !errors.Is(err, checkpoint.ErrNotFound) {
				t.Errorf("error %v, want ErrNotFound", err)
			}
			put(t, open(t, path, sqlite.Options{}), "t")
		})
	}
}

func TestReadOnly(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "folder", "store.db")
	if _, err := sqlite.Open(t.Context(), path, sqlite.Options{ReadOnly: true}); !errors.Is(err, checkpoint.ErrNotFound) {
		t.Fatalf("error %v, want ErrNotFound", err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 0 {
		t.Fatalf("created: %v", entries)
	}
	w := open(t, path, sqlite.Options{})
	put(t, w, "t")
	r := open(t, path, sqlite.Options{ReadOnly: true})
	put(t, w, "later")
	if page, err := r.Threads(t.Context(), checkpoint.Query{}); err != nil || len(page.Threads) != 2 {
		t.Fatalf("%d threads (%v), want 2", len(page.Threads), err)
	}
	if _, err := r.Latest(t.Context(), "t"); err != nil {
		t.Error(err)
	}
	for name, err := range map[string]error{
		"put":    func() error { _, err := r.Put(t.Context(), checkpoint.Checkpoint{Thread: "x"}, nil); return err }(),
		"claim":  r.Claim(t.Context(), "t", "ann", time.Minute),
		"delete": r.DeleteThread(t.Context(), "t"),
		"prune": func() error {
			_, err := r.Prune(t.Context(), checkpoint.PruneQuery{All: true, BeforeStep: 1})
			return err
		}(),
		"compact": r.Compact(t.Context(), nil),
	} {
		if !errors.Is(err, checkpoint.ErrReadOnly) {
			t.Errorf("%s: error %v, want ErrReadOnly", name, err)
		}
	}
	w.Close()
	again := open(t, path, sqlite.Options{ReadOnly: true})
	if _, err := again.Latest(t.Context(), "later"); err != nil {
		t.Error(err)
	}
}

func TestBackup(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s := open(t, path, sqlite.Options{})
	put(t, s, "t")
	if err := s.Backup(t.Context(), path); err == nil {
		t.Fatal("a backup over the store itself was taken")
	}
	if err := s.Backup(t.Context(), path+".copy"); err != nil {
		t.Fatal(err)
	}
	put(t, s, "later")
	c := open(t, path+".copy", sqlite.Options{})
	put(t, c, "in the copy")
	page, err := c.Threads(t.Context(), checkpoint.Query{Sort: checkpoint.SortName})
	if err != nil || len(page.Threads) != 2 || page.Threads[1].Thread != "t" {
		t.Fatalf("%v (%v)", page.Threads, err)
	}
	integrity(t, path+".copy")
}

func TestCompactGivesSpaceBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s := open(t, path, sqlite.Options{})
	for step := range int64(40) {
		big := checkpoint.Channels{"a": []byte(`"` + strings.Repeat("x", 100_000) + `"`)}
		if _, err := s.Put(t.Context(), checkpoint.Checkpoint{Thread: "t", Step: step, Channels: big}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Prune(t.Context(), checkpoint.PruneQuery{All: true, BeforeStep: 39}); err != nil {
		t.Fatal(err)
	}
	before, err := s.Stats(t.Context())
	if err != nil || before.FreeBytes < 3_000_000 {
		t.Fatalf("%+v (%v): want more to give back", before, err)
	}
	var done, total int64
	if err := s.Compact(t.Context(), func(d, t int64) { done, total = d, t }); err != nil {
		t.Fatal(err)
	}
	after, err := s.Stats(t.Context())
	if err != nil || after.FreeBytes != 0 {
		t.Errorf("%+v (%v): want nothing left to give back", after, err)
	}
	if done != total || total != before.FreeBytes {
		t.Errorf("progress ended at %d of %d, want %d", done, total, before.FreeBytes)
	}
	s.Close()
	if info, err := os.Stat(path); err != nil || info.Size() > 500_000 {
		t.Errorf("the file has %d bytes (%v)", info.Size(), err)
	}
}

func integrity(t *testing.T, path string) {
	t.Helper()
	var result string
	if err := rawDB(t, path).QueryRow("PRAGMA integrity_check").Scan(&result); err != nil || result != "ok" {
		t.Fatalf("integrity_check: %s (%v)", result, err)
	}
}

// rawDB opens the file beside the store.
func rawDB(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}
