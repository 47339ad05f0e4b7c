package postgres_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/checkpointtest"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/checkpointtest/servers"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/postgres"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/sqlite"
)

func TestCorruptRow(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]string{
		"state":    "UPDATE checkpoints SET state = set_byte(state, length(state) - 1, 0) WHERE thread = 'bad' AND step = 2",
		"cut off":  "UPDATE checkpoints SET state = '' WHERE thread = 'bad' AND step = 2",
		"record":   "UPDATE checkpoints SET record = '{' WHERE thread = 'bad' AND step = 2",
		"no frame": "DELETE FROM checkpoints WHERE thread = 'bad' AND step = 0",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := servers.PostgresStore(t)
			s := open(t, url, postgres.Options{})
			checkpointtest.Chain(t, s, "bad", 5)
			checkpointtest.Chain(t, s, "good", 5)
			servers.SQL(t, url, damage)
			_, err := s.Get(t.Context(), "bad", 2)
			var corrupt *checkpoint.CorruptError
			if !errors.As(err, &corrupt) || corrupt.Thread != "bad" {
				t.Fatalf("error %v, want a CorruptError that names the thread", err)
			}
			if name != "no frame" && corrupt.Step != 2 {
				t.Errorf("it names step %d, want 2", corrupt.Step)
			}
			found := false
			for _, err := range s.History(t.Context(), "bad", true) {
				found = found || errors.Is(err, checkpoint.ErrCorrupt)
			}
			if !found {
				t.Error("the history tells nothing of it")
			}
			if c, err := s.Latest(t.Context(), "good"); err != nil || c.Step != 4 {
				t.Errorf("the other thread: %v", err)
			}
			if page, err := s.Threads(t.Context(), checkpoint.Query{}); err != nil || len(page.Threads) != 2 {
				t.Errorf("the list: %v", err)
			}
		})
	}
}

func TestMissingHead(t *testing.T) {
	t.Parallel()
	url := servers.PostgresStore(t)
	s := open(t, url, postgres.Options{})
	checkpointtest.Chain(t, s, "bad", 5)
	servers.SQL(t, url, "DELETE FROM checkpoints WHERE step = 4")
	var corrupt *checkpoint.CorruptError
	if _, err := s.Latest(t.Context(), "bad"); !errors.As(err, &corrupt) || corrupt.Step != 4 {
		t.Errorf("error %v, want a CorruptError that names the step", err)
	}
}

func TestTamperedDecisions(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ damage, names string }{
		"changed":       {"UPDATE decisions SET reviewer = 'eve' WHERE n = 2", "tb"},
		"first removed": {"DELETE FROM decisions WHERE n = 1", "tb"},
		"last removed":  {"DELETE FROM decisions WHERE n = 3", "row 3"},
		"reordered":     {"UPDATE decisions SET n = n + 9; UPDATE decisions SET n = 13 - n", "row 1"},
		"rehashed":      {"UPDATE decisions SET hash = 'x' WHERE n = 3", "tc"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := servers.PostgresStore(t)
			s := open(t, url, postgres.Options{})
			checkpointtest.Chain(t, s, "t", 1)
			servers.SQL(t, url, c.damage)
			info, err := s.Thread(t.Context(), "t")
			if err != nil {
				t.Fatal(err)
			}
			err = checkpoint.VerifyChain("t", s.Decisions(t.Context(), "t"), checkpoint.Chain{Count: info.Decisions, Last: info.DecisionHash})
			if !errors.Is(err, checkpoint.ErrCorrupt) || !strings.Contains(err.Error(), c.names) {
				t.Errorf("error %v, want one that names %s", err, c.names)
			}
		})
	}
}

// TestARowReadsAsItWasWritten: whatever texts a workflow brings, NULs and bytes that are no UTF-8 among them, a listing
// hands them out byte for byte, finds them by filter and text, and pages over them. So it does without prepared statements.
func TestARowReadsAsItWasWritten(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"cache_statement", "cache_describe", "describe_exec", "exec", "simple_protocol"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			s := open(t, servers.With(t, servers.PostgresStore(t), "default_query_exec_mode", mode), postgres.Options{})
			n := 0
			rapid.Check(t, func(r *rapid.T) {
				n++
				text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "\n", "a\x00b", "\x01", "\x01\x02", "\xff\xfe", "é\u202e李"}))
				when := time.UnixMicro(rapid.Int64Range(0, 1<<50).Draw(r, "when")).UTC()
				c := resting(fmt.Sprintf("%s\x00%06d", text.Draw(r, "thread"), n))
				c.Checkpoint.Workflow = text.Draw(r, "workflow")
				c.Checkpoint.Channels = nil
				c.Ops[0].Channel = text.Draw(r, "channel")
				c.Decisions = []checkpoint.Decision{{ID: text.Draw(r, "decision"), Comment: text.Draw(r, "comment"), Data: []byte("\x00\xff")}}
				c.Summary = checkpoint.Summary{Phase: checkpoint.Interrupted, Title: text.Draw(r, "title"), Node: text.Draw(r, "node"), Questions: 2,
					Answered: 1, Assignee: text.Draw(r, "assignee"), Group: text.Draw(r, "group"), Error: text.Draw(r, "error"), Due: &when}
				if _, err := s.Commit(t.Context(), c); err != nil {
					r.Fatal(err)
				}
				page, err := s.Threads(t.Context(), checkpoint.Query{Node: []string{c.Summary.Node}, Workflow: []string{c.Checkpoint.Workflow},
					Text: c.Checkpoint.Thread, Sort: checkpoint.SortName, Limit: 1})
				if err != nil || len(page.Threads) != 1 {
					r.Fatalf("the thread is not found: %+v (%v)", page, err)
				}
				got := page.Threads[0]
				if diff := cmp.Diff(c.Summary, got.Summary); diff != "" || got.Thread != c.Checkpoint.Thread || got.Workflow != c.Checkpoint.Workflow {
					r.Fatalf("%+v (-want +got):\n%s", got, diff)
				}
				for d, err := range s.Decisions(t.Context(), c.Checkpoint.Thread) {
					if err != nil || d.ID != c.Decisions[0].ID || d.Comment != c.Decisions[0].Comment || string(d.Data) != "\x00\xff" {
						r.Fatalf("decision %+v (%v)", d, err)
					}
				}
				if head, err := s.Latest(t.Context(), c.Checkpoint.Thread); err != nil || string(head.Channels[c.Ops[0].Channel]) != "[0]" {
					r.Fatalf("head %+v (%v)", head, err)
				}
			})
			seen := make(map[string]bool)
			for q := (checkpoint.Query{Sort: checkpoint.SortName, Limit: 7}); ; {
				page, err := s.Threads(t.Context(), q)
				if err != nil {
					t.Fatal(err)
				}
				for _, info := range page.Threads {
					if seen[info.Thread] {
						t.Fatalf("%q is listed twice", info.Thread)
					}
					seen[info.Thread] = true
				}
				if q.After = page.Next; q.After == "" {
					break
				}
			}
			if len(seen) != n {
				t.Errorf("%d threads are listed, want %d", len(seen), n)
			}
		})
	}
}

// TestBackup copies a store in use into a file of SQLite's, as of one moment.
func TestBackup(t *testing.T) {
	t.Parallel()
	s := open(t, servers.PostgresStore(t), postgres.Options{})
	checkpointtest.Chain(t, s, "a\x00\xff", 30)
	checkpointtest.Chain(t, s, "b", 3)
	checkpointtest.Chain(t, s, "gone", 2)
	lease := checkpoint.LeaseRequest{Thread: "b", Token: "token", Holder: "host:1", TTL: time.Hour, Head: checkpoint.Version{Step: 2}, Answers: raws("1", `{ "a" : 2 }`)}
	for name, write := range map[string]func() error{
		"delete":     func() error { return s.DeleteThread(t.Context(), "gone") },
		"definition": func() error { return s.PutDefinition(t.Context(), checkpointtest.Definition("x")) },
		"claim":      func() error { return s.Claim(t.Context(), "b", "ann", time.Hour) },
		"lease": func() error {
			if _, err := s.AcquireLease(t.Context(), lease); err != nil {
				return err
			}
			return s.AddResult(t.Context(), "b", "token", checkpoint.PendingResult{Step: 3, Path: "p", Data: raws("[ 1]")[0]})
		},
	} {
		if err := write(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	file := t.TempDir() + "/copy.db"
	if err := s.Backup(t.Context(), file); err != nil {
		t.Fatal(err)
	}
	put(t, s, "later")
	copied, err := sqlite.Open(t.Context(), file, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer copied.Close()
	if diff := cmp.Diff(contents(t, s, "a\x00\xff", "b"), contents(t, copied, "a\x00\xff", "b")); diff != "" {
		t.Errorf("(-store +copy):\n%s", diff)
	}
	if _, err := copied.Latest(t.Context(), "later"); !errors.Is(err, checkpoint.ErrNotFound) {
		t.Errorf("what came later: %v", err)
	}
	if err := copied.ReleaseLease(t.Context(), checkpoint.Release{Thread: "b", Token: "token"}); err != nil {
		t.Errorf("the lease: %v", err)
	}
	lease.Token, lease.Seen, lease.Answers = "again", 2, nil
	if got, err := copied.AcquireLease(t.Context(), lease); err != nil || len(got.Results) != 1 || string(got.Answers[1]) != `{ "a" : 2 }` {
		t.Errorf("answers and results: %+v (%v)", got, err)
	}
	if err := s.Backup(t.Context(), file); err == nil {
		t.Error("a file that is there was overwritten")
	}
}

// contents is all of a store that can be read, for comparison.
func contents(t *testing.T, s checkpoint.Store, threads ...string) map[string]any {
	t.Helper()
	all := make(map[string]any)
	note := func(what string, value any, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		all[what] = value
	}
	for _, id := range threads {
		info, err := s.Thread(t.Context(), id)
		note(id, info, err)
		for c, err := range s.History(t.Context(), id, true) {
			note(fmt.Sprint(id, " step ", c.Step), c, err)
		}
		n := 0
		for d, err := range s.Decisions(t.Context(), id) {
			n++
			note(fmt.Sprint(id, " decision ", n), d, err)
		}
	}
	stones, err := s.Tombstones(t.Context())
	note("tombstones", stones, err)
	definition, err := s.Definition(t.Context(), checkpointtest.Definition("x").Fingerprint)
	note("definition", definition, err)
	return all
}

func TestStatsAndCompact(t *testing.T) {
	t.Parallel()
	url := servers.PostgresStore(t)
	s := open(t, url, postgres.Options{})
	c := checkpoint.Checkpoint{Thread: "t", Channels: checkpoint.Channels{"a": []byte(`"` + random(200<<10) + `"`)}}
	for range 10 {
		if _, err := s.Put(t.Context(), c, nil); err != nil {
			t.Fatal(err)
		}
		c.Step++
	}
	full, err := s.Stats(t.Context())
	if err != nil || full.Bytes < 10*200<<10 || full.Schema != 1 {
		t.Fatalf("stats %+v (%v)", full, err)
	}
	if _, err := s.Prune(t.Context(), checkpoint.PruneQuery{All: true, BeforeStep: 100}); err != nil {
		t.Fatal(err)
	}
	var last, total int64
	if err := s.Compact(t.Context(), func(d, of int64) { last, total = d, of }); err != nil || last != total || total == 0 {
		t.Fatalf("compact: %d of %d (%v)", last, total, err)
	}
	for vacuumed := false; !vacuumed; { // the server tells a moment later
		err := beside(t, url).QueryRow(t.Context(), `SELECT last_vacuum IS NOT NULL FROM pg_stat_user_tables
			WHERE relid = 'checkpoints'::regclass`).Scan(&vacuumed)
		if err != nil {
			t.Fatal(err)
		}
	}
}
