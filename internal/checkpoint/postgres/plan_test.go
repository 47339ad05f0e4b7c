package postgres

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/listing"
)

// TestInboxUsesItsIndex asks the server how it would find the pages that the desk shows all the time, among many threads.
func TestInboxUsesItsIndex(t *testing.T) {
	server := cmp.Or(os.Getenv("HITL_TEST_POSTGRES"), "postgres://postgres@127.0.0.1:5432/postgres?sslmode=disable&connect_timeout=5")
	conn, err := pgx.Connect(t.Context(), server)
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("no PostgreSQL, and CI wants one: %v", err)
		}
		t.Skipf("no PostgreSQL at HITL_TEST_POSTGRES: %v", err)
	}
	defer conn.Close(context.Background())
	schema := fmt.Sprintf("test_plan_%d", os.Getpid())
	defer conn.Exec(context.Background(), "DROP SCHEMA IF EXISTS "+schema+" CASCADE")
	s, err := Open(t.Context(), server+"&search_path="+schema, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.pool.Exec(t.Context(), `INSERT INTO threads (thread, seq, step, revision, phase, lease_until, answers, due, waiting, created, updated,
		questions, answered, workflow, node, title, assignee, team, priority, error, lease_token, lease_holder, lease_own, cancel, cancel_by,
		decisions, decision_hash, base, base_size, chain_steps, chain_size, fingerprint, workdir, started_by, origin_thread, origin_step)
		SELECT 't' || i, i, 1, 1, CASE i % 10 WHEN 0 THEN 'interrupted' ELSE 'done' END, CASE i % 1000 WHEN 0 THEN 1 ELSE 0 END, 0, i, i, i, i, 1, 0, 'w', 'n', 't', '', '', '', '', '',
		'', 0, false, '', 0, '', 1, 1, 0, 0, 'f', '', '', '', 0 FROM generate_series(1, 20000) AS i; ANALYZE threads`); err != nil {
		t.Fatal(err)
	}
	interrupted := []checkpoint.Status{checkpoint.Interrupted}
	for name, c := range map[string]struct {
		q    checkpoint.Query
		want string
	}{
		"inbox":   {checkpoint.Query{Status: interrupted}, "threads_by_phase"},
		"waiting": {checkpoint.Query{Status: interrupted, Sort: checkpoint.SortWaiting}, "threads_by_waiting"},
		"running": {checkpoint.Query{Status: []checkpoint.Status{checkpoint.Running}}, "threads_leased"},
		"all":     {checkpoint.Query{}, "threads_by_phase"},
		"updated": {checkpoint.Query{Sort: checkpoint.SortUpdated}, "threads_by_seq"},
		"name":    {checkpoint.Query{Sort: checkpoint.SortName}, "threads_by_name"},
		"next page": {checkpoint.Query{Status: interrupted, After: (&checkpoint.Query{}).CursorOf(&checkpoint.ThreadInfo{Thread: "t"})},
			`threads_by_phase.*Index Cond: .*ROW\(due, waiting, thread\) >`},
	} {
		text, args, err := listing.Text(dialect(), &c.q, s.nowArg())
		if err != nil {
			t.Fatal(err)
		}
		rows, err := s.pool.Query(t.Context(), "EXPLAIN (COSTS OFF) "+text, args...)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		all := strings.Join(plan, " ")
		if !regexp.MustCompile(c.want).MatchString(all) || strings.Contains(all, "Seq Scan") {
			t.Errorf("%s:\n%s", name, strings.Join(plan, "\n"))
		}
	}
}
