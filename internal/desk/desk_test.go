package desk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/hitl-tui/hitl-tui/internal/actions"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestDraftIsFoundAgain(t *testing.T) {
	f, dir := newFake(), t.TempDir()
	q := fakeQuestion("thread-1", "q1")
	first := openDesk(t, f, Options{StateDir: dir})
	draft := NewDraft(q)
	draft.Action, draft.Text = "reject", "half a sentence"
	if err := first.SaveDraft(draft); err != nil {
		t.Fatal(err)
	}
	d := openDesk(t, f, Options{StateDir: dir})
	asked := map[string]Question{"by id": q, "asked again": q, "by id, other payload": q}
	again, other := q, q
	again.ID = "new id"
	again.Payload = json.RawMessage("{\n  \"kind\": \"approval\", \"message\": \"thread-1q1\"}")
	other.Payload = json.RawMessage(`{}`)
	asked["asked again"], asked["by id, other payload"] = again, other
	for name, q := range asked {
		if got := d.Draft(q); got == nil || got.Text != draft.Text || got.Action != "reject" {
			t.Errorf("%s: %+v", name, got)
		}
	}
	strange := again
	strange.Payload = json.RawMessage(`{"other": 1}`)
	if got := d.Draft(strange); got != nil {
		t.Errorf("found %+v for another question", got)
	}
	if !cmp.Equal(d.Drafts(), map[string]bool{"thread-1": true}) {
		t.Errorf("Drafts = %v", d.Drafts())
	}
	draft.Text = ""
	if err := d.SaveDraft(draft); err != nil || d.Draft(q) != nil {
		t.Errorf("draft not discarded: %v", err)
	}
	if third := openDesk(t, f, Options{StateDir: dir}); third.Draft(q) != nil {
		t.Error("the discarded draft came back")
	}
}

func TestDraftsOfStoresAreApart(t *testing.T) {
	f, g, dir := newFake(), newFake(), t.TempDir()
	g.url = "fake:other"
	draft := NewDraft(fakeQuestion("thread-1", "q1"))
	draft.Text = "x"
	if err := openDesk(t, f, Options{StateDir: dir}).SaveDraft(draft); err != nil {
		t.Fatal(err)
	}
	if got := openDesk(t, g, Options{StateDir: dir}).Drafts(); len(got) > 0 {
		t.Errorf("another store's drafts: %v", got)
	}
}

func TestFilesAreForTheirOwnerOnly(t *testing.T) {
	f, dir := newFake(), t.TempDir()
	f.add("thread-1", 2)
	d := openDesk(t, f, Options{StateDir: dir})
	respond(t, d, decide("thread-1", "q1", "reject"), "secret plans")
	draft := NewDraft(fakeQuestion("thread-1", "q2"))
	draft.Text = "x"
	if err := d.SaveDraft(draft); err != nil {
		t.Fatal(err)
	}
	files := 0
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		info, err := e.Info()
		want := fs.FileMode(0o600)
		if e.IsDir() {
			want = 0o700
		} else {
			files++
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s is %v, want %v", path, info.Mode().Perm(), want)
		}
		return err
	})
	if err != nil || files < 3 {
		t.Errorf("%d files, %v; want outbox, lock and draft", files, err)
	}
}

// TestSecretIsNeverWritten: neither what an option of the desk calls secret nor what the question itself does.
func TestSecretIsNeverWritten(t *testing.T) {
	t.Run("by option", func(t *testing.T) {
		f := newFake()
		f.add("thread-1", 1)
		secretIsNeverWritten(t, f, func(q Question) bool { return q.Key == "q1" })
	})
	t.Run("by schema", func(t *testing.T) {
		f := newFake()
		asked := &f.add("thread-1", 1).open[0].Question
		asked.Kind, asked.Schema = actions.FormKind, json.RawMessage(`{"properties":{"key":{"type":"string","writeOnly":true}}}`)
		secretIsNeverWritten(t, f, nil)
	})
}

func secretIsNeverWritten(t *testing.T, f *fakeSource, secret func(Question) bool) {
	t.Helper()
	dir := t.TempDir()
	d, err := New(f, Options{StateDir: dir, Secret: secret})
	if err != nil {
		t.Fatal(err)
	}
	x := decide("thread-1", "q1", "respond")
	x.Data = json.RawMessage(`"hunter2"`)
	respond(t, d, x, "hunter2")
	if err := d.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err == nil && len(data) > 0 {
			t.Errorf("%s holds %s", path, data)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestBrokenOutboxIsPutAside(t *testing.T) {
	f, dir := newFake(), t.TempDir()
	folder := newFiles(dir, f.url).dir
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"outbox-1.lock": "", "outbox-1.json": `[{"decision": "my words`} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	openDesk(t, f, Options{StateDir: dir})
	kept, err := os.ReadFile(filepath.Join(folder, "outbox-1.json.broken"))
	if err != nil || string(kept) != `[{"decision": "my words` {
		t.Errorf("put aside: %q, %v", kept, err)
	}
}

func TestDecisionThatCannotBeKeptIsRefused(t *testing.T) {
	if os.Getuid() == 0 {
		t.Log("as root the folder's mode holds nobody back; a file in its place does")
	}
	f, dir := newFake(), t.TempDir()
	f.add("thread-1", 1)
	d := openDesk(t, f, Options{StateDir: dir})
	if err := os.WriteFile(newFiles(dir, f.url).dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Respond(t.Context(), decide("thread-1", "q1", "approve"), nil); Code(err) != CodeStoreUnavailable {
		t.Errorf("Respond: %v", err)
	}
	wantStates(t, d, "")
}

func TestReadOnlyRefusesWhatDecidesOrDestroys(t *testing.T) {
	f := newFake()
	f.add("thread-1", 1)
	d := openDesk(t, f, Options{ReadOnly: true})
	ctx := t.Context()
	refused := map[string]func() error{
		"respond": func() error { _, err := d.Respond(ctx, decide("thread-1", "q1", "approve"), nil); return err },
		"answer": func() error {
			_, err := d.Answer(ctx, []Decision{decide("thread-1", "q1", "approve")}, false)
			return err
		},
		"carry":   func() error { return d.CarryOn(ctx, "thread-1") },
		"cancel":  func() error { return d.CancelRun(ctx, "thread-1") },
		"claim":   func() error { return d.Claim(ctx, "thread-1", time.Minute) },
		"release": func() error { return d.Release(ctx, "thread-1") },
		"fork":    func() error { _, err := d.Fork(ctx, "thread-1", 0); return err },
		"patch": func() error {
			_, err := d.Patch(ctx, Change{Thread: "thread-1", Updates: map[string]json.RawMessage{"a": nil}})
			return err
		},
		"prune":  func() error { _, err := d.Prune(ctx, Bounds{All: true, BeforeStep: 1}, false, nil); return err },
		"delete": func() error { return d.Delete(ctx, "thread-1") },
		"start":  func() error { _, err := d.Start(ctx, StartRequest{File: "x"}, false); return err },
		"sweep":  func() error { _, err := d.Sweep(ctx, false, nil); return err },
	}
	for name, call := range refused {
		if err := call(); !errors.Is(err, ErrReadOnly) {
			t.Errorf("%s: %v, want ErrReadOnly", name, err)
		}
	}
	if _, err := d.Open(ctx, "thread-1"); err != nil {
		t.Errorf("open: %v", err)
	}
}

func TestSourceThatLacksAPartSaysSo(t *testing.T) {
	f := newFake()
	f.add("thread-1", 1)
	d := openDesk(t, f, Options{})
	ctx := t.Context()
	for name, call := range map[string]func() error{
		"claim":     func() error { return d.Claim(ctx, "thread-1", time.Minute) },
		"fork":      func() error { _, err := d.Fork(ctx, "thread-1", 0); return err },
		"prune":     func() error { _, err := d.Prune(ctx, Bounds{All: true, BeforeStep: 1}, true, nil); return err },
		"decisions": func() error { _, err := d.Decisions(ctx, "", 1); return err },
		"workflows": func() error { _, err := d.Workflows(ctx); return err },
		"sweep":     func() error { _, err := d.Sweep(ctx, false, nil); return err },
		"cancel":    func() error { return d.CancelRun(ctx, "thread-1") },
	} {
		if err := call(); !errors.Is(err, ErrUnsupported) || Code(err) != CodeUsage {
			t.Errorf("%s: %v, want ErrUnsupported", name, err)
		}
	}
}

func TestAnswerGoesAtOnce(t *testing.T) {
	f := newFake()
	thread := f.add("thread-1", 2)
	d := openDesk(t, f, Options{Reviewer: "ana"})
	both := []Decision{decide("read-1", "q1", "approve"), decide("read-1", "q2", "reject")}
	for i := range both {
		both[i].Question = fmt.Sprintf("thread-1/q%d", i+1)
	}
	if _, err := d.Answer(t.Context(), both, true); err != nil || len(f.accepted) > 0 {
		t.Errorf("check: %v, accepted %v", err, f.accepted)
	}
	result, err := d.Answer(t.Context(), both, false)
	if err != nil || result.Status != "done" {
		t.Errorf("Answer = %+v, %v", result, err)
	}
	if len(thread.answers) != 2 || thread.answers[0].by != "ana" {
		t.Errorf("answers %v", thread.answers)
	}
	if _, err := d.Answer(t.Context(), both, false); Code(err) != CodeConflict {
		t.Errorf("second answer: %v", err)
	}
	if _, err := d.Answer(t.Context(), []Decision{decide("thread-1", "q1", "approve"), decide("other", "q1", "approve")}, false); Code(err) != CodeUsage {
		t.Errorf("two threads in one call: %v", err)
	}
}

func TestCountsByTab(t *testing.T) {
	f := newFake()
	for i, status := range []string{"interrupted", "sleeping", "running", "failed", "stalled", "done", "rejected", "stopped", "cancelled"} {
		f.add(fmt.Sprintf("thread-%d", i), 0).status = status
	}
	got, err := openDesk(t, f, Options{}).Counts(t.Context())
	if want := (Counts{Waiting: 2, Running: 1, Failed: 2, Finished: 4, All: 9}); err != nil || !cmp.Equal(got, want) {
		t.Errorf("Counts = %v, %v; want %v", got, err, want)
	}
}

func TestTabAndFilterBothHold(t *testing.T) {
	f := newFake()
	f.add("thread-a", 1)
	f.add("thread-b", 0).status = "failed"
	d := openDesk(t, f, Options{})
	for _, test := range []struct {
		q    Query
		want int
	}{
		{Query{}, 2}, {Query{Tab: Failed}, 1}, {Query{Tab: Waiting, Filter: "status:failed"}, 0}, {Query{Filter: "status:failed"}, 1},
		{Query{Tab: Failed, Filter: "-status:failed"}, 0},
	} {
		page, err := d.Threads(t.Context(), test.q)
		if err != nil || len(page.Threads) != test.want {
			t.Errorf("%+v: %d threads, %v; want %d", test.q, len(page.Threads), err, test.want)
		}
	}
	for _, q := range []Query{{Tab: "x"}, {Sort: "x"}, {Filter: "x:"}} {
		if _, err := d.Threads(t.Context(), q); Code(err) != CodeUsage {
			t.Errorf("%+v: %v, want a usage error", q, err)
		}
	}
}

func TestShortIDs(t *testing.T) {
	threads := []Thread{{ID: "aaaa-1234"}, {ID: "bbbb-1234"}, {ID: "cc-9999"}, {ID: "xy"}, {ID: "1234"}, {ID: "日本語"},
		{ID: "fix-bad-action"}, {ID: "0197a2c4-5b6d-7e8f-9a0b-1c2d3e4f5a6b"}, {ID: strings.Repeat("発", 20)}, {ID: "x." + strings.Repeat("y", 30)}}
	shorten(threads)
	var got []string
	for _, t := range threads {
		got = append(got, t.Short)
	}
	if want := []string{"aaaa-1234", "bbbb-1234", "9999", "xy", "1234", "日本語", "action", "5a6b", "発発", "yyyy"}; !cmp.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestDiff(t *testing.T) {
	f := newFake()
	f.add("thread-1", 0)
	got, err := openDesk(t, f, Options{}).Diff(t.Context(), "thread-1", 0, 1)
	one, two := json.RawMessage(`1`), json.RawMessage(`2`)
	want := []KeyDiff{{"a", "changed", one, two}, {"new", "added", nil, one}, {"gone", "removed", one, nil}, {"b", "same", one, one}}
	if err != nil || !cmp.Equal(got, want) {
		t.Errorf("%v\n%s", err, cmp.Diff(want, got))
	}
}

func TestCloseKeepsWhatIsUnsentAndWaitsForWhatRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.gate = make(chan struct{})
		running, waiting := f.add("thread-1", 1), f.add("thread-2", 1)
		d, err := New(f, Options{StateDir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		respond(t, d, decide("thread-1", "q1", "approve"), "")
		time.Sleep(5 * time.Second)
		synctest.Wait()
		respond(t, d, decide("thread-2", "q1", "reject"), "my reason")
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		began := time.Now()
		if err := d.Close(ctx); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took != time.Minute || running.status != "stalled" {
			t.Errorf("closed after %v with the run %s; want it interrupted after a minute", took, running.status)
		}
		if len(running.open) != 0 {
			t.Error("the answer of the running thread was lost")
		}
		if got := d.Draft(waiting.open[0]); got == nil || got.Text != "my reason" || !got.NotSent {
			t.Errorf("draft %+v", got)
		}
		if _, err := d.Respond(t.Context(), decide("thread-2", "q1", "approve"), nil); !errors.Is(err, ErrClosed) {
			t.Errorf("Respond after Close: %v", err)
		}
	})
}
