package file

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/checkpointtest"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/sqlite"
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

// TestBackup copies a store in use into a SQLite store, which then holds the same.
func TestBackup(t *testing.T) {
	s, _ := newStore(t)
	c := chainOf(t, s, "t", 45)
	raw := []byte("{ \"a\":\t1 }")
	held, err := s.AcquireLease(t.Context(), checkpoint.LeaseRequest{Thread: "t", Token: "x", TTL: time.Hour, Head: checkpoint.Version{Step: c.Parent}})
	if !errors.Is(err, checkpoint.ErrLeased) {
		t.Fatalf("lease %v: %v", held, err)
	}
	if err := s.AddResult(t.Context(), "t", "t", checkpoint.PendingResult{Step: 45, Path: "p", Data: raw}); err != nil {
		t.Fatal(err)
	}
	put(t, s, "Put")
	put(t, s, "gone")
	if err := errors.Join(s.DeleteThread(t.Context(), "gone"), s.Claim(t.Context(), "Put", "ann", time.Hour),
		s.PutDefinition(t.Context(), checkpointtest.Definition("a"))); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "copy.db")
	if err := s.Backup(t.Context(), file); err != nil {
		t.Fatal(err)
	}
	if err := s.Backup(t.Context(), file); err == nil {
		t.Error("a backup over another file was taken")
	}
	if list, err := os.ReadDir(filepath.Dir(file)); err != nil || len(list) != 1 {
		t.Errorf("left beside the copy: %v (%v)", list, err)
	}
	put(t, s, "later")
	if err := s.DeleteThread(t.Context(), "later"); err != nil {
		t.Fatal(err)
	}
	to, err := sqlite.Open(t.Context(), file, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	same := func(what string, from, copied any, errs ...error) {
		t.Helper()
		if err := errors.Join(errs...); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if diff := cmp.Diff(from, copied, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(checkpoint.Checkpoint{}, "SizeBytes")); diff != "" {
			t.Errorf("%s (-from +copy):\n%s", what, diff)
		}
	}
	for _, thread := range []string{"t", "Put"} {
		a, errA := s.Thread(t.Context(), thread)
		b, errB := to.Thread(t.Context(), thread)
		same(thread, a, b, errA, errB)
		stepsA, errA := all(s.History(t.Context(), thread, true))
		stepsB, errB := all(to.History(t.Context(), thread, true))
		same("steps of "+thread, stepsA, stepsB, errA, errB)
		rowsA, errA := all(s.Decisions(t.Context(), thread))
		rowsB, errB := all(to.Decisions(t.Context(), thread))
		same("decisions of "+thread, rowsA, rowsB, errA, errB)
	}
	stones, err := to.Tombstones(t.Context())
	same("tombstones", 1, len(stones), err)
	d, errA := s.Definition(t.Context(), checkpointtest.Definition("a").Fingerprint)
	e, errB := to.Definition(t.Context(), checkpointtest.Definition("a").Fingerprint)
	same("definition", d, e, errA, errB)
	if _, err := to.Commit(t.Context(), c); err != nil { // the lease was copied, and the last keyframe is where it says
		t.Errorf("the copy does not go on: %v", err)
	}
}

func all[T any](rows iter.Seq2[*T, error]) (list []*T, err error) {
	for row, err := range rows {
		if err != nil {
			return nil, err
		}
		list = append(list, row)
	}
	return list, nil
}

// TestCompactRemovesLeftovers leaves over what crashes can and has it removed.
func TestCompactRemovesLeftovers(t *testing.T) {
	s, folder := newStore(t)
	chainOf(t, s, "t", 3)
	if err := s.AddResult(t.Context(), "t", "t", checkpoint.PendingResult{Step: 3, Path: "p"}); err != nil {
		t.Fatal(err)
	}
	chainOf(t, s, "begun", 1)
	if err := os.Remove(filepath.Join(folder, "threads/begun/head.json")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"threads/t/head.json.tmp", "threads/t/steps/00000003.json", "threads/t/steps/00000001.json.new", "threads/t/steps/00000000.json.tmp",
		"threads/t/results/00000099-0123456789abcdef.json", "tombstones/x.json.tmp", "threads/empty/x"} {
		file := filepath.Join(folder, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, make([]byte, 1000), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := os.OpenFile(filepath.Join(folder, "threads/t/decisions.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = rows.WriteString("half a ro")
		err = errors.Join(err, rows.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	before, err := s.Stats(t.Context())
	if err != nil || before.FreeBytes < 6009 || before.Threads != 1 {
		t.Fatalf("%+v (%v)", before, err)
	}
	var done, total int64
	if err := s.Compact(t.Context(), func(d, t int64) { done, total = d, t }); err != nil {
		t.Fatal(err)
	}
	if done != total || total != before.FreeBytes {
		t.Errorf("progress ended at %d of %d, want %d", done, total, before.FreeBytes)
	}
	after, err := s.Stats(t.Context())
	if err != nil || after.FreeBytes != 0 || after.Bytes != before.Bytes-before.FreeBytes {
		t.Errorf("%+v (%v) after %+v", after, err, before)
	}
	for _, name := range []string{"threads/begun", "threads/empty", "tombstones/x.json.tmp"} {
		if _, err := os.Stat(filepath.Join(folder, name)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is left (%v)", name, err)
		}
	}
	clean(t, s)
}

// TestReadersBesideWriters reads whatever there is of a thread while it is committed to, written over and pruned: what
// comes is right, and nothing is ever said to be hurt.
func TestReadersBesideWriters(t *testing.T) {
	s, folder := newStore(t)
	chainOf(t, s, "t", 5)
	ctx, stop := context.WithCancel(t.Context())
	var readers sync.WaitGroup
	for range 3 {
		r := openUnsynced(t, folder, Options{})
		readers.Go(func() {
			for ctx.Err() == nil {
				if err := readAll(ctx, r); err != nil && ctx.Err() == nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for i := range 120 {
		n := int64(i + 10)
		if err := s.ReleaseLease(ctx, checkpoint.Release{Thread: "t", Token: "t"}); err != nil {
			t.Fatal(err)
		}
		state := fmt.Appendf(nil, "[%d]", n)
		_, errPut := s.Put(ctx, checkpoint.Checkpoint{Thread: "t", Step: n, Channels: checkpoint.Channels{"log": state}}, nil)
		_, errOver := s.Put(ctx, checkpoint.Checkpoint{Thread: "t", Step: n - 1, Channels: checkpoint.Channels{"log": state}}, nil)
		_, errPrune := s.Prune(ctx, checkpoint.PruneQuery{Threads: []string{"t"}, BeforeStep: n - 4})
		_, errLease := s.AcquireLease(ctx, checkpoint.LeaseRequest{Thread: "t", Token: "t", TTL: time.Hour, Head: checkpoint.Version{Step: n}})
		if err := errors.Join(errPut, errOver, errPrune, errLease); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	readers.Wait()
}

func readAll(ctx context.Context, s *Store) error {
	head, err := s.Latest(ctx, "t")
	if err != nil {
		return err
	}
	if log := string(head.Channels["log"]); head.Step >= 10 && log != fmt.Sprintf("[%d]", head.Step) && log != fmt.Sprintf("[%d]", head.Step+1) {
		return fmt.Errorf("step %d has the state %s", head.Step, log)
	}
	for _, err := range s.History(ctx, "t", true) {
		if err != nil {
			return err
		}
	}
	_, err = s.Threads(ctx, checkpoint.Query{})
	return err
}
