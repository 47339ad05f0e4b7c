package redis_test

import (
	"testing"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/checkpointtest"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/checkpointtest/procs"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/checkpointtest/servers"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/redis"
)

func TestMain(m *testing.M) { procs.Main(m) }

func TestProcesses(t *testing.T) { procs.Run(t, servers.RedisStore) }

func TestServerKilled(t *testing.T) {
	t.Parallel()
	procs.KillServer(t, servers.StartRedis(t, servers.Durable()...))
}

func TestContract(t *testing.T) {
	checkpointtest.Run(t, fresh)
}

func fresh(t *testing.T, now func() time.Time) checkpoint.Store {
	return open(t, servers.RedisStore(t), redis.Options{Now: now})
}

func TestTampered(t *testing.T) {
	checkpointtest.RunTampered(t, fresh, func(t *testing.T, s checkpoint.Store, thread string, rows []*checkpoint.Decision) {
		if err := s.(*redis.Store).Rewrite(t.Context(), thread, rows); err != nil {
			t.Fatal(err)
		}
	})
}

func open(t testing.TB, url string, o redis.Options) *redis.Store {
	t.Helper()
	s, err := redis.Open(t.Context(), url, o)
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

func commit(t testing.TB, s checkpoint.Store, c checkpoint.Commit) {
	t.Helper()
	if _, err := s.Commit(t.Context(), c); err != nil {
		t.Fatal(err)
	}
}

func seqOf(t *testing.T, s *redis.Store) int64 {
	t.Helper()
	c, err := s.Changes(t.Context(), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	return c.Seq
}

// waitFor follows wake-ups until there is a change after seen.
func waitFor(t *testing.T, s *redis.Store, wake <-chan struct{}, seen int64) {
	t.Helper()
	deadline := time.After(30 * time.Second)
	for seqOf(t, s) <= seen {
		select {
		case <-wake:
		case <-deadline:
			t.Fatal("nobody was woken")
		}
	}
}
