package sqlite_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/checkpointtest"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/sqlite"
)

func TestCorruptRow(t *testing.T) {
	for name, damage := range map[string]string{
		"state":    "UPDATE checkpoints SET state = CAST(substr(state, 1, length(state) - 1) || 'x' AS BLOB) WHERE thread = 'bad' AND step = 2",
		"cut off":  "UPDATE checkpoints SET state = x'' WHERE thread = 'bad' AND step = 2",
		"record":   "UPDATE checkpoints SET record = '{' WHERE thread = 'bad' AND step = 2",
		"no frame": "DELETE FROM checkpoints WHERE thread = 'bad' AND step = 0",
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "store.db")
			s := open(t, path, sqlite.Options{})
			checkpointtest.Chain(t, s, "bad", 5)
			checkpointtest.Chain(t, s, "good", 5)
			if _, err := rawDB(t, path).Exec(damage); err != nil {
				t.Fatal(err)
			}
			_, err := s.Get(t.Context(), "bad", 2)
			var corrupt *checkpoint.CorruptError
			if !errors.As(err, &corrupt) || corrupt.Thread != "bad" {
				t.Fatalf("error %v, want a CorruptError that names the thread", err)
			}
			if name != "no frame" && corrupt.Step != 2 {
				t.Errorf("it names step %d, want 2", corrupt.Step)
			}
			found := false
			for _, err := range s.History(t.Context(), "bad", true) {
				found = found || errors.Is(err, checkpoint.ErrCorrupt)
			}
			if !found {
				t.Error("the history tells nothing of it")
			}
			if c, err := s.Latest(t.Context(), "good"); err != nil || c.Step != 4 {
				t.Errorf("the other thread: %v", err)
			}
			if page, err := s.Threads(t.Context(), checkpoint.Query{}); err != nil || len(page.Threads) != 2 {
				t.Errorf("the list: %v", err)
			}
		})
	}
}

func TestMissingHead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s := open(t, path, sqlite.Options{})
	checkpointtest.Chain(t, s, "bad", 5)
	if _, err := rawDB(t, path).Exec("DELETE FROM checkpoints WHERE step = 4"); err != nil {
		t.Fatal(err)
	}
	var corrupt *checkpoint.CorruptError
	if _, err := s.Latest(t.Context(), "bad"); !errors.As(err, &corrupt) || corrupt.Step != 4 {
		t.Errorf("error %v, want a CorruptError that names the step", err)
	}
}

func TestTamperedDecisions(t *testing.T) {
	for name, c := range map[string]struct{ damage, names string }{
		"changed":       {"UPDATE decisions SET reviewer = 'eve' WHERE n = 2", "tb"},
		"first removed": {"DELETE FROM decisions WHERE n = 1", "tb"},
		"last removed":  {"DELETE FROM decisions WHERE n = 3", "row 3"},
		"reordered":     {"UPDATE decisions SET n = 9 - n; UPDATE decisions SET n = n - 5", "row 1"},
		"rehashed":      {"UPDATE decisions SET hash = 'x' WHERE n = 3", "tc"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "store.db")
			s := open(t, path, sqlite.Options{})
			checkpointtest.Chain(t, s, "t", 1)
			if _, err := rawDB(t, path).Exec(c.damage); err != nil {
				t.Fatal(err)
			}
			info, err := s.Thread(t.Context(), "t")
			if err != nil {
				t.Fatal(err)
			}
			err = checkpoint.VerifyChain("t", s.Decisions(t.Context(), "t"), checkpoint.Chain{Count: info.Decisions, Last: info.DecisionHash})
			if !errors.Is(err, checkpoint.ErrCorrupt) || !strings.Contains(err.Error(), c.names) {
				t.Errorf("error %v, want one that names %s", err, c.names)
			}
		})
	}
}

func TestLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s := open(t, path, sqlite.Options{BusyTimeout: 20 * time.Millisecond})
	put(t, s, "t")
	db := rawDB(t, path)
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	_, err = s.Put(t.Context(), checkpoint.Checkpoint{Thread: "u"}, nil)
	if !errors.Is(err, checkpoint.ErrLocked) {
		t.Errorf("error %v, want ErrLocked", err)
	}
	if _, err := s.Latest(t.Context(), "t"); err != nil {
		t.Errorf("a reader beside a writer: %v", err)
	}
	if _, err := conn.ExecContext(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	put(t, s, "u")
}

func TestTornLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s := open(t, path, sqlite.Options{})
	checkpointtest.Chain(t, s, "t", 30)
	copied := filepath.Join(t.TempDir(), "copy.db")
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if suffix != "" {
			data = data[:len(data)*2/3]
		}
		if err := os.WriteFile(copied+suffix, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := open(t, copied, sqlite.Options{})
	head, err := c.Latest(t.Context(), "t")
	if err != nil || head.Step < 1 || head.Step > 28 {
		t.Fatalf("head %v (%v), want a step that is whole in what is left", head, err)
	}
	integrity(t, copied)
}

func TestClosed(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "store.db"), sqlite.Options{})
	put(t, s, "t")
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Put(t.Context(), checkpoint.Checkpoint{Thread: "u"}, nil); err == nil {
		t.Error("a closed store took a put")
	}
	if _, err := s.Watch(t.Context()); err == nil {
		t.Error("a closed store took a watcher")
	}
}
