package postgres_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/checkpointtest"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/postgres"
)

// serverVar names the server to test with, defaultServer is the usual local one.
const (
	serverVar     = "HITL_TEST_POSTGRES"
	defaultServer = "postgres://postgres@127.0.0.1:5432/postgres?sslmode=disable&connect_timeout=5"
)

// TestContract does not wait for the disk, which the contract has nothing to say about.
func TestContract(t *testing.T) {
	checkpointtest.Run(t, func(t *testing.T, now func() time.Time) checkpoint.Store {
		return open(t, with(fresh(t), "synchronous_commit", "off"), postgres.Options{Now: now})
	})
}

var schemas atomic.Int64

// fresh gives the URL of a schema of t's own, which is dropped when t ends. Without a server t is skipped, or with
// CI=true fails.
func fresh(t testing.TB) string {
	t.Helper()
	server := cmp.Or(os.Getenv(serverVar), defaultServer)
	conn, err := pgx.Connect(t.Context(), server)
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("no PostgreSQL, and CI wants one: %v", err)
		}
		t.Skipf("no PostgreSQL at %s: %v", serverVar, err)
	}
	conn.Close(t.Context())
	schema := fmt.Sprintf("test_%d_%d", os.Getpid(), schemas.Add(1))
	t.Cleanup(func() { sql(t, server, "DROP SCHEMA IF EXISTS "+schema+" CASCADE") })
	return with(server, "search_path", schema)
}

// with sets an option of a URL.
func with(raw, option, value string) string {
	u, err := url.Parse(raw)
	if err != nil {
		panic(err)
	}
	q := u.Query()
	q.Set(option, value)
	u.RawQuery = q.Encode()
	return u.String()
}

// sql runs statements beside the store.
func sql(t testing.TB, url, text string) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, text); err != nil {
		t.Fatal(err)
	}
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
