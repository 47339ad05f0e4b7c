package file

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/verbatim"
)

// refuse opens a folder that must be refused and left as it is.
func refuse(t *testing.T, folder string, want error) error {
	t.Helper()
	before := contents(t, folder)
	s, err := Open(t.Context(), folder, Options{})
	if err == nil {
		s.Close()
	}
	if !errors.Is(err, want) {
		t.Fatalf("error %v, want %v", err, want)
	}
	if after := contents(t, folder); after != before {
		t.Errorf("it was changed: %s", after)
	}
	return err
}

func contents(t *testing.T, folder string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		b.WriteString(path + "=" + string(data) + ";")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func formatOf(t *testing.T, f format) string {
	t.Helper()
	page, err := verbatim.PageOf(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(page.Seal())
}

func TestForeignFolders(t *testing.T) {
	ours := formatOf(t, format{storeMark, formatVersion})
	for name, c := range map[string]struct {
		file, text string
		want       error
	}{
		"somebody's files":       {"notes.txt", "mine", checkpoint.ErrForeign},
		"another program's mark": {"format.json", `{"version": 1}`, checkpoint.ErrForeign},
		"sealed like ours":       {"format.json", formatOf(t, format{"other", 1}), checkpoint.ErrForeign},
		"a newer version":        {"format.json", formatOf(t, format{storeMark, formatVersion + 1}), checkpoint.ErrNewerSchema},
		"a flipped byte":         {"format.json", strings.Replace(ours, "1", "0", 1), checkpoint.ErrCorrupt},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			if err := os.WriteFile(filepath.Join(folder, c.file), []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := refuse(t, folder, c.want); !strings.Contains(err.Error(), folder) {
				t.Errorf("%q does not name the folder", err)
			}
		})
	}
}

func TestFolders(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a b", "a?b=c#d", "100%25", "ü'\"", "deep/er/x"} {
		s, err := Open(t.Context(), filepath.Join(dir, name), Options{})
		if err != nil {
			t.Fatal(err)
		}
		put(t, s, "t")
		s.Close()
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for folder, want := range map[string]string{"": "not named", file: "not a directory", filepath.Join(file, "x"): "not a directory"} {
		if _, err := Open(t.Context(), folder, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", folder, err, want)
		}
	}
}

func TestLooseModesAreReported(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "store")
	s := openUnsynced(t, folder, Options{})
	put(t, s, "t")
	for name, mode := range map[string]fs.FileMode{".": 0o755, "journal.jsonl": 0o644} {
		if err := os.Chmod(filepath.Join(folder, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	w := openUnsynced(t, folder, Options{}).Warnings()
	if len(w) != 1 || !strings.Contains(w[0], "0644") || !strings.Contains(w[0], "chmod") {
		t.Errorf("warnings: %q", w)
	}
}

func TestReadOnly(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "store")
	if _, err := Open(t.Context(), folder, Options{ReadOnly: true}); !errors.Is(err, checkpoint.ErrNotFound) {
		t.Fatalf("error %v, want ErrNotFound", err)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 0 {
		t.Fatalf("created: %v", entries)
	}
	w := openUnsynced(t, folder, Options{})
	put(t, w, "t")
	before := contents(t, folder)
	r := openUnsynced(t, folder, Options{ReadOnly: true})
	if page, err := r.Threads(t.Context(), checkpoint.Query{}); err != nil || len(page.Threads) != 1 {
		t.Fatalf("%d threads (%v), want 1", len(page.Threads), err)
	}
	for name, err := range map[string]error{
		"put":    func() error { _, err := r.Put(t.Context(), checkpoint.Checkpoint{Thread: "x"}, nil); return err }(),
		"claim":  r.Claim(t.Context(), "t", "ann", time.Minute),
		"delete": r.DeleteThread(t.Context(), "t"),
		"define": r.PutDefinition(t.Context(), checkpoint.Definition{}),
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
	if after := contents(t, folder); after != before {
		t.Errorf("a read-only store changed something: %s", after)
	}
	put(t, w, "later")
	if page, err := r.Threads(t.Context(), checkpoint.Query{}); err != nil || len(page.Threads) != 2 {
		t.Errorf("%d threads (%v), want 2", len(page.Threads), err)
	}
}

// denied is a file system on which nothing can be written.
type denied struct{ unsynced }

func (denied) Write(name string, _ []byte) error {
	return &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
}

// lawless is a file system that takes a lock for granted.
type lawless struct{ unsynced }

func (lawless) Lock(string, bool) (func(), error) { return func() {}, nil }

func TestUnusableDisks(t *testing.T) {
	s, folder := newStore(t)
	s.disk = denied{}
	_, err := s.Put(t.Context(), checkpoint.Checkpoint{Thread: "t"}, nil)
	if !errors.Is(err, checkpoint.ErrReadOnly) || !strings.Contains(err.Error(), folder) {
		t.Errorf("error %v, want ErrReadOnly with the file", err)
	}
	if _, err := openOn(t.Context(), lawless{}, folder, Options{}); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("error %v, want one that tells of locks", err)
	}
}
