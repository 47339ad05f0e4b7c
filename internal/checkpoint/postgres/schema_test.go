package postgres_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/checkpointtest/servers"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/postgres"
)

// refused opens what must be refused.
func refused(t *testing.T, url string, o postgres.Options, want error, says string) {
	t.Helper()
	s, err := postgres.Open(t.Context(), url, o)
	if err == nil {
		s.Close()
	}
	if !errors.Is(err, want) || !strings.Contains(err.Error(), says) {
		t.Errorf("error %v, want %v that says %q", err, want, says)
	}
}

func TestNewerSchema(t *testing.T) {
	t.Parallel()
	url := servers.PostgresStore(t)
	s := open(t, url, postgres.Options{})
	put(t, s, "t")
	servers.SQL(t, url, "INSERT INTO hitl_tui_schema (version_id, is_applied) VALUES (99, true)")
	for _, o := range []postgres.Options{{}, {ReadOnly: true}} {
		refused(t, url, o, checkpoint.ErrNewerSchema, "schema is 99")
	}
	servers.SQL(t, url, "DELETE FROM hitl_tui_schema WHERE version_id = 99")
	if c, err := open(t, url, postgres.Options{}).Latest(t.Context(), "t"); err != nil || c.Thread != "t" {
		t.Errorf("unharmed it is not: %v (%v)", c, err)
	}
}

func TestTablesOfAnotherProgram(t *testing.T) {
	t.Parallel()
	url := servers.PostgresStore(t)
	schema := schemaOf(t, url)
	servers.SQL(t, url, "CREATE SCHEMA "+schema+"; CREATE TABLE "+schema+".threads (id integer)")
	refused(t, url, postgres.Options{}, checkpoint.ErrForeign, "table threads of another program")
	servers.SQL(t, url, "INSERT INTO threads VALUES (1)")
}

func TestReadOnly(t *testing.T) {
	t.Parallel()
	url := servers.PostgresStore(t)
	for _, o := range []postgres.Options{{ReadOnly: true}, {Existing: true}} {
		refused(t, url, o, checkpoint.ErrNotFound, "there is no store at postgres://")
	}
	servers.SQL(t, url, "CREATE SCHEMA "+schemaOf(t, url)+"; DROP SCHEMA "+schemaOf(t, url)) // looking has made none
	writer := open(t, url, postgres.Options{})
	put(t, writer, "t")
	s := open(t, url, postgres.Options{ReadOnly: true})
	if _, err := s.Latest(t.Context(), "t"); err != nil {
		t.Error(err)
	}
	for name, write := range map[string]func() error{
		"put":    func() error { _, err := s.Put(t.Context(), checkpoint.Checkpoint{Thread: "u"}, nil); return err },
		"delete": func() error { return s.DeleteThread(t.Context(), "t") },
		"prune": func() error {
			_, err := s.Prune(t.Context(), checkpoint.PruneQuery{All: true, BeforeStep: 1})
			return err
		},
		"compact": func() error { return s.Compact(t.Context(), nil) },
	} {
		if err := write(); !errors.Is(err, checkpoint.ErrReadOnly) {
			t.Errorf("%s: error %v, want ErrReadOnly", name, err)
		}
	}
	if r, err := s.Prune(t.Context(), checkpoint.PruneQuery{All: true, BeforeStep: 1, DryRun: true}); err != nil || r.Heads != 1 {
		t.Errorf("a dry prune: %+v (%v)", r, err)
	}
	wake := watch(t, s)
	put(t, writer, "u")
	watched(t, s, wake, "u")
}

// TestWrongServer tells at once, and without the password, what is wrong.
func TestWrongServer(t *testing.T) {
	t.Parallel()
	refused(t, "postgres://ann:secret@127.0.0.1:1/desk", postgres.Options{}, checkpoint.ErrUnreachable, "postgres://ann@127.0.0.1:1/desk")
	url := servers.PostgresStore(t)
	s, err := postgres.Open(t.Context(), strings.Replace(url, "/postgres?", "/there_is_none?", 1), postgres.Options{})
	if err == nil {
		s.Close()
		t.Fatal("a database that is not there was opened")
	}
	if !strings.Contains(err.Error(), "there_is_none") || errors.Is(err, checkpoint.ErrUnreachable) {
		t.Errorf("error %v", err)
	}
}

// TestWrongTLS says so where only one side speaks it.
func TestWrongTLS(t *testing.T) {
	t.Parallel()
	plain := servers.StartPostgres(t)
	refused(t, servers.With(t, plain.URL, "sslmode", "require"), postgres.Options{}, checkpoint.ErrUnreachable, "it does not speak TLS; write sslmode=disable")
	if !postgres.WantsTLS(&pgconn.PgError{Code: "28000", Message: `no pg_hba.conf entry for host "10.0.0.1", user "ann", database "desk", no encryption`}) {
		t.Error("a server that turns away what is not encrypted is not recognised")
	}
	if postgres.WantsTLS(&pgconn.PgError{Code: "28000", Message: `role "ann" does not exist`}) {
		t.Error("a role that is not there is taken for a lack of TLS")
	}
}

// TestSilentServer has a server that takes what is sent and says nothing, as one does that is stopped.
func TestSilentServer(t *testing.T) {
	t.Parallel()
	p, url := through(t, servers.PostgresStore(t))
	s := open(t, url, postgres.Options{BusyTimeout: 50 * time.Millisecond, Silence: time.Second})
	put(t, s, "t")
	p.setSilent(true)
	for name, op := range map[string]func() error{
		"read":  func() error { _, err := s.Latest(t.Context(), "t"); return err },
		"write": func() error { _, err := s.Put(t.Context(), checkpoint.Checkpoint{Thread: "u"}, nil); return err },
	} {
		if err := op(); !errors.Is(err, checkpoint.ErrUnreachable) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v, want ErrUnreachable and no end of the caller's context", name, err)
		}
	}
	p.setSilent(false)
	put(t, s, "u")
}

// TestSchemaNames takes a name as it is written.
func TestSchemaNames(t *testing.T) {
	t.Parallel()
	url := servers.PostgresStore(t)
	name := strings.ToUpper(schemaOf(t, url)) + "-ü"
	t.Cleanup(func() { servers.SQL(t, url, `DROP SCHEMA "`+name+`" CASCADE`) })
	put(t, open(t, servers.With(t, url, "search_path", name), postgres.Options{}), "t")
	servers.SQL(t, url, `DELETE FROM "`+name+`".results`)
}
