//go:build linux

package e2e

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"
)

// everyStore runs a test on each store that several processes can share.
func everyStore(t *testing.T, test func(t *testing.T, w *world)) {
	for name, open := range map[string]func(*testing.T) *world{"sqlite": newWorld, "postgres": newPostgresWorld} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t))
		})
	}
}

// newPostgresWorld is a world whose store is a schema of its own on a PostgreSQL server, which is dropped when t ends.
// Without a server t is skipped, or with CI=true fails.
func newPostgresWorld(t *testing.T) *world {
	t.Helper()
	server := cmp.Or(os.Getenv("HITL_TEST_POSTGRES"), "postgres://postgres@127.0.0.1:5432/postgres?sslmode=disable&connect_timeout=5")
	conn, err := pgx.Connect(t.Context(), server)
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("no PostgreSQL, and CI wants one: %v", err)
		}
		t.Skipf("no PostgreSQL at HITL_TEST_POSTGRES: %v", err)
	}
	w := newWorld(t)
	schema := fmt.Sprintf("test_e2e_%d_%s", os.Getpid(), t.Name()[len("Test"):len("Test")+6])
	t.Cleanup(func() {
		ctx := context.Background()
		defer conn.Close(ctx)
		if _, err := conn.Exec(ctx, "DROP SCHEMA IF EXISTS "+pgx.Identifier{schema}.Sanitize()+" CASCADE"); err != nil {
			t.Error(err)
		}
	})
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set("search_path", schema)
	u.RawQuery = q.Encode()
	w.store = ""
	w.env = append(w.env, "HITL_TUI_STORE="+u.String())
	return w
}
