package postgres_test

import (
	"math/rand/v2"
	"net/url"
	"testing"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/checkpointtest"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/checkpointtest/procs"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/checkpointtest/servers"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/postgres"
)

func TestMain(m *testing.M) { procs.Main(m) }

// TestContract does not wait for the disk, which the contract has nothing to say about.
func TestContract(t *testing.T) {
	checkpointtest.Run(t, unsynced)
}

func unsynced(t *testing.T, now func() time.Time) checkpoint.Store {
	return open(t, servers.With(t, servers.PostgresStore(t), "synchronous_commit", "off"), postgres.Options{Now: now})
}

func TestTampered(t *testing.T) {
	checkpointtest.RunTampered(t, unsynced, func(t *testing.T, s checkpoint.Store, thread string, rows []*checkpoint.Decision) {
		if err := s.(*postgres.Store).Rewrite(t.Context(), thread, rows); err != nil {
			t.Fatal(err)
		}
	})
}

func TestProcesses(t *testing.T) {
	t.Parallel()
	procs.Run(t, servers.PostgresStore)
}

func TestServerKilled(t *testing.T) {
	t.Parallel()
	procs.KillServer(t, servers.StartPostgres(t))
}

func open(t testing.TB, url string, o postgres.Options) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), url, o)
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

// resting is the commit that begins a thread and lets it rest.
func resting(thread string) checkpoint.Commit {
	c := checkpointtest.First(thread)
	c.Release = true
	return c
}

func put(t *testing.T, s *postgres.Store, thread string) {
	t.Helper()
	if _, err := s.Put(t.Context(), checkpoint.Checkpoint{Thread: thread, Channels: checkpoint.Channels{"a": []byte("1")}}, nil); err != nil {
		t.Fatal(err)
	}
}

func schemaOf(t testing.TB, raw string) string {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u.Query().Get("search_path")
}

// random is a text that cannot be compressed much.
func random(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_"[rand.IntN(64)]
	}
	return string(b)
}
