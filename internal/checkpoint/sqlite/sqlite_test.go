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

func TestTampered(t *testing.T) { checkpointtest.RunTampered(t, fresh, rewrite) }

func TestDamaged(t *testing.T) {
	checkpointtest.RunDamaged(t, fresh, checkpointtest.Damage{
		Rows: rewrite,
		RemoveRow: func(t *testing.T, s checkpoint.Store, thread string) {
			edit(t, s, "DELETE FROM threads WHERE thread = ?", thread)
		},
		Row: func(t *testing.T, s checkpoint.Store, thread string, change func(*checkpoint.ThreadInfo)) {
			info, err := s.Thread(t.Context(), thread)
			if err != nil {
				t.Fatal(err)
			}
			change(info)
			place := checkpoint.KeyOf(info, checkpoint.SortDue)
			edit(t, s, `UPDATE threads SET step = ?, phase = ?, title = ?, questions = ?, due = ?, waiting = ?, workflow = ?, decisions = ?,
				decision_hash = ? WHERE thread = ?`, info.Step, string(info.Phase), info.Title, info.Questions, place.First, place.Second,
				info.Workflow, info.Decisions, info.DecisionHash, thread)
		},
		RemoveStep: func(t *testing.T, s checkpoint.Store, thread string, step int64) {
			edit(t, s, "DELETE FROM checkpoints WHERE thread = ? AND step = ?", thread, step)
		},
		Record: func(t *testing.T, s checkpoint.Store, thread string, step int64, old, new string) {
			edit(t, s, "UPDATE checkpoints SET record = replace(record, ?, ?) WHERE thread = ? AND step = ?", old, new, thread, step)
		},
		Stone: func(t *testing.T, s checkpoint.Store, thread string, b *checkpoint.Tombstone) {
			if b == nil {
				edit(t, s, "DELETE FROM tombstones WHERE thread = ?", thread)
				return
			}
			edit(t, s, "UPDATE tombstones SET decisions = ?, decision_hash = ? WHERE thread = ?", b.Decisions, b.DecisionHash, thread)
		},
	})
}

// edit changes the file of a store behind its back; something must change.
func edit(t *testing.T, s checkpoint.Store, text string, args ...any) {
	t.Helper()
	db, err := sql.Open("sqlite", strings.TrimPrefix(s.URL(), "sqlite:"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	r, err := db.Exec(text, args...)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := r.RowsAffected(); err != nil || n == 0 {
		t.Fatalf("%s: %d rows (%v)", text, n, err)
	}
}

func rewrite(t *testing.T, s checkpoint.Store, thread string, rows []*checkpoint.Decision) {
	edit(t, s, "DELETE FROM decisions WHERE thread = ?", thread)
	for _, d := range rows {
		edit(t, s, `INSERT INTO decisions (thread, n, decision, response, step, revision, interrupt, key, address, path, action, data, comment,
			reviewer, decided_at, waited, shown_hash, outcome, withdraws, prev_hash, hash)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, d.Thread, d.N, d.ID, d.ResponseID, d.Version.Step, d.Version.Revision,
			d.Interrupt, d.Key, d.Address, d.Path, d.Action, []byte(d.Data), d.Comment, d.Reviewer, d.DecidedAt.UnixMicro(), d.WaitedSeconds,
			d.ShownHash, string(d.Outcome), d.Withdraws, d.PrevHash, d.Hash)
	}
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
