package postgres_test

import (
	"errors"
	"strings"
	"testing"

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
	refused(t, url, postgres.Options{ReadOnly: true}, checkpoint.ErrNotFound, "read-only creates none")
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

// TestSchemaNames takes a name as it is written.
func TestSchemaNames(t *testing.T) {
	t.Parallel()
	url := servers.PostgresStore(t)
	name := strings.ToUpper(schemaOf(t, url)) + "-ü"
	t.Cleanup(func() { servers.SQL(t, url, `DROP SCHEMA "`+name+`" CASCADE`) })
	put(t, open(t, servers.With(t, url, "search_path", name), postgres.Options{}), "t")
	servers.SQL(t, url, `DELETE FROM "`+name+`".results`)
}
