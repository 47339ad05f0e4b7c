package engine

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// TestARunThatEndsDuringItsCommitGivesTheLeaseBack: a commit under way is awaited, and the thread is free afterwards.
func TestARunThatEndsDuringItsCommitGivesTheLeaseBack(t *testing.T) {
	for _, cause := range []error{ErrCancelledByPerson, errShutdown} {
		eachStore(t, func(t *testing.T, w *world) {
			ctx, end := context.WithCancelCause(t.Context())
			e := w.engine(func(o *Options) {
				o.CrashPoint = func(at string) {
					if at == "before_commit" {
						end(cause)
					}
				}
			})
			out, err := e.Start(ctx, w.request(graph(node("a", passes, "b"), node("b", passes)), nil))
			if err != nil {
				t.Fatal(err)
			}
			info, err := w.store.Thread(t.Context(), out.Thread)
			if err != nil || info.Step != 1 || info.Lease != nil || info.Status != checkpoint.Stalled {
				t.Errorf("%v, step %d, %s, lease %+v", err, info.Step, info.Status, info.Lease)
			}
			if byPerson := cause == ErrCancelledByPerson; out.WasCancelled != byPerson || out.Withdrawn || out.Steps != 1 {
				t.Errorf("cancelled by a person: %v, but %+v", byPerson, out)
			}
		})
	}
}

// TestACancelledTakeOverIsNotBegunAgain: who answers a thread that crashed first carries it on; cancelling that is not
// overruled by the answer that waits behind it.
func TestACancelledTakeOverIsNotBegunAgain(t *testing.T) {
	w := newWorld(t)
	var r ran
	var second *Engine
	var thread string
	work := func(ctx context.Context, c *Call) (Result, error) {
		if len(r.all()) > 1 {
			return Result{}, nil
		}
		if err := second.Cancel(context.Background(), thread, "ana"); err != nil {
			t.Error(err)
		}
		<-ctx.Done()
		return Result{}, ctx.Err()
	}
	g := graph(node("split", passes, "one", "two"), node("one", asks(plainQuestion), "work"), node("two", asks(plainQuestion)),
		node("work", noted(&r, work)))
	thread = w.start(g, nil).Thread
	first := ResumeRequest{Thread: thread, Answers: []Answer{to("one", "approve")}, By: "ben"}
	if lives(func() { w.crashAt("lease_taken", 1).Resume(context.Background(), first) }) {
		t.Fatal("no crash")
	}
	w.clock.advance(time.Minute)
	second = w.engine(nil)
	_, err := second.Resume(t.Context(), ResumeRequest{Thread: thread, Answers: []Answer{to("two", "approve")}, By: "ana"})
	if !errors.Is(err, ErrCancelledByPerson) {
		t.Errorf("the answer behind a cancelled run: %v", err)
	}
	if diff := cmp.Diff([]string{"work@1"}, r.all()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"approve:applied"}, w.outcomes(thread)); diff != "" {
		t.Error(diff)
	}
}

// TestCheckRunsNothing: neither an answer nor one that was accepted before its runner died.
func TestCheckRunsNothing(t *testing.T) {
	eachStore(t, func(t *testing.T, w *world) {
		var r ran
		thread := w.start(gate(&r, passes), nil).Thread
		a := say("approve")
		a.ResponseID = "once"
		request := ResumeRequest{Thread: thread, Answers: []Answer{a}, By: "ana"}
		if err := w.Check(t.Context(), request); err != nil {
			t.Fatal(err)
		}
		if lives(func() { w.crashAt("lease_taken", 1).Resume(context.Background(), request) }) {
			t.Fatal("no crash")
		}
		w.clock.advance(time.Minute)
		before, err := w.store.Thread(t.Context(), thread)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range []ResumeRequest{request, {Thread: thread}} {
			if err := w.Check(t.Context(), x); err != nil {
				t.Errorf("%+v: %v", x, err)
			}
		}
		after, err := w.store.Thread(t.Context(), thread)
		if diff := cmp.Diff(before, after); err != nil || diff != "" || len(r.all()) != 0 {
			t.Errorf("a check ran %v and changed (%v)\n%s", r.all(), err, diff)
		}
		if out, err := w.Resume(t.Context(), request); err != nil || !out.AlreadyApplied || out.Status != checkpoint.Done {
			t.Errorf("the response again: %v, %+v", err, out)
		}
	})
}

// TestAnEditBesideAnAcceptedAnswer: the answer that a dead runner left is applied to the state as it was edited.
func TestAnEditBesideAnAcceptedAnswer(t *testing.T) {
	eachStore(t, func(t *testing.T, w *world) {
		var r ran
		thread := w.start(gate(&r, passes), map[string]any{"n": 1}).Thread
		if lives(func() {
			w.crashAt("lease_taken", 1).Resume(context.Background(), ResumeRequest{Thread: thread, Answers: []Answer{say("approve")}})
		}) {
			t.Fatal("no crash")
		}
		w.clock.advance(time.Minute)
		out, err := w.Edit(t.Context(), EditRequest{Thread: thread, Updates: map[string]json.RawMessage{"n": js(2)}, By: "ben"})
		if err != nil || len(out.Questions) != 1 {
			t.Fatalf("%v, %+v", err, out)
		}
		if row, err := w.store.Thread(t.Context(), thread); err != nil || row.Status != checkpoint.Stalled || row.Lease.Answers != 1 {
			t.Errorf("%v, %+v", err, row)
		}
		if out, err = w.Resume(t.Context(), ResumeRequest{Thread: thread}); err != nil || out.Status != checkpoint.Done {
			t.Fatalf("%v, %+v", err, out)
		}
		if w.state(thread)["n"] != "2" {
			t.Errorf("the state is %v", w.state(thread))
		}
		if diff := cmp.Diff([]string{"approve:applied", "edit:applied"}, w.outcomes(thread)); diff != "" {
			t.Error(diff)
		}
	})
}

// TestAThreadKeepsTheNameOfItsLastQuestion: lists of finished and failed threads would else call all of them after
// their workflow.
func TestAThreadKeepsTheNameOfItsLastQuestion(t *testing.T) {
	w := newWorld(t)
	e := w.engine(nil)
	ask := actions.Question{Kind: actions.Approval, Title: "Refund 240 EUR?", Message: "Yes?"}
	out, err := e.Start(t.Context(), w.request(graph(node("ask", asks(ask), "work"), node("work", passes)), nil))
	if err != nil {
		t.Fatal(err)
	}
	out, err = e.Resume(t.Context(), ResumeRequest{Thread: out.Thread, Answers: []Answer{{Action: "approve"}}})
	if err != nil || out.Status != checkpoint.Done {
		t.Fatal(err, out)
	}
	info, err := w.store.Thread(t.Context(), out.Thread)
	if err != nil || info.Title != "Refund 240 EUR?" {
		t.Errorf("the thread is called %q: %v", info.Title, err)
	}
}

// lateStore does something after it was first asked for a response id, before it says that there is none.
type lateStore struct {
	checkpoint.Store
	meanwhile func()
}

func (s *lateStore) FindDecision(ctx context.Context, thread, id string) (*checkpoint.Decision, error) {
	if do := s.meanwhile; do != nil {
		s.meanwhile = nil
		do()
		return nil, checkpoint.ErrNotFound
	}
	return s.Store.FindDecision(ctx, thread, id)
}

// TestARepeatThatComesBetweenTwoReadings: the same response, sent twice, may be applied by the other between the look for
// it and the look at the thread; it is then applied, not refused.
func TestARepeatThatComesBetweenTwoReadings(t *testing.T) {
	for _, last := range []bool{true, false} { // the question was the thread's last, or another follows
		w := newWorld(t)
		after := node("after", passes)
		if !last {
			after = node("after", asks(plainQuestion))
		}
		out, err := w.engine(nil).Start(t.Context(), w.request(graph(node("ask", asks(plainQuestion), "after"), after), nil))
		if err != nil {
			t.Fatal(err)
		}
		r := ResumeRequest{Thread: out.Thread, Answers: []Answer{{Interrupt: out.Questions[0].ID, Action: "approve", ResponseID: "one"}}}
		first := w.engine(nil)
		late := &lateStore{Store: w.store, meanwhile: func() {
			if out, err := first.Resume(t.Context(), r); err != nil || out.AlreadyApplied {
				t.Errorf("the first: %+v, %v", out, err)
			}
		}}
		o := w.o
		second := New(late, o)
		if out, err = second.Resume(t.Context(), r); err != nil || !out.AlreadyApplied {
			t.Errorf("last %v: the repeat: %+v, %v", last, out, err)
		}
	}
}
