package postgres_test

import (
	"flag"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint/checkpointtest"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/checkpointtest/servers"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/postgres"
)

var writeEarlier = flag.String("write-earlier", "", "write a store for TestEarlierSchemas to this new file")

// schemaName stands in such a file for the name of the schema.
const schemaName = "earlier_schema"

// TestEarlierSchemas opens the stores that earlier versions wrote, and writes on.
func TestEarlierSchemas(t *testing.T) {
	checkpointtest.EachEarlier(t, "*.sql", func(t *testing.T, file string) {
		store := servers.PostgresStore(t)
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		servers.SQL(t, store, strings.ReplaceAll(string(b), schemaName, schemaOf(t, store)))
		clock := checkpointtest.NewClock()
		checkpointtest.RunEarlier(t, open(t, store, postgres.Options{Now: clock.Now}))
	})
}

// TestWriteEarlier makes such a store of the present schema, where it is asked to.
func TestWriteEarlier(t *testing.T) {
	if *writeEarlier == "" {
		t.Skip("no -write-earlier")
	}
	clock := checkpointtest.NewClock()
	store := servers.PostgresStore(t)
	checkpointtest.FillEarlier(t, open(t, store, postgres.Options{Now: clock.Now}), clock)
	schema := schemaOf(t, store)
	server, err := url.Parse(store)
	if err != nil {
		t.Fatal(err)
	}
	q := server.Query()
	q.Del("search_path") // libpq does not know it
	server.RawQuery = q.Encode()
	pgDump := exec.Command("pg_dump", "--inserts", "--no-owner", "--no-privileges", "--no-comments", "--schema="+schema, server.String())
	pgDump.Stderr = os.Stderr
	out, err := pgDump.Output()
	if err != nil {
		t.Fatalf("pg_dump: %v", err)
	}
	var b strings.Builder
	for line := range strings.Lines(string(out)) {
		// What only psql, or only some versions of the server, understand.
		if !strings.HasPrefix(line, "\\") && !strings.HasPrefix(line, "SET ") && !strings.HasPrefix(line, "--") && line != "\n" {
			b.WriteString(strings.ReplaceAll(line, schema, schemaName))
		}
	}
	if err := os.WriteFile(*writeEarlier, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}
