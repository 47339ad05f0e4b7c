package postgres_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/checkpointtest"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/checkpointtest/servers"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/postgres"
)

// TestLostCommit loses the connection before a COMMIT gets to the server, and after the server has carried it out: each
// write is told to have succeeded, and has happened once.
func TestLostCommit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]cut{"before it arrives": beforeCommit, "before its answer arrives": afterCommit} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, url := through(t, servers.PostgresStore(t))
			s := open(t, url, postgres.Options{})
			absent := int64(0)
			lease := checkpoint.LeaseRequest{Thread: "t", Token: "token", TTL: time.Hour, Answers: raws("1", "2"),
				Decisions: []checkpoint.Decision{{ID: "d1", ResponseID: "r1"}}}
			second := checkpointtest.Next(resting("t"))
			second.Lease, second.Release = "token", false
			for _, w := range []struct {
				name  string
				write func() error
			}{
				{"first commit", func() error { _, err := s.Commit(t.Context(), resting("t")); return err }},
				{"put", func() error { _, err := s.Put(t.Context(), checkpoint.Checkpoint{Thread: "u"}, &absent); return err }},
				{"lease", func() error {
					got, err := s.AcquireLease(t.Context(), lease)
					if err == nil && len(got.Answers) != 2 {
						t.Errorf("the lease has answers %q", got.Answers)
					}
					return err
				}},
				{"heartbeat", func() error { _, err := s.Heartbeat(t.Context(), "t", "token", time.Hour); return err }},
				{"result", func() error {
					return s.AddResult(t.Context(), "t", "token", checkpoint.PendingResult{Path: "a", Data: raws("1")[0]})
				}},
				{"commit", func() error { _, err := s.Commit(t.Context(), second); return err }},
				{"cancel", func() error { return s.RequestCancel(t.Context(), "t", "ann") }},
				{"release", func() error {
					return s.ReleaseLease(t.Context(), checkpoint.Release{Thread: "t", Token: "token", Decisions: []checkpoint.Decision{{ID: "d2"}}})
				}},
				{"claim", func() error { return s.Claim(t.Context(), "t", "ann", time.Hour) }},
				{"definition", func() error { return s.PutDefinition(t.Context(), checkpoint.Definition{Fingerprint: "f"}) }},
				{"delete", func() error { return s.DeleteThread(t.Context(), "u") }},
			} {
				p.arm(c, 1)
				if err := w.write(); err != nil {
					t.Fatalf("%s: %v", w.name, err)
				}
				if p.left() != 0 {
					t.Fatalf("%s: no connection was cut", w.name)
				}
			}
			afterLostCommits(t, s)
		})
	}
}

func raws(list ...string) []json.RawMessage {
	var out []json.RawMessage
	for _, raw := range list {
		out = append(out, json.RawMessage(raw))
	}
	return out
}

// afterLostCommits checks that all of TestLostCommit has happened once.
func afterLostCommits(t *testing.T, s *postgres.Store) {
	t.Helper()
	var steps []int64
	for c, err := range s.History(t.Context(), "t", true) {
		if err != nil {
			t.Fatal(err)
		}
		if c.Revision != 1 {
			t.Errorf("step %d has revision %d", c.Step, c.Revision)
		}
		steps = append(steps, c.Step)
	}
	info, err := s.Thread(t.Context(), "t")
	if err != nil || len(steps) != 2 || info.Decisions != 2 || info.Claim == nil || info.Lease != nil {
		t.Errorf("steps %v, row %+v (%v)", steps, info, err)
	}
	if err := checkpoint.VerifyChain("t", s.Decisions(t.Context(), "t"), checkpoint.Chain{Count: info.Decisions, Last: info.DecisionHash}); err != nil {
		t.Error(err)
	}
	stones, err := s.Tombstones(t.Context())
	if err != nil || len(stones) != 1 || stones[0].Thread != "u" {
		t.Errorf("tombstones %v (%v)", stones, err)
	}
}

// TestServerAway takes the server away, longer than a store waits for it, and brings it back.
func TestServerAway(t *testing.T) {
	t.Parallel()
	p, url := through(t, servers.PostgresStore(t))
	s := open(t, url, postgres.Options{BusyTimeout: 100 * time.Millisecond})
	put(t, s, "t")
	p.setAway(true)
	for name, op := range map[string]func() error{
		"read":  func() error { _, err := s.Latest(t.Context(), "t"); return err },
		"write": func() error { _, err := s.Put(t.Context(), checkpoint.Checkpoint{Thread: "u"}, nil); return err },
	} {
		if err := op(); !errors.Is(err, checkpoint.ErrUnreachable) {
			t.Errorf("%s: error %v, want ErrUnreachable", name, err)
		}
	}
	p.setAway(false)
	if _, err := s.Latest(t.Context(), "t"); err != nil {
		t.Errorf("after it came back: %v", err)
	}
	put(t, s, "u")
}

// TestServerRestarts ends all connections of a store from the server's side, as a restart does.
func TestServerRestarts(t *testing.T) {
	t.Parallel()
	url := servers.PostgresStore(t)
	s := open(t, servers.With(t, url, "application_name", "restarted"), postgres.Options{})
	for i := range 5 {
		put(t, s, fmt.Sprint("t", i))
		servers.SQL(t, url, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'restarted'")
		if _, err := s.Latest(t.Context(), fmt.Sprint("t", i)); err != nil {
			t.Errorf("a read after a restart: %v", err)
		}
		servers.SQL(t, url, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'restarted'")
	}
}

// TestLockedTables holds tables beside a store that has not prepared its statements yet: whoever has to wait gives up in time,
// whatever the way in which statements are sent.
func TestLockedTables(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"cache_statement", "cache_describe", "describe_exec", "exec", "simple_protocol"} {
		for lock, reads := range map[string]bool{"EXCLUSIVE": true, "ACCESS EXCLUSIVE": false} {
			t.Run(mode+" "+lock, func(t *testing.T) {
				t.Parallel()
				url := servers.PostgresStore(t)
				put(t, open(t, url, postgres.Options{}), "t")
				s := open(t, servers.With(t, url, "default_query_exec_mode", mode), postgres.Options{BusyTimeout: 50 * time.Millisecond})
				if _, err := beside(t, url).Exec(t.Context(), "BEGIN; LOCK TABLE threads, checkpoints IN "+lock+" MODE"); err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
				defer cancel()
				if err := s.Claim(ctx, "t", "ann", time.Hour); !errors.Is(err, checkpoint.ErrLocked) {
					t.Errorf("a writer: error %v, want ErrLocked", err)
				}
				if prepares := mode != "exec" && mode != "simple_protocol"; reads || prepares {
					if _, err := s.Latest(ctx, "t"); reads && err != nil || !reads && !errors.Is(err, checkpoint.ErrLocked) {
						t.Errorf("a reader: error %v", err)
					}
				}
			})
		}
	}
}

// TestReadOnlySession has a server whose sessions are read-only unless they say otherwise, as while it is looked after.
func TestReadOnlySession(t *testing.T) {
	t.Parallel()
	url := servers.PostgresStore(t)
	put(t, open(t, url, postgres.Options{}), "t")
	s := open(t, servers.With(t, url, "default_transaction_read_only", "on"), postgres.Options{})
	if err := s.Claim(t.Context(), "t", "ann", time.Hour); !errors.Is(err, checkpoint.ErrReadOnly) {
		t.Errorf("a writer: error %v, want ErrReadOnly", err)
	}
	if _, err := s.Latest(t.Context(), "t"); err != nil {
		t.Errorf("a reader: %v", err)
	}
}

// TestLocked holds a row in a transaction beside the store.
func TestLocked(t *testing.T) {
	t.Parallel()
	url := servers.PostgresStore(t)
	s := open(t, url, postgres.Options{BusyTimeout: 50 * time.Millisecond})
	put(t, s, "t")
	put(t, s, "u")
	conn := beside(t, url)
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "SELECT 1 FROM threads WHERE thread = 't' FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
	if err := s.Claim(t.Context(), "t", "ann", time.Hour); !errors.Is(err, checkpoint.ErrLocked) {
		t.Errorf("error %v, want ErrLocked", err)
	}
	if err := s.Claim(t.Context(), "u", "ann", time.Hour); err != nil {
		t.Errorf("another thread: %v", err)
	}
	if _, err := s.Latest(t.Context(), "t"); err != nil {
		t.Errorf("a reader beside a writer: %v", err)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Claim(t.Context(), "t", "ann", time.Hour); err != nil {
		t.Errorf("after the lock: %v", err)
	}
}

// TestUndoneTransactions has the server take transactions back, some and all.
func TestUndoneTransactions(t *testing.T) {
	t.Parallel()
	url := servers.PostgresStore(t)
	s := open(t, url, postgres.Options{})
	servers.SQL(t, url, `CREATE SEQUENCE tries_step; CREATE SEQUENCE tries_row;
		CREATE FUNCTION undo() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			IF nextval(TG_ARGV[1]) % 3 <> 0 THEN RAISE EXCEPTION 'undone' USING ERRCODE = TG_ARGV[0]; END IF;
			RETURN NEW;
		END $$;
		CREATE TRIGGER undo_step BEFORE INSERT ON checkpoints FOR EACH ROW EXECUTE FUNCTION undo('40001', 'tries_step');
		CREATE TRIGGER undo_row BEFORE UPDATE ON threads FOR EACH ROW EXECUTE FUNCTION undo('40P01', 'tries_row');`)
	c := resting("t")
	for range 3 {
		if _, err := s.Commit(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		c = checkpointtest.Next(c)
		c.Lease = c.ID
		if _, err := s.AcquireLease(t.Context(), checkpoint.LeaseRequest{Thread: "t", Token: c.ID, TTL: time.Hour, Head: checkpoint.Version{Step: c.Parent}}); err != nil {
			t.Fatal(err)
		}
	}
	servers.SQL(t, url, "CREATE OR REPLACE FUNCTION undo() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'always' USING ERRCODE = '40001'; END $$")
	if _, err := s.Commit(t.Context(), c); err == nil || !strings.Contains(err.Error(), "always") {
		t.Errorf("error %v, want the server's own", err)
	}
	if latest, err := s.Latest(t.Context(), "t"); err != nil || latest.Step != 2 {
		t.Errorf("head %v (%v), want step 2", latest, err)
	}
}

// beside is a connection beside the store.
func beside(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

func TestClosed(t *testing.T) {
	t.Parallel()
	s := open(t, servers.PostgresStore(t), postgres.Options{})
	put(t, s, "t")
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Put(t.Context(), checkpoint.Checkpoint{Thread: "u"}, nil); !errors.Is(err, checkpoint.ErrClosed) {
		t.Errorf("a closed store took a put: %v", err)
	}
	if _, err := s.Watch(t.Context()); !errors.Is(err, checkpoint.ErrClosed) {
		t.Errorf("a closed store took a watcher: %v", err)
	}
}
