package file

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/verbatim"
)

// chainOf commits n steps to a new thread, with three decisions, and gives the commit that would follow.
func chainOf(t testing.TB, s *Store, thread string, n int) checkpoint.Commit {
	t.Helper()
	c := checkpoint.Commit{ID: thread, Checkpoint: checkpoint.Checkpoint{Thread: thread}, Parent: -1, Lease: thread,
		NewThread: &checkpoint.NewThread{}, NewLease: &checkpoint.LeaseRequest{Thread: thread, Token: thread, TTL: time.Hour},
		Decisions: []checkpoint.Decision{{ID: thread + "a", ResponseID: "r"}, {ID: thread + "b"}, {ID: thread + "c"}},
		Ops:       []checkpoint.Op{{Kind: checkpoint.OpSet, Channel: "a", Value: []byte("1")}}, Summary: checkpoint.Summary{Phase: checkpoint.Stalled}}
	for i := range n {
		if _, err := s.Commit(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		c.NewThread, c.NewLease, c.Decisions = nil, nil, nil
		c.Parent, c.Checkpoint.Step, c.ID = c.Checkpoint.Step, c.Checkpoint.Step+1, fmt.Sprint(thread, i+1)
		c.Ops = []checkpoint.Op{{Kind: checkpoint.OpAppend, Channel: "log", Value: fmt.Appendf(nil, "[%d]", i)}}
	}
	return c
}

func put(t testing.TB, s *Store, thread string) {
	t.Helper()
	if _, err := s.Put(t.Context(), checkpoint.Checkpoint{Thread: thread, Step: 1, Channels: checkpoint.Channels{"a": []byte("1")}}, nil); err != nil {
		t.Fatal(err)
	}
}

func newStore(t testing.TB) (*Store, string) {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "store")
	return openUnsynced(t, folder, Options{}), folder
}

// TestForeignJSON keeps what comes from outside to the byte wherever it can come, and keeps what can stand in a file
// readable there.
func TestForeignJSON(t *testing.T) {
	deep := strings.Repeat("[", 9990) + strings.Repeat("]", 9990)
	for _, raw := range []string{`{ "a" : "<&>" }`, "\"\u2028\"", "[1,\n\t2]", `"\u00e9\/"`, "\"\xff\"", `"\ud800"`, ` 1 `, "{\n", "nonsense", "\xff\xfe",
		`{"#text":"x"}`, `{"#base64":"eA=="}`, `{"a":1,"a":2}`, "null", "1e400", deep, strings.Repeat("[", 2000), `"` + strings.Repeat("[", 5000) + `"`} {
		t.Run(fmt.Sprintf("%.12q", raw), func(t *testing.T) {
			s, folder := newStore(t)
			v := []byte(raw)
			c := checkpoint.Checkpoint{Thread: "t", Outputs: v, Channels: checkpoint.Channels{"a": v, "\xff": v}, Interrupts: []checkpoint.Interrupt{
				{ID: "q", Payload: v, Previous: &checkpoint.Previous{ID: "p", Content: v}}}}
			if _, err := s.Put(t.Context(), c, nil); err != nil {
				t.Fatal(err)
			}
			lease, err := s.AcquireLease(t.Context(), checkpoint.LeaseRequest{Thread: "t", Token: "x", TTL: time.Hour, Answers: []json.RawMessage{v},
				Decisions: []checkpoint.Decision{{ID: "d", Data: v}}})
			if err != nil {
				t.Fatal(err)
			}
			if err := s.AddResult(t.Context(), "t", "x", checkpoint.PendingResult{Path: "p", Data: v}); err != nil {
				t.Fatal(err)
			}
			again := openUnsynced(t, folder, Options{})
			got, err := again.Latest(t.Context(), "t")
			if err != nil {
				t.Fatal(err)
			}
			h, err := again.readHead("t")
			if err != nil {
				t.Fatal(err)
			}
			results, err := again.pending(h)
			if err != nil {
				t.Fatal(err)
			}
			d := onlyDecision(t, again)
			for what, b := range map[string][]byte{"outputs": got.Outputs, "channel": got.Channels["a"], "other channel": got.Channels["\xff"],
				"payload": got.Interrupts[0].Payload, "content": got.Interrupts[0].Previous.Content, "answer": h.lease.Answers[0],
				"told answer": lease.Answers[0], "result": results[0].Data, "decision": d.Data} {
				if string(b) != raw {
					t.Errorf("%s: %.60q came back as %.60q", what, raw, b)
				}
			}
			step, err := os.ReadFile(again.stepFile("t", 0))
			if err != nil {
				t.Fatal(err)
			}
			if readable := bytes.Equal(verbatim.Append(nil, v, false), v); readable != bytes.Contains(step, append([]byte(`"outputs": `), v...)) {
				t.Errorf("readable is %t", readable)
			}
		})
	}
}

func onlyDecision(t *testing.T, s *Store) *checkpoint.Decision {
	t.Helper()
	var all []*checkpoint.Decision
	for d, err := range s.Decisions(t.Context(), "t") {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, d)
	}
	if len(all) != 1 {
		t.Fatalf("%d decisions", len(all))
	}
	return all[0]
}
