package sqlite_test

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/checkpointtest"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/checkpointtest/procs"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/sqlite"
)

func TestContract(t *testing.T) {
	checkpointtest.Run(t, fresh)
}

func fresh(t *testing.T, now func() time.Time) checkpoint.Store {
	return open(t, filepath.Join(t.TempDir(), "store.db"), sqlite.Options{Now: now})
}

func TestTampered(t *testing.T) {
	checkpointtest.RunTampered(t, fresh, func(t *testing.T, s checkpoint.Store, thread string, rows []*checkpoint.Decision) {
		db, err := sql.Open("sqlite", strings.TrimPrefix(s.URL(), "sqlite:"))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if _, err = db.Exec("DELETE FROM decisions WHERE thread = ?", thread); err != nil {
			t.Fatal(err)
		}
		for _, d := range rows {
			_, err := db.Exec(`INSERT INTO decisions (thread, n, decision, response, step, revision, interrupt, key, address, path, action, data, comment,
				reviewer, decided_at, waited, shown_hash, outcome, withdraws, prev_hash, hash)
				VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, d.Thread, d.N, d.ID, d.ResponseID, d.Version.Step, d.Version.Revision,
				d.Interrupt, d.Key, d.Address, d.Path, d.Action, []byte(d.Data), d.Comment, d.Reviewer, d.DecidedAt.UnixMicro(), d.WaitedSeconds,
				d.ShownHash, string(d.Outcome), d.Withdraws, d.PrevHash, d.Hash)
			if err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestMain(m *testing.M) { procs.Main(m) }

func TestProcesses(t *testing.T) {
	procs.Run(t, func(t testing.TB) string { return "sqlite:" + filepath.Join(t.TempDir(), "deep", "er", "store.db") })
}

func open(t *testing.T, path string, o sqlite.Options) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}
