package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// timed asks with a deadline.
func timed(d time.Duration, action actions.Action, data any) RunnerFunc {
	q := plainQuestion
	q.TimeoutMS, q.DefaultAction = d.Milliseconds(), action
	if data != nil {
		q.DefaultData = js(data)
	}
	return asks(q)
}

func TestDeadlines(t *testing.T) {
	for _, x := range []struct {
		action actions.Action
		data   any
		status checkpoint.Status
	}{
		{"respond", "nobody", checkpoint.Done}, {"reject", "late", checkpoint.Rejected}, {"", nil, checkpoint.Interrupted},
		{"respond", 5, checkpoint.Interrupted}, // a default that the question no longer takes answers nothing
	} {
		w := newWorld(t)
		asked := w.start(graph(node("ask", timed(time.Hour, x.action, x.data))), nil)
		row, _ := w.store.Thread(t.Context(), asked.Thread)
		if row.Due == nil || !row.Due.Equal(w.clock.now().Add(time.Hour)) {
			t.Fatalf("due %v", row.Due)
		}
		w.clock.advance(time.Hour - time.Second)
		if all, err := w.Sweep(t.Context(), false, nil); err != nil || len(all) != 0 {
			t.Errorf("%s: before it is due: %v, %+v", x.action, err, all)
		}
		w.clock.advance(time.Second)
		all, err := w.Sweep(t.Context(), false, nil)
		if err != nil || len(all) != 1 || all[0].Status != x.status {
			t.Fatalf("%s: %v, %+v", x.action, err, all)
		}
		if again, err := w.Sweep(t.Context(), false, nil); err != nil || len(again) != 0 {
			t.Errorf("%s: swept twice: %v, %+v", x.action, err, again)
		}
		if x.status == checkpoint.Interrupted {
			if q := all[0].Questions[0]; !q.Overdue || len(w.outcomes(asked.Thread)) != 0 {
				t.Error("not marked overdue, or answered")
			}
			if row, err := w.store.Thread(t.Context(), asked.Thread); err != nil || row.Due == nil || !row.Due.Equal(w.clock.now()) {
				t.Errorf("%s: of the overdue thread the row tells %v, %v", x.action, row.Due, err)
			}
			continue
		}
		for d := range w.store.Decisions(t.Context(), asked.Thread) {
			if d.Reviewer != "deadline" || d.WaitedSeconds != 3600 {
				t.Errorf("decided by %s after %v s", d.Reviewer, d.WaitedSeconds)
			}
		}
	}
}

// sleeps waits a durable hour.
func sleeps(_ context.Context, c *Call) (Result, error) {
	return Result{WakeAt: c.Now().Add(time.Hour)}, nil
}

func TestTimers(t *testing.T) {
	g := graph(node("wait", sleeps, "after"), node("after", writes("after", true)))
	for name, wake := range map[string]func(*world, string) (*Outcome, error){
		"sweep": func(w *world, thread string) (*Outcome, error) {
			w.clock.advance(time.Hour)
			all, err := w.Sweep(context.Background(), false, nil)
			if len(all) != 1 {
				return nil, fmt.Errorf("swept %d: %w", len(all), err)
			}
			return &all[0], err
		},
		"no answer": func(w *world, thread string) (*Outcome, error) {
			return w.Resume(context.Background(), ResumeRequest{Thread: thread})
		},
		"continue": func(w *world, thread string) (*Outcome, error) { return w.answer(thread, say("continue")), nil },
		"no action": func(w *world, thread string) (*Outcome, error) {
			return w.answer(thread, Answer{}), nil
		},
		"stop": func(w *world, thread string) (*Outcome, error) { return w.answer(thread, say("stop")), nil },
	} {
		w := newWorld(t)
		out := w.start(g, nil)
		if out.Status != checkpoint.Sleeping {
			t.Fatalf("%+v", out)
		}
		if _, err := w.Resume(t.Context(), ResumeRequest{Thread: out.Thread, Answers: []Answer{say("approve")}}); err == nil {
			t.Error("a timer can be approved")
		}
		if head, err := w.store.Latest(t.Context(), out.Thread); err != nil || head.Done() || !slices.Equal(head.Next, []string{"wait"}) {
			t.Errorf("asleep: %v, %+v", err, head)
		}
		out, err := wake(w, out.Thread)
		want := checkpoint.Done
		if name == "stop" {
			want = checkpoint.Stopped
		}
		if err != nil || out.Status != want {
			t.Errorf("%s: %v, %+v", name, err, out)
		}
	}
}

func TestSweepCarriesStalledThreadsOn(t *testing.T) { eachStore(t, testSweepCarriesStalledThreadsOn) }

func testSweepCarriesStalledThreadsOn(t *testing.T, w *world) {
	var r ran
	var cancel context.CancelCauseFunc
	asked := w.start(gate(&r, cancelled(&cancel, nil)), nil)
	ctx, stop := context.WithCancelCause(t.Context())
	cancel = stop
	w.Resume(ctx, ResumeRequest{Thread: asked.Thread, Answers: []Answer{say("approve")}})
	cancel = nil
	if all, err := w.Sweep(t.Context(), false, nil); err != nil || len(all) != 0 {
		t.Errorf("without carry-on: %v, %+v", err, all)
	}
	all, err := w.Sweep(t.Context(), true, nil)
	if err != nil || len(all) != 1 || all[0].Status != checkpoint.Done {
		t.Errorf("%v, %+v", err, all)
	}
}

func TestForkIsAThreadOfItsOwn(t *testing.T) { eachStore(t, testForkIsAThreadOfItsOwn) }

func testForkIsAThreadOfItsOwn(t *testing.T, w *world) {
	var r ran
	q := plainQuestion
	q.TimeoutMS = time.Hour.Milliseconds()
	g := graph(node("first", writes("x", 1), "ask"), node("ask", asks(q), "after"), node("after", noted(&r, writes("y", 2))))
	asked := w.start(g, nil)
	w.answer(asked.Thread, say("reject"))
	w.clock.advance(30 * time.Minute)
	fork, err := w.Fork(t.Context(), asked.Thread, asked.Version.Step, "", "ben")
	if err != nil || fork.Status != checkpoint.Interrupted || fork.Version.Step != 0 {
		t.Fatalf("%v, %+v", err, fork)
	}
	if f := fork.Questions[0]; f.ID == asked.Questions[0].ID || !f.Due.Equal(w.clock.now().Add(time.Hour)) {
		t.Errorf("its question %s is due %s", f.ID, f.Due)
	}
	row, err := w.store.Thread(t.Context(), fork.Thread)
	if err != nil || row.Origin == nil || *row.Origin != (checkpoint.Origin{Thread: asked.Thread, Step: asked.Version.Step}) {
		t.Errorf("origin %+v", row.Origin)
	}
	if out := w.answer(fork.Thread, say("approve")); out.Status != checkpoint.Done {
		t.Errorf("%+v", out)
	}
	if diff := cmp.Diff(map[string]string{"x": "1", "y": "2"}, w.state(fork.Thread)); diff != "" {
		t.Error(diff)
	}
	if old, _ := w.Open(t.Context(), asked.Thread); old.Status != checkpoint.Rejected {
		t.Errorf("the old thread is %s", old.Status)
	}
	middle, err := w.Fork(t.Context(), asked.Thread, 1, "again", "ben")
	if err != nil || middle.Status != checkpoint.Stalled {
		t.Fatalf("a fork that can run: %v, %+v", err, middle)
	}
	if out, err := w.Resume(t.Context(), ResumeRequest{Thread: "again"}); err != nil || out.Status != checkpoint.Interrupted {
		t.Errorf("carried on: %v, %+v", err, out)
	}
}

func TestEditKeepsTheQuestionsOpen(t *testing.T) { eachStore(t, testEditKeepsTheQuestionsOpen) }

func testEditKeepsTheQuestionsOpen(t *testing.T, w *world) {
	q := plainQuestion
	q.ContentKey = "notes"
	asked := w.start(graph(node("ask", asks(q))), map[string]any{"notes": "old"})
	version := asked.Version
	out, err := w.Edit(t.Context(), EditRequest{Thread: asked.Thread, Updates: map[string]json.RawMessage{"notes": js("new")}, IfVersion: &version, By: "ana"})
	if err != nil || out.Version.Step != version.Step+1 || len(out.Questions) != 1 || out.Questions[0].ID != asked.Questions[0].ID {
		t.Fatalf("%v, %+v", err, out)
	}
	if got := string(out.Questions[0].Question.Content); got != `"new"` || out.Questions[0].ShownHash == asked.Questions[0].ShownHash {
		t.Errorf("shown is %s", got)
	}
	_, err = w.Resume(t.Context(), ResumeRequest{Thread: asked.Thread, Answers: []Answer{say("approve")}, IfVersion: &version})
	if !errors.Is(err, checkpoint.ErrConflict) {
		t.Errorf("answering what was shown before the edit: %v", err)
	}
	if _, err := w.Edit(t.Context(), EditRequest{Thread: asked.Thread, Updates: map[string]json.RawMessage{"@epoch": js("x")}, By: "ana"}); err == nil {
		t.Error("an edit may write engine channels")
	}
}

func TestUpgrade(t *testing.T) { eachStore(t, testUpgrade) }

func testUpgrade(t *testing.T, w *world) {
	old := graph(node("ask", asks(plainQuestion), "after"), node("after", writes("v", 1)))
	asked := w.start(old, nil)
	gone := w.shelf.put(graph(node("other", passes)))
	if _, err := w.Resume(t.Context(), ResumeRequest{Thread: asked.Thread, Upgrade: &gone}); !errors.Is(err, ErrWorkflowChanged) {
		t.Errorf("onto a workflow without the node: %v", err)
	}
	next := w.shelf.put(graph(node("ask", asks(plainQuestion), "after"), node("after", writes("v", 2))))
	_, err := w.Resume(t.Context(), ResumeRequest{Thread: asked.Thread, Upgrade: &next, Answers: []Answer{say("nonsense")}})
	if open, _ := w.Open(t.Context(), asked.Thread); err == nil || open.Version != asked.Version {
		t.Errorf("a refused answer upgraded the thread: %v", err)
	}
	out, err := w.Resume(t.Context(), ResumeRequest{Thread: asked.Thread, Upgrade: &next, Answers: []Answer{say("approve")}})
	if err != nil || out.Status != checkpoint.Done || w.state(asked.Thread)["v"] != "2" {
		t.Fatalf("%v, %+v", err, out)
	}
	if diff := cmp.Diff([]string{"0 input", "1 step ask@1:waiting", "2 upgrade", "3 answer ask@1:completed after@1:completed"}, w.history(asked.Thread)); diff != "" {
		t.Error(diff)
	}
}

func TestLeads(t *testing.T) {
	w := newWorld(t)
	review := node("review", asks(plainQuestion), "publish")
	review.Routes = map[string][]string{"retry": {"draft"}, "skip": nil}
	review.When = []Branch{{If: func(Scope, Value) (bool, error) { return false, nil }, Then: []string{"elsewhere"}}}
	asked := w.start(graph(node("draft", passes, "review"), review, node("publish", passes), node("elsewhere", passes)), nil)
	leads := asked.Questions[0].Leads
	for action, want := range map[actions.Action]Lead{
		"approve": {To: []string{"elsewhere", "publish"}, When: true}, "retry": {To: []string{"draft"}}, "skip": {Ends: checkpoint.Done},
		"reject": {Ends: checkpoint.Rejected}, "cancel": {Ends: checkpoint.Cancelled}, "stop": {Ends: checkpoint.Stopped}, "reply": {Again: true},
	} {
		if diff := cmp.Diff(want, leads[action]); diff != "" {
			t.Errorf("%s: %s", action, diff)
		}
	}
}

// TestSweepKeepsWhatFinished: a question that is overdue on a stalled thread is marked once the thread came to rest. A
// step of its own would leave behind the results that wait for the one that was interrupted.
func TestSweepKeepsWhatFinished(t *testing.T) {
	eachStore(t, func(t *testing.T, w *world) {
		var r ran
		var cancel context.CancelCauseFunc
		q := plainQuestion
		q.TimeoutMS = time.Hour.Milliseconds()
		g := graph(node("ask", asks(q)), node("split", passes, "a", "b"), node("a", noted(&r, passes)), node("b", noted(&r, cancelled(&cancel, nil)))).starting("ask", "split")
		g.MaxConcurrency = 1
		ctx, stop := context.WithCancelCause(t.Context())
		cancel = stop
		out, err := w.Start(ctx, w.request(g, nil))
		if err != nil || out.Status != checkpoint.Stalled || len(out.Questions) != 1 {
			t.Fatalf("%v, %+v", err, out)
		}
		cancel = nil
		w.clock.advance(time.Hour)
		if all, err := w.Sweep(t.Context(), false, nil); err != nil || len(all) != 0 {
			t.Errorf("swept while stalled: %v, %+v", err, all)
		}
		if _, err := w.Resume(t.Context(), ResumeRequest{Thread: out.Thread}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"a@1", "b@1", "b@1"}, r.all()); diff != "" {
			t.Error(diff)
		}
		if all, err := w.Sweep(t.Context(), false, nil); err != nil || len(all) != 1 || !all[0].Questions[0].Overdue {
			t.Errorf("swept at rest: %v, %+v", err, all)
		}
	})
}

// TestAForkRestartsItsClocks: a deadline and a timer have, in the fork, the whole of their time again; the old thread's
// go on as they were, and each is due once.
func TestAForkRestartsItsClocks(t *testing.T) {
	eachStore(t, func(t *testing.T, w *world) {
		g := graph(node("ask", timed(time.Hour, "respond", "nobody")), node("wait", sleeps)).starting("ask", "wait")
		old := w.start(g, nil)
		w.clock.advance(50 * time.Minute)
		fork, err := w.Fork(t.Context(), old.Thread, old.Version.Step, "", "ben")
		if err != nil {
			t.Fatal(err)
		}
		for _, due := range []struct {
			after  time.Duration
			thread string
		}{{10 * time.Minute, old.Thread}, {50 * time.Minute, fork.Thread}} {
			w.clock.advance(due.after - time.Second)
			if all, err := w.Sweep(t.Context(), false, nil); err != nil || len(all) != 0 {
				t.Errorf("swept too early: %v, %+v", err, all)
			}
			w.clock.advance(time.Second)
			all, err := w.Sweep(t.Context(), false, nil)
			if err != nil || len(all) != 1 || all[0].Thread != due.thread || all[0].Status != checkpoint.Done {
				t.Errorf("after %s: %v, %+v", due.after, err, all)
			}
		}
	})
}

// TestSweepTellsHowFarItIs: each thread that is looked at is told, those with something due and then the stalled ones.
func TestSweepTellsHowFarItIs(t *testing.T) {
	w := newWorld(t)
	g := graph(node("ask", timed(time.Hour, "", nil)))
	for range 3 {
		w.start(g, nil)
	}
	w.clock.advance(time.Hour)
	for _, want := range [][]string{{"1/3", "2/3", "3/3"}, nil} {
		var told []string
		if _, err := w.Sweep(t.Context(), true, func(done, total int64) { told = append(told, fmt.Sprintf("%d/%d", done, total)) }); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(told, want) {
			t.Errorf("told %v, want %v: what was told to be overdue is looked at once", told, want)
		}
	}
}
