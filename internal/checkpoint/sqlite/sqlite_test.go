package sqlite_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/checkpointtest"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/checkpointtest/procs"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/sqlite"
)

func TestContract(t *testing.T) {
	checkpointtest.Run(t, func(t *testing.T, now func() time.Time) checkpoint.Store {
		return open(t, filepath.Join(t.TempDir(), "store.db"), sqlite.Options{Now: now})
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
