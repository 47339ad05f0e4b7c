package postgres_test

import (
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/checkpointtest"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/checkpointtest/procs"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/checkpointtest/servers"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/inspect"
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

func TestTampered(t *testing.T) { checkpointtest.RunTampered(t, unsynced, rewrite) }

func rewrite(t *testing.T, s checkpoint.Store, thread string, rows []*checkpoint.Decision) {
	if err := s.(*postgres.Store).Rewrite(t.Context(), thread, rows); err != nil {
		t.Fatal(err)
	}
}

func TestDamaged(t *testing.T) {
	checkpointtest.RunDamaged(t, unsynced, checkpointtest.Damage{
		Rows: rewrite,
		RemoveRow: func(t *testing.T, s checkpoint.Store, thread string) {
			edit(t, s, "DELETE FROM threads WHERE thread = $1", thread)
		},
		Row: func(t *testing.T, s checkpoint.Store, thread string, change func(*checkpoint.ThreadInfo)) {
			info, err := s.Thread(t.Context(), thread)
			if err != nil {
				t.Fatal(err)
			}
			change(info)
			place := checkpoint.KeyOf(info, checkpoint.SortDue)
			edit(t, s, `UPDATE threads SET step = $1, phase = $2, title = $3, questions = $4, due = $5, waiting = $6, workflow = $7,
				decisions = $8, decision_hash = $9 WHERE thread = $10`, info.Step, string(info.Phase), info.Title, info.Questions, place.First,
				place.Second, info.Workflow, info.Decisions, info.DecisionHash, thread)
		},
		RemoveStep: func(t *testing.T, s checkpoint.Store, thread string, step int64) {
			edit(t, s, "DELETE FROM checkpoints WHERE thread = $1 AND step = $2", thread, step)
		},
		Record: func(t *testing.T, s checkpoint.Store, thread string, step int64, old, new string) {
			edit(t, s, "UPDATE checkpoints SET record = replace(record, $1, $2) WHERE thread = $3 AND step = $4", old, new, thread, step)
		},
		Stone: func(t *testing.T, s checkpoint.Store, thread string, b *checkpoint.Tombstone) {
			if b == nil {
				edit(t, s, "DELETE FROM tombstones WHERE thread = $1", thread)
				return
			}
			edit(t, s, "UPDATE tombstones SET decisions = $1, decision_hash = $2 WHERE thread = $3", b.Decisions, b.DecisionHash, thread)
		},
	})
}

func edit(t *testing.T, s checkpoint.Store, text string, args ...any) {
	t.Helper()
	if err := s.(*postgres.Store).Edit(t.Context(), text, args...); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

// TestSchemaDamage takes the schema apart, a piece at a time.
func TestSchemaDamage(t *testing.T) {
	for text, want := range map[string]string{
		"UPDATE phases SET n = n + 1 WHERE phase = 'interrupted'": "as interrupted",
		"DROP TABLE results":            "the table results is missing",
		"DROP TABLE phases":             "the table phases is missing",
		"DROP TABLE decisions":          "the table decisions is missing",
		"DROP INDEX threads_by_waiting": "the index threads_by_waiting is missing",
		"ALTER TABLE checkpoints DROP CONSTRAINT checkpoints_pkey": "the index checkpoints_pkey is missing",
		"ALTER TABLE decisions DROP COLUMN reviewer":               "the column reviewer of the table decisions is missing",
		"DROP TRIGGER threads_moved ON threads":                    "the trigger threads_moved is missing",
		"ALTER TABLE threads DISABLE TRIGGER threads_moved":        "the trigger threads_moved is switched off",
		"DROP FUNCTION settled_seq":                                "the function settled_seq is missing",
	} {
		t.Run(text, func(t *testing.T) {
			s := unsynced(t, nil).(*postgres.Store)
			checkpointtest.Chain(t, s, "t", 3)
			commit := resting("u")
			commit.Summary.Phase = checkpoint.Interrupted
			if _, err := s.Commit(t.Context(), commit); err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{"", want} {
				r, err := inspect.Run(t.Context(), s, inspect.Options{States: true})
				if err != nil {
					t.Fatal(err)
				}
				found := slices.ContainsFunc(r.Faults, func(f checkpoint.Fault) bool { return strings.Contains(f.Text, want) })
				if want == "" && len(r.Faults) > 0 || want != "" && !found {
					t.Fatalf("%+v, want %q", r.Faults, want)
				}
				if want == "" {
					edit(t, s, text)
				}
			}
		})
	}
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
