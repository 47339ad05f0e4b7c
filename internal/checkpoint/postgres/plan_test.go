package postgres_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/checkpointtest/servers"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/postgres"
)

// TestInboxUsesItsIndex asks the server how it would find the pages that the desk shows all the time, among many threads.
func TestInboxUsesItsIndex(t *testing.T) {
	t.Parallel()
	url := servers.PostgresStore(t)
	s := open(t, url, postgres.Options{})
	servers.SQL(t, url, `ALTER TABLE threads DISABLE TRIGGER USER; INSERT INTO threads (thread, seq, step, revision, phase, lease_until, answers, due, waiting, created, updated,
		questions, answered, workflow, node, title, assignee, team, priority, error, lease_token, lease_holder, lease_own, cancel, cancel_by,
		decisions, decision_hash, base, base_size, chain_steps, chain_size, fingerprint, workdir, started_by, origin_thread, origin_step)
		SELECT 't' || i, i, 1, 1, CASE i % 10 WHEN 0 THEN 'interrupted' ELSE 'done' END, CASE i % 1000 WHEN 0 THEN 1 ELSE 0 END, 0, i, i, i, i, 1, 0, 'w', 'n', 't', '', '', '', '', '',
		'', 0, false, '', 0, '', 1, 1, 0, 0, 'f', '', '', '', 0 FROM generate_series(1, 20000) AS i; ANALYZE threads`)
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
		plan, err := s.Plan(t.Context(), c.q)
		if err != nil {
			t.Fatal(err)
		}
		all := strings.Join(plan, " ")
		if !regexp.MustCompile(c.want).MatchString(all) || strings.Contains(all, "Seq Scan") {
			t.Errorf("%s:\n%s", name, strings.Join(plan, "\n"))
		}
	}
}
