package local_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/memory"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/sqlite"
	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/desk/local"
	"github.com/hitl-tui/hitl-tui/internal/engine"
)

// note is a workflow that drafts a text, has it judged and writes it to a file.
const note = `workflow: note
input:
  properties: {text: {type: string, default: hello}}
output: {text: text, by: answers.review.by}
nodes:
  draft: {template: "{{.text}}{{with .answers.review.comment}} ({{.}}){{end}}", output: draft, then: review}
  review:
    human: approval
    title: Publish?
    message: "Publish **{{.text}}**?"
    content: draft
    actions: [approve, edit, retry, reject, stop]
    require_comment: [reject]
    routes: {retry: draft}
    then: publish
  publish: {exec: [tee, --, note.txt], stdin: draft}
`

// slow waits for a file before it is done.
const slow = `workflow: slow
nodes:
  ask: {human: approval, message: Go?, then: work}
  work: {shell: "while ! test -e go; do sleep 0.02; done; echo done"}
`

const broken = `workflow: broken
nodes:
  ask: {human: approval, message: Go?, then: nowhere}
`

const failing = `workflow: failing
nodes:
  ask: {human: approval, message: Go?, then: tag}
  tag: {shell: "test -e tag || { echo no tag >&2; exit 3; }"}
`

// bench is a desk over a real engine and a real store in a folder of its own.
type bench struct {
	t      testing.TB
	dir    string
	store  checkpoint.Store
	source *local.Source
	desk   *desk.Desk
}

func newBench(t testing.TB) *bench {
	t.Helper()
	b := &bench{t: t, dir: t.TempDir()}
	for name, text := range map[string]string{"note.yaml": note, "slow.yaml": slow, "broken.yaml": broken, "failing.yaml": failing} {
		if err := os.WriteFile(filepath.Join(b.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b.open(desk.Options{})
	return b
}

func (b *bench) open(o desk.Options) {
	b.t.Helper()
	store, err := sqlite.Open(context.Background(), filepath.Join(b.dir, "desk.db"), sqlite.Options{})
	if err != nil {
		b.t.Fatal(err)
	}
	b.store, b.source = store, local.New(store, engine.Options{})
	if o.Grace == 0 {
		o.Grace = -1
	}
	o.StateDir, o.Reviewer, o.Workflows = filepath.Join(b.dir, "state"), "ana", []string{b.dir}
	if b.desk, err = desk.New(b.source, o); err != nil {
		b.t.Fatal(err)
	}
	d, source := b.desk, b.source
	b.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := errors.Join(d.Close(ctx), source.Close(ctx), store.Close()); err != nil {
			b.t.Error(err)
		}
	})
}

func (b *bench) start(file string, input map[string]json.RawMessage) *desk.Result {
	b.t.Helper()
	r, err := b.desk.Start(b.t.Context(), desk.StartRequest{File: filepath.Join(b.dir, file), Input: input, Workdir: b.dir}, false)
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

func (b *bench) detail(thread string) *desk.Detail {
	b.t.Helper()
	d, err := b.desk.Open(b.t.Context(), thread)
	if err != nil {
		b.t.Fatal(err)
	}
	return d
}

// await reads events until one of a kind has come for a thread, and for a node where one is named.
func (b *bench) await(batches <-chan []desk.Event, kind desk.EventKind, thread string, node ...string) desk.Event {
	b.t.Helper()
	deadline := time.After(30 * time.Second)
	for {
		select {
		case batch := <-batches:
			for _, e := range batch {
				if e.Kind == kind && e.Thread == thread && (len(node) == 0 || e.Node == node[0]) {
					return e
				}
			}
		case <-deadline:
			b.t.Fatalf("no %s of %s %v came; outbox: %+v", kind, thread, node, b.desk.Outbox())
		}
	}
}

func decision(q desk.Question, action, data string) desk.Decision {
	x := desk.Decision{Thread: q.Thread, Question: q.ID, Action: action, Version: q.Version, Shown: q.ShownHash}
	if data != "" {
		x.Data = json.RawMessage(data)
	}
	return x
}

func TestStartAnswerAndFinish(t *testing.T) {
	b := newBench(t)
	r := b.start("note.yaml", nil)
	if r.Status != "interrupted" || len(r.Questions) != 1 {
		t.Fatalf("started: %+v", r)
	}
	d := b.detail(r.Thread[len(r.Thread)-8:])
	q := d.Questions[0]
	if d.ID != r.Thread || d.Status != "interrupted" || q.Title != "Publish?" || string(q.Content) != `"hello"` || q.Version == "" {
		t.Errorf("opened %+v", d)
	}
	var leads []string
	for _, c := range q.Choices {
		if c.Allowed {
			leads = append(leads, string(c.Action)+">"+c.Leads)
		}
	}
	if want := []string{"approve>publish", "reject>END (rejected)", "edit>publish", "stop>END (stopped)", "retry>draft"}; !slices.Equal(leads, want) {
		t.Errorf("choices %q, want %q", leads, want)
	}
	if len(q.Choices) != 15 {
		t.Errorf("%d choices, want all fifteen", len(q.Choices))
	}
	batches := b.desk.Subscribe(t.Context())
	if _, err := b.desk.Respond(t.Context(), decision(q, "approve", ""), nil); err != nil {
		t.Fatal(err)
	}
	if e := b.await(batches, desk.Rested, r.Thread); e.Status != "done" {
		t.Errorf("rested %+v", e)
	}
	out := b.desk.Outbox()[0]
	if out.State != desk.Sent || string(out.Result.Outputs) != `{"text":"hello","by":"ana"}` {
		t.Errorf("entry %s, outputs %s", out.State, out.Result.Outputs)
	}
	written, err := os.ReadFile(filepath.Join(b.dir, "note.txt"))
	if err != nil || string(written) != "hello" {
		t.Errorf("file %q, %v", written, err)
	}
	path := b.detail(r.Thread).Path
	if n := len(path); n < 3 || path[n-1].Node != "publish" || !slices.ContainsFunc(path, func(p desk.PathStep) bool { return p.Run == "review@1" && p.Decision == "ana approve" }) {
		t.Errorf("path %+v", path)
	}
}

func TestRetryBringsASecondRound(t *testing.T) {
	b := newBench(t)
	r := b.start("note.yaml", nil)
	answered, err := b.desk.Answer(t.Context(), []desk.Decision{decision(r.Questions[0], "retry", `"warmer"`)}, false)
	if err != nil {
		t.Fatal(err)
	}
	q := answered.Questions[0]
	if q.Round != 2 || q.Feedback != "warmer" || q.FeedbackBy != "ana" || string(q.Former) != `"hello"` || string(q.Content) != `"hello (warmer)"` {
		t.Errorf("second round: %+v", q)
	}
	diff, err := b.desk.Diff(t.Context(), r.Thread, 1, answered.Step)
	if err != nil || len(diff) == 0 || diff[0].Key != "draft" || diff[0].Kind != "changed" {
		t.Errorf("diff %+v, %v", diff, err)
	}
	steps, err := b.desk.History(t.Context(), r.Thread)
	if err != nil {
		t.Fatal(err)
	}
	last := steps[len(steps)-1]
	if steps[0].Source != "input" || last.Status != "interrupted" || last.Step != answered.Step {
		t.Errorf("history %+v", steps)
	}
	if !slices.ContainsFunc(steps, func(s desk.Step) bool { return len(s.Decisions) == 1 && s.Decisions[0].Action == "retry" }) {
		t.Errorf("no step holds the decision: %+v", steps)
	}
}

func TestRefusalsHaveTheirCodes(t *testing.T) {
	b := newBench(t)
	ctx := t.Context()
	r := b.start("note.yaml", nil)
	q := r.Questions[0]
	answer := func(x desk.Decision) error { _, err := b.desk.Answer(ctx, []desk.Decision{x}, false); return err }
	start := func(file, input string) error {
		_, err := b.desk.Start(ctx, desk.StartRequest{File: file, Input: map[string]json.RawMessage{"txt": json.RawMessage(input)}, Workdir: b.dir}, false)
		return err
	}
	stale := decision(q, "approve", "")
	stale.Version = "0.1"
	wrong := decision(q, "approve", "")
	wrong.Version = "new"
	other := decision(q, "approve", "")
	other.Question = "elsewhere"
	unknown := decision(q, "approve", "")
	unknown.Thread = "no-such-thread"
	tests := map[string]struct {
		err  error
		code string
		exit int
	}{
		"unknown action":      {answer(decision(q, "aprove", "")), desk.CodeUnknownAction, 2},
		"not allowed":         {answer(decision(q, "skip", "")), desk.CodeActionNotAllowed, 2},
		"comment missing":     {answer(decision(q, "reject", "")), desk.CodeInvalidData, 2},
		"too large":           {answer(decision(q, "edit", `"`+strings.Repeat("x", 65536)+`"`)), desk.CodeTooLarge, 2},
		"stale":               {answer(stale), desk.CodeConflict, 4},
		"broken version":      {answer(wrong), desk.CodeUsage, 2},
		"unknown question":    {answer(other), desk.CodeNotFound, 3},
		"unknown thread":      {answer(unknown), desk.CodeNotFound, 3},
		"missing file":        {start(filepath.Join(b.dir, "none.yaml"), "1"), desk.CodeNotFound, 3},
		"broken file":         {start(filepath.Join(b.dir, "broken.yaml"), "1"), desk.CodeWorkflowInvalid, 2},
		"unknown input":       {start(filepath.Join(b.dir, "note.yaml"), "1"), desk.CodeInvalidData, 2},
		"nothing to carry on": {b.desk.CarryOn(ctx, r.Thread), desk.CodeNotWaiting, 4},
		"nothing to cancel":   {b.desk.CancelRun(ctx, r.Thread), desk.CodeNotWaiting, 4},
		"short name":          {answer(desk.Decision{Thread: "x", Action: "approve"}), desk.CodeNotFound, 3},
	}
	for name, test := range tests {
		if got := desk.Code(test.err); got != test.code || desk.ExitCode(got) != test.exit {
			t.Errorf("%s: code %q (exit %d), want %q (exit %d): %v", name, got, desk.ExitCode(got), test.code, test.exit, test.err)
		}
		if desk.Explain(test.err) == "" {
			t.Errorf("%s: no explanation", name)
		}
	}
	if got := b.detail(r.Thread); got.Step != r.Step || got.Revision != r.Revision {
		t.Errorf("a refusal wrote: %d.%d, was %d.%d", got.Step, got.Revision, r.Step, r.Revision)
	}
	if err := answer(decision(q, "approve", "")); err != nil {
		t.Fatal(err)
	}
	late := answer(decision(q, "reject", `"no"`))
	var known *desk.Error
	if code := desk.Code(late); code != desk.CodeAlreadyAnswered && code != desk.CodeConflict || !errors.As(late, &known) || known.Details["by"] != "ana" {
		t.Errorf("late answer: %s: %v", desk.Code(late), late)
	}
}

func TestConflictAtTheDesk(t *testing.T) {
	b := newBench(t)
	r := b.start("note.yaml", nil)
	b.open(desk.Options{Grace: time.Hour}) // a second desk on the same store, as another process has it
	first := b.desk
	q := b.detail(r.Thread).Questions[0]
	if _, err := first.Respond(t.Context(), decision(q, "reject", `"too short"`), &desk.Draft{Text: "too short"}); err != nil {
		t.Fatal(err)
	}
	bob := decision(q, "approve", "")
	bob.Reviewer = "bob"
	if _, err := b.desk.Answer(t.Context(), []desk.Decision{bob}, false); err != nil {
		t.Fatal(err)
	}
	batches := first.Subscribe(t.Context())
	if err := first.SendNow(""); err != nil {
		t.Fatal(err)
	}
	b.await(batches, desk.RunFailed, r.Thread)
	out := first.Outbox()[0]
	if out.State != desk.Refused || !strings.HasPrefix(out.Err, "bob approved this ") {
		t.Errorf("entry %s %q", out.State, out.Err)
	}
	if draft := first.Draft(q); draft == nil || draft.Text != "too short" {
		t.Errorf("draft %+v", draft)
	}
}

func TestCancelledRunPutsTheQuestionBack(t *testing.T) {
	b := newBench(t)
	r := b.start("slow.yaml", nil)
	batches := b.desk.Subscribe(t.Context())
	if _, err := b.desk.Respond(t.Context(), decision(r.Questions[0], "approve", ""), nil); err != nil {
		t.Fatal(err)
	}
	b.await(batches, desk.Progress, r.Thread, "work")
	if kept, err := filepath.Glob(filepath.Join(b.dir, "state", "*", "outbox-*.json")); err != nil || len(kept) > 0 {
		t.Errorf("%v still hold what the engine keeps, %v", kept, err)
	}
	if err := b.desk.CancelRun(t.Context(), r.Thread); err != nil {
		t.Fatal(err)
	}
	b.await(batches, desk.Rested, r.Thread)
	got := b.detail(r.Thread)
	out := b.desk.Outbox()[0]
	t.Logf("after the cancel: %s, %d questions, entry %s %q", got.Status, len(got.Questions), out.State, out.Err)
	switch got.Status {
	case "interrupted": // nothing was committed since the answer
		if len(got.Questions) != 1 || out.Code != desk.CodeCancelled {
			t.Errorf("entry %+v", out)
		}
	case "stalled": // the answer's step was committed
		if err := os.WriteFile(filepath.Join(b.dir, "go"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := b.desk.CarryOn(t.Context(), r.Thread); err != nil {
			t.Fatal(err)
		}
		if e := b.await(batches, desk.Rested, r.Thread); e.Status != "done" {
			t.Errorf("carried on: %+v", e)
		}
	default:
		t.Errorf("status %s", got.Status)
	}
}

func TestFailedThreadIsToldAndCarriedOn(t *testing.T) {
	b := newBench(t)
	r := b.start("failing.yaml", nil)
	batches := b.desk.Subscribe(t.Context())
	if _, err := b.desk.Respond(t.Context(), decision(r.Questions[0], "approve", ""), nil); err != nil {
		t.Fatal(err)
	}
	if e := b.await(batches, desk.RunFailed, r.Thread); e.Node != "tag" || !strings.Contains(e.Text, "no tag") {
		t.Errorf("failed %+v", e)
	}
	if counts, err := b.desk.Counts(t.Context()); err != nil || counts[desk.Failed] != 1 {
		t.Errorf("counts %v, %v", counts, err)
	}
	if got := b.detail(r.Thread); got.FailedNode != "tag" || got.Failure == "" {
		t.Errorf("detail %+v", got)
	}
	if err := os.WriteFile(filepath.Join(b.dir, "tag"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := b.desk.CarryOn(t.Context(), r.Thread); err != nil {
		t.Fatal(err)
	}
	if e := b.await(batches, desk.Rested, r.Thread); e.Status != "done" {
		t.Errorf("carried on: %+v", e)
	}
}

func TestClaimForkPatchPruneDeleteAudit(t *testing.T) {
	b := newBench(t)
	ctx := t.Context()
	r := b.start("note.yaml", nil)
	if err := b.desk.Claim(ctx, r.Thread, 5*time.Minute); err != nil {
		t.Fatal(err)
	}
	page, err := b.desk.Threads(ctx, desk.Query{Tab: desk.Waiting, Filter: "claimed:ana workflow:note"})
	if err != nil || len(page.Threads) != 1 || page.Threads[0].Claimed != "ana" || len(page.Threads[0].Short) < 4 {
		t.Errorf("threads %+v, %v", page.Threads, err)
	}
	bob := decision(r.Questions[0], "approve", "")
	bob.Reviewer = "bob"
	if _, err := b.desk.Answer(ctx, []desk.Decision{bob}, false); desk.Code(err) != desk.CodeClaimed {
		t.Errorf("bob answers what ana claimed: %v", err)
	}
	if _, err := b.desk.Patch(ctx, desk.Change{Thread: r.Thread, Updates: map[string]json.RawMessage{"draft": json.RawMessage(`"patched"`)}, Version: r.Questions[0].Version}); err != nil {
		t.Fatal(err)
	}
	patched := b.detail(r.Thread)
	if string(patched.Questions[0].Content) != `"patched"` {
		t.Errorf("content %s", patched.Questions[0].Content)
	}
	fork, err := b.desk.Fork(ctx, r.Thread, 0)
	if err != nil {
		t.Fatal(err)
	}
	batches := b.desk.Subscribe(ctx)
	if _, running := b.desk.Busy(); running > 0 {
		b.await(batches, desk.Rested, fork)
	}
	if got := b.detail(fork); got.Status != "interrupted" || got.Origin != r.Thread+"@0" {
		t.Errorf("fork %s from %s", got.Status, got.Origin)
	}
	bob.Steal, bob.Version = true, patched.Questions[0].Version
	if _, err := b.desk.Answer(ctx, []desk.Decision{bob}, false); err != nil {
		t.Fatal(err)
	}
	rows, err := b.desk.Decisions(ctx, "", 10)
	if err != nil || len(rows) != 2 || rows[0].Reviewer != "bob" || rows[0].Action != "approve" || rows[1].Reviewer != "ana" || rows[1].Action != "edit" {
		t.Errorf("decisions %+v, %v", rows, err)
	}
	if v, err := b.desk.Verify(ctx, "", nil); err != nil || v.Threads != 2 || v.Rows != 2 || len(v.Broken) > 0 {
		t.Errorf("verified %+v, %v", v, err)
	}
	bounds := desk.Bounds{Threads: []string{r.Thread}, BeforeStep: 2}
	dry, err := b.desk.Prune(ctx, bounds, true, nil)
	if err != nil || !dry.DryRun || dry.Steps == 0 {
		t.Errorf("dry run %+v, %v", dry, err)
	}
	if done, err := b.desk.Prune(ctx, bounds, false, nil); err != nil || done.Steps != dry.Steps {
		t.Errorf("pruned %+v, %v; the dry run said %d", done, err, dry.Steps)
	}
	if err := b.desk.Delete(ctx, r.Thread, fork); err != nil {
		t.Fatal(err)
	}
	if info, err := b.desk.Info(ctx); err != nil || info.Threads != 0 || info.Name != "desk.db" {
		t.Errorf("info %+v, %v", info, err)
	}
}

func TestStartInTheBackground(t *testing.T) {
	b := newBench(t)
	batches := b.desk.Subscribe(t.Context())
	r, err := b.desk.Start(t.Context(), desk.StartRequest{File: filepath.Join(b.dir, "note.yaml"), Workdir: b.dir}, true)
	if err != nil || r.Thread == "" || r.Workflow != "note" {
		t.Fatalf("started %+v, %v", r, err)
	}
	if e := b.await(batches, desk.Rested, r.Thread); e.Status != "interrupted" {
		t.Errorf("rested %+v", e)
	}
	if _, err := b.desk.Start(t.Context(), desk.StartRequest{File: filepath.Join(b.dir, "broken.yaml")}, true); desk.Code(err) != desk.CodeWorkflowInvalid {
		t.Errorf("broken file: %v", err)
	}
}

func TestWorkflowsOfTheFolders(t *testing.T) {
	b := newBench(t)
	all, err := b.desk.Workflows(t.Context())
	if err != nil || len(all) != 4 {
		t.Fatalf("%+v, %v", all, err)
	}
	for _, w := range all {
		if broken := w.Name == "broken.yaml"; broken != (w.Err != "") || !broken && len(w.Input) == 0 {
			t.Errorf("%+v", w)
		}
	}
}

// TestGraphsOfTheFolders: each graph of an AgentMap file can be started under its own name; a CSV file of data is none.
func TestGraphsOfTheFolders(t *testing.T) {
	b := newBench(t)
	for name, text := range map[string]string{"team.csv": "Graph,Node,Inputs\nA,One,x\nB,Two,y\n", "data.csv": "id,name\n1,2\n", "odd.csv": "Graph,Node\n"} {
		if err := os.WriteFile(filepath.Join(b.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	all, err := b.desk.Workflows(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, w := range all {
		if !strings.Contains(w.File, ".csv") {
			continue
		}
		if names = append(names, w.Name); w.Name == "odd.csv" != (w.Err != "") {
			t.Errorf("%+v", w)
		}
		if w.Err == "" {
			if r, err := b.desk.Start(t.Context(), desk.StartRequest{File: w.File, Workdir: b.dir}, false); err != nil || r.Status != "done" {
				t.Errorf("%s: %+v, %v", w.Name, r, err)
			}
		}
	}
	if got := strings.Join(names, " "); got != "odd.csv team::A team::B" {
		t.Errorf("graphs: %s", got)
	}
}

func TestScheduleAppliesARealDeadline(t *testing.T) {
	b := newBench(t)
	timed := strings.Replace(note, "require_comment: [reject]", "timeout: 300ms\n    default_action: approve", 1)
	if err := os.WriteFile(filepath.Join(b.dir, "note.yaml"), []byte(timed), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	batches := b.desk.Subscribe(ctx)
	ended := make(chan error, 1)
	go func() { ended <- b.desk.Schedule(ctx) }()
	r := b.start("note.yaml", nil)
	deadline := time.After(20 * time.Second)
	for b.detail(r.Thread).Status != "done" {
		select {
		case <-batches:
		case <-deadline:
			t.Fatalf("status %s", b.detail(r.Thread).Status)
		}
	}
	rows, err := b.desk.Decisions(ctx, r.Thread, 0)
	if err != nil || len(rows) != 1 || rows[0].Reviewer != "deadline" {
		t.Errorf("decisions %+v, %v", rows, err)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestWithoutAStore(t *testing.T) {
	source := local.New(nil, engine.Options{})
	d, err := desk.New(source, desk.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Threads(t.Context(), desk.Query{}); desk.Code(err) != desk.CodeUsage || !strings.Contains(desk.Explain(err), "--store") {
		t.Errorf("threads: %v", err)
	}
	if err := errors.Join(d.Close(t.Context()), source.Close(t.Context())); err != nil {
		t.Error(err)
	}
}

// A run's own events come before the word that it rests: whoever counts what runs would else count it for ever.
func TestNothingIsHeardOfARunAfterItRests(t *testing.T) {
	file := filepath.Join(t.TempDir(), "plain.yaml")
	if err := os.WriteFile(file, []byte("workflow: plain\nnodes:\n  add: {set: {sum: 1 + 2}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		source := local.New(memory.New(memory.Options{}), engine.Options{})
		var heard atomic.Int64
		source.Observe(func(desk.Event) {
			time.Sleep(time.Second) // a slow listener, on the bubble's clock
			heard.Add(1)
		})
		if _, err := source.Start(t.Context(), desk.StartRequest{File: file, Thread: "t"}, "ana", nil); err != nil {
			t.Fatal(err)
		}
		atRest := heard.Load()
		if atRest == 0 {
			t.Error("nothing was heard of the run when it came to rest")
		}
		time.Sleep(time.Hour)
		if late := heard.Load() - atRest; late > 0 {
			t.Errorf("%d events were heard after the run rested", late)
		}
		if err := source.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}
