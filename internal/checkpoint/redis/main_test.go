package redis_test

import (
	"strings"
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

func TestTampered(t *testing.T) { checkpointtest.RunTampered(t, fresh, rewrite) }

func rewrite(t *testing.T, s checkpoint.Store, thread string, rows []*checkpoint.Decision) {
	done(t, s.(*redis.Store).Rewrite(t.Context(), thread, rows))
}

func TestDamaged(t *testing.T) {
	checkpointtest.RunDamaged(t, fresh, checkpointtest.Damage{
		Rows: rewrite,
		RemoveRow: func(t *testing.T, s checkpoint.Store, thread string) {
			done(t, s.(*redis.Store).RemoveRow(t.Context(), thread))
		},
		Row: func(t *testing.T, s checkpoint.Store, thread string, change func(*checkpoint.ThreadInfo)) {
			done(t, s.(*redis.Store).ChangeRow(t.Context(), thread, change))
		},
		RemoveStep: func(t *testing.T, s checkpoint.Store, thread string, step int64) {
			done(t, s.(*redis.Store).RemoveStep(t.Context(), thread, step))
		},
		Record: func(t *testing.T, s checkpoint.Store, thread string, step int64, old, new string) {
			done(t, s.(*redis.Store).ChangeRecord(t.Context(), thread, step, old, new))
		},
		Stone: func(t *testing.T, s checkpoint.Store, thread string, b *checkpoint.Tombstone) {
			done(t, s.(*redis.Store).ChangeStone(t.Context(), thread, b))
		},
	})
}

// TestLostPlaces takes a thread out of the sorted sets by which it is listed, one by one.
func TestLostPlaces(t *testing.T) {
	for _, set := range []string{"by:name", "by:tail", "by:due:interrupted", "by:waiting:interrupted"} {
		t.Run(set, func(t *testing.T) {
			s := fresh(t, nil).(*redis.Store)
			for _, thread := range []string{"t", "u"} {
				c := checkpointtest.First(thread)
				c.Release, c.Summary.Phase = true, checkpoint.Interrupted
				commit(t, s, c)
			}
			faults, err := s.Check(t.Context())
			if err != nil || len(faults) > 0 {
				t.Fatalf("%q (%v)", faults, err)
			}
			done(t, s.Forget(t.Context(), "t", set))
			if faults, err = s.Check(t.Context()); err != nil || len(faults) != 1 || !strings.Contains(faults[0], "thread t is not in") || !strings.Contains(faults[0], set) {
				t.Errorf("%q (%v)", faults, err)
			}
		})
	}
}

func done(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
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
