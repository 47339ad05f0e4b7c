package sqlite_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/checkpointtest"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/inspect"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/sqlite"
)

// TestInspectionFindsDamage hurts a file in each way and demands that it is found and named, and a whole one is not.
func TestInspectionFindsDamage(t *testing.T) {
	for name, c := range map[string]struct{ damage, want string }{
		"none":                    {"", ""},
		"a state":                 {"UPDATE checkpoints SET state = x'' WHERE thread = 'bad' AND step = 2", "thread bad, step 2"},
		"a record":                {"UPDATE checkpoints SET record = '{' WHERE thread = 'bad' AND step = 2", "thread bad, step 2"},
		"a missing head":          {"DELETE FROM checkpoints WHERE thread = 'bad' AND step = 4", "its last step 4 is missing"},
		"a missing row":           {"DELETE FROM decisions WHERE thread = 'bad' AND n = 2", "decisions of thread bad, row 2"},
		"a changed reason":        {"UPDATE decisions SET reviewer = 'eve' WHERE thread = 'bad' AND n = 3", "decisions of thread bad, row 3"},
		"a phase miscounted":      {"UPDATE phases SET n = n + 1 WHERE phase = 'done'", "table phases counts 1 threads as done, and there are 0"},
		"a table dropped":         {"DROP TABLE results", "the table results is missing"},
		"the phases dropped":      {"DROP TABLE phases", "the table phases is missing"},
		"the decisions dropped":   {"DROP TABLE decisions", "the index decisions_by_response is missing"},
		"the threads dropped":     {"DROP TABLE threads", "the table threads is missing"},
		"an index dropped":        {"DROP INDEX threads_by_waiting", "the index threads_by_waiting is missing"},
		"an index made otherwise": {"DROP INDEX threads_by_seq; CREATE INDEX threads_by_seq ON threads (seq)", "the index threads_by_seq is not as"},
		"a trigger dropped":       {"DROP TRIGGER threads_moved", "the trigger threads_moved is missing"},
		"a trigger of another":    {"CREATE TRIGGER sly AFTER INSERT ON decisions BEGIN DELETE FROM decisions; END", "a trigger sly, which this program did not make"},
		"overwritten pages":       {"pages", ""},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "store.db")
			s := open(t, path, sqlite.Options{})
			checkpointtest.Chain(t, s, "bad", 5)
			checkpointtest.Chain(t, s, "good", 5)
			switch c.damage {
			case "":
			case "pages":
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				overwrite(t, path)
				s = open(t, path, sqlite.Options{ReadOnly: true})
			default:
				if _, err := rawDB(t, path).Exec(c.damage); err != nil {
					t.Fatal(err)
				}
			}
			r, err := inspect.Run(t.Context(), s, inspect.Options{States: true})
			if err != nil {
				t.Fatal(err)
			}
			if c.damage == "" {
				if len(r.Faults) > 0 || r.Threads != 2 || r.Steps != 10 || r.Decisions != 6 {
					t.Errorf("%+v", r)
				}
				return
			}
			if !slices.ContainsFunc(r.Faults, func(f checkpoint.Fault) bool { return strings.Contains(f.Text, c.want) }) {
				t.Errorf("%+v", r)
			}
		})
	}
}

// overwrite writes over the middle of the file's pages, all but the first two.
func overwrite(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for at := 2 * 4096; at < len(data); at += 4096 {
		for i := at; i < at+64; i++ {
			data[i] ^= 0x5a
		}
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}
