package desk

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/actions"
)

// fakeSource is a source in memory: each thread has open questions, and answering closes them in one step. A run
// rests at once unless the test has put a gate before it.
type fakeSource struct {
	mu       sync.Mutex
	threads  map[string]*fakeThread
	order    []string
	accepted []string // response ids, in order
	seq      int64
	changed  []fakeChange
	wakers   []chan struct{}
	gate     chan struct{} // nil: runs rest at once; else each waits for one value
	working  int
	most     int
	observe  func(Event)
	url      string
	now      func() time.Time
}

type fakeThread struct {
	id      string
	status  string
	step    int64
	open    []Question
	foreign bool // another process runs it
	due     time.Time
	claimed string
	answers []fakeAnswer
}

type fakeAnswer struct{ question, action, by, response string }

type fakeChange struct {
	seq    int64
	thread string
}

func newFake() *fakeSource {
	return &fakeSource{threads: map[string]*fakeThread{}, url: "fake:store", now: time.Now}
}

// add makes a thread that asks n questions.
func (f *fakeSource) add(id string, n int) *fakeThread {
	f.mu.Lock()
	defer f.mu.Unlock()
	t := &fakeThread{id: id, status: "interrupted", step: 1}
	for i := range n {
		t.open = append(t.open, fakeQuestion(id, fmt.Sprintf("q%d", i+1)))
	}
	f.threads[id], f.order = t, append(f.order, id)
	f.touch(t)
	return t
}

func fakeQuestion(thread, key string) Question {
	payload, _ := json.Marshal(map[string]string{"kind": "approval", "message": thread + key})
	return Question{
		Thread: thread, ID: thread + "/" + key, Key: key, Address: "ask." + key, Node: "ask", Path: "main@1/ask@1",
		Question:  actions.Question{Kind: actions.Approval, Title: "Title of " + key, Message: key},
		ShownHash: "hash-" + key, Payload: payload, Asked: time.Now(),
	}
}

func (f *fakeSource) touch(t *fakeThread) {
	f.seq++
	f.changed = append(f.changed, fakeChange{f.seq, t.id})
	for _, w := range f.wakers {
		select {
		case w <- struct{}{}:
		default:
		}
	}
}

func (t *fakeThread) version() string { return fmt.Sprintf("%d.1", t.step) }

func (t *fakeThread) row() Thread {
	return Thread{ID: t.id, Workflow: "w-" + t.id, Node: "ask", Status: t.status, Step: t.step, Revision: 1, Questions: len(t.open), Due: t.due,
		Claimed: t.claimed, ClaimedUntil: time.Now().Add(time.Hour)}
}

func (t *fakeThread) detail() *Detail {
	d := &Detail{Thread: t.row()}
	for _, q := range t.open {
		q.Version = t.version()
		d.Questions = append(d.Questions, q)
	}
	return d
}

func (f *fakeSource) find(id string) (*fakeThread, error) {
	if t := f.threads[id]; t != nil {
		return t, nil
	}
	return nil, &Error{Code: CodeNotFound, Message: "no thread " + id}
}

func (f *fakeSource) List(ctx context.Context, s Selection) (Page, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var page Page
	for _, id := range f.order {
		if t := f.threads[id]; t != nil && (len(s.Status) == 0 || slices.Contains(s.Status, t.status)) {
			page.Threads = append(page.Threads, t.row())
		}
	}
	return page, nil
}

func (f *fakeSource) Counts(ctx context.Context) (map[string]int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	counts := map[string]int64{}
	for _, t := range f.threads {
		counts[t.status]++
	}
	return counts, nil
}

func (f *fakeSource) Resolve(ctx context.Context, name string) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, id := range f.order {
		if id == name || len(name) >= 4 && strings.HasSuffix(id, name) {
			return id, nil
		}
	}
	return "", &Error{Code: CodeNotFound, Message: "no thread " + name}
}

func (f *fakeSource) Open(ctx context.Context, id string) (*Detail, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	t, err := f.find(id)
	if err != nil {
		return nil, err
	}
	return t.detail(), nil
}

func (f *fakeSource) History(ctx context.Context, id string) ([]Step, error) { return nil, nil }

func (f *fakeSource) State(ctx context.Context, id string, step int64) (*State, error) {
	states := map[int64]map[string]json.RawMessage{
		0: {"a": json.RawMessage(`1`), "b": json.RawMessage(`1`), "gone": json.RawMessage(`1`)},
		1: {"a": json.RawMessage(`2`), "b": json.RawMessage(`1`), "new": json.RawMessage(`1`)},
	}
	return &State{Thread: id, Step: step, State: states[step]}, nil
}

func (f *fakeSource) Changes(ctx context.Context, after int64) (Changes, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := Changes{Seq: f.seq}
	for _, x := range f.changed {
		if after >= 0 && x.seq > after {
			c.Threads = append(c.Threads, f.threads[x.thread].row())
		}
	}
	return c, nil
}

func (f *fakeSource) Watch(ctx context.Context) (<-chan struct{}, error) {
	wake := make(chan struct{}, 1)
	f.mu.Lock()
	f.wakers = append(f.wakers, wake)
	f.mu.Unlock()
	context.AfterFunc(ctx, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.wakers = slices.DeleteFunc(f.wakers, func(w chan struct{}) bool { return w == wake })
		close(wake)
	})
	return wake, nil
}

func (f *fakeSource) Info(ctx context.Context) (StoreInfo, error) { return StoreInfo{URL: f.url}, nil }

func (f *fakeSource) Observe(observe func(Event)) { f.observe = observe }

func (f *fakeSource) Check(ctx context.Context, r AnswerRequest) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.check(r)
}

func (f *fakeSource) check(r AnswerRequest) error {
	t, err := f.find(r.Thread)
	if err != nil {
		return err
	}
	if t.status == "running" {
		return &Error{Code: CodeRunning, Message: "it runs"}
	}
	if r.Version != "" && r.Version != t.version() {
		return &Error{Code: CodeConflict, Message: "version " + r.Version + " is past", Details: t.lastAnswer()}
	}
	for _, x := range r.Decisions {
		if x.Action == "skip" {
			return &actions.NotAllowedError{Action: actions.Skip, Allowed: []actions.Action{actions.Approve}}
		}
		if !slices.ContainsFunc(t.open, func(q Question) bool { return q.ID == x.Question }) {
			return &Error{Code: CodeAlreadyAnswered, Message: x.Question + " was answered", Details: t.lastAnswer()}
		}
	}
	return nil
}

func (t *fakeThread) lastAnswer() map[string]any {
	if len(t.answers) == 0 {
		return nil
	}
	last := t.answers[len(t.answers)-1]
	return map[string]any{"by": last.by, "action": last.action, "at": time.Now().Add(-12 * time.Second)}
}

func (f *fakeSource) Answer(ctx context.Context, r AnswerRequest) (*Result, error) {
	t, gate, err := f.begin(r)
	if err != nil {
		return nil, err
	}
	if r.Accepted != nil {
		r.Accepted()
	}
	if gate != nil {
		select {
		case <-gate:
		case <-ctx.Done():
			return f.interrupted(ctx, t, r)
		}
	}
	return f.rest(t), nil
}

func (f *fakeSource) begin(r AnswerRequest) (*fakeThread, chan struct{}, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.check(r); err != nil {
		return nil, nil, err
	}
	t := f.threads[r.Thread]
	for _, x := range r.Decisions {
		f.accepted = append(f.accepted, x.ResponseID)
		t.answer(x.Question, x.Action, x.Reviewer, x.ResponseID)
	}
	t.status = "running"
	f.working++
	f.most = max(f.most, f.working)
	f.touch(t)
	return t, f.gate, nil
}

func (t *fakeThread) answer(question, action, by, response string) {
	t.open = slices.DeleteFunc(t.open, func(q Question) bool { return q.ID == question })
	t.answers = append(t.answers, fakeAnswer{question, action, by, response})
}

func (f *fakeSource) rest(t *fakeThread) *Result {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.working--
	t.step++
	t.status = "done"
	if len(t.open) > 0 {
		t.status = "interrupted"
	}
	f.touch(t)
	return &Result{Thread: t.id, Status: t.status, Step: t.step, Revision: 1, Questions: t.detail().Questions}
}

// interrupted ends a run whose context ended: a person's cancel puts the questions back, a shutdown does not.
func (f *fakeSource) interrupted(ctx context.Context, t *fakeThread, r AnswerRequest) (*Result, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.working--
	if context.Cause(ctx) != ErrCancelled {
		t.status = "stalled"
		f.touch(t)
		return nil, context.Cause(ctx)
	}
	t.status = "interrupted"
	for _, x := range r.Decisions {
		t.open = append(t.open, fakeQuestion(t.id, strings.TrimPrefix(x.Question, t.id+"/")))
		f.accepted = slices.DeleteFunc(f.accepted, func(id string) bool { return id == x.ResponseID })
	}
	t.answers = t.answers[:len(t.answers)-len(r.Decisions)]
	f.touch(t)
	return &Result{Thread: t.id, Status: t.status, Step: t.step, Revision: 1, WasCancelled: true, Withdrawn: true}, nil
}

// byOthers lets another process answer a question.
func (f *fakeSource) byOthers(thread, question, action, by string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	t := f.threads[thread]
	t.answer(question, action, by, "")
	t.step++
	if len(t.open) == 0 {
		t.status = "done"
	}
	f.touch(t)
}

// runElsewhere lets another process run a thread, or rest.
func (f *fakeSource) runElsewhere(thread string, runs bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	t := f.threads[thread]
	t.status = "interrupted"
	if runs {
		t.status = "running"
	}
	f.touch(t)
}

// openDesk opens a desk that ends with the test.
func openDesk(t testing.TB, f *fakeSource, o Options) *Desk {
	t.Helper()
	d, err := New(f, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
	return d
}

func decide(thread, key, action string) Decision {
	return Decision{Thread: thread, Question: thread + "/" + key, Action: action, Version: "1.1"}
}

func respond(t testing.TB, d *Desk, x Decision, text string) *Entry {
	t.Helper()
	var draft *Draft
	if text != "" {
		draft = &Draft{Action: x.Action, Text: text}
	}
	e, err := d.Respond(t.Context(), x, draft)
	if err != nil {
		t.Fatalf("Respond(%v): %v", x, err)
	}
	return e
}

func states(d *Desk) string {
	var all []string
	for _, e := range d.Outbox() {
		all = append(all, strings.TrimPrefix(e.Decision.Question, e.Decision.Thread+"/")+" "+string(e.State))
	}
	return strings.Join(all, ", ")
}

func wantStates(t testing.TB, d *Desk, want string) {
	t.Helper()
	if got := states(d); got != want {
		t.Errorf("outbox: %s; want %s", got, want)
	}
}
