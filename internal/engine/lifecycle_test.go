package engine

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

var plainQuestion = actions.Question{Kind: actions.Approval, Message: "Well?", Actions: everyAction}

// gate is ask -> work -> last, with the calls of work and last counted.
func gate(r *ran, work RunnerFunc) *Graph {
	return graph(node("ask", asks(plainQuestion), "work"), node("work", noted(r, work), "last"), node("last", noted(r, writes("last", true))))
}

// outcomes lists a thread's decision rows as action:outcome.
func (w *world) outcomes(thread string) []string {
	w.Helper()
	var rows []string
	for d, err := range w.store.Decisions(context.Background(), thread) {
		if err != nil {
			w.Fatal(err)
		}
		rows = append(rows, d.Action+":"+string(d.Outcome))
	}
	return rows
}

func TestRacingResumesHaveOneWinner(t *testing.T) { eachStore(t, testRacingResumesHaveOneWinner) }

func testRacingResumesHaveOneWinner(t *testing.T, w *world) {
	var r ran
	thread := w.start(gate(&r, passes), nil).Thread
	const racers = 16
	var wins, losses int
	var mu sync.Mutex
	var all sync.WaitGroup
	for i := range racers {
		e := w.Engine
		if i%2 == 1 {
			e = w.engine(nil)
		}
		all.Add(1)
		go func() {
			defer all.Done()
			out, err := e.Resume(context.Background(), ResumeRequest{Thread: thread, Answers: []Answer{say("approve")}, By: "ana"})
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil && out.Status == checkpoint.Done && !out.AlreadyApplied:
				wins++
			case errors.Is(err, ErrAlreadyAnswered), errors.Is(err, checkpoint.ErrConflict), errors.Is(err, checkpoint.ErrLeased), errors.Is(err, ErrNotWaiting):
				losses++
			default:
				t.Errorf("%v, %+v", err, out)
			}
		}()
	}
	all.Wait()
	if wins != 1 || losses != racers-1 {
		t.Errorf("%d won and %d lost", wins, losses)
	}
	if diff := cmp.Diff([]string{"work@1", "last@1"}, r.all()); diff != "" {
		t.Errorf("programs run (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"approve:applied"}, w.outcomes(thread)); diff != "" {
		t.Error(diff)
	}
}

func TestTheLoserIsToldWhoAnsweredFirst(t *testing.T) {
	eachStore(t, testTheLoserIsToldWhoAnsweredFirst)
}

func testTheLoserIsToldWhoAnsweredFirst(t *testing.T, w *world) {
	var r ran
	asked := w.start(gate(&r, passes), nil)
	id := asked.Questions[0].ID
	_, err := w.Resume(t.Context(), ResumeRequest{Thread: asked.Thread, Answers: []Answer{to(id, "approve")}, By: "ben"})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{id, "ask"} {
		_, err = w.Resume(t.Context(), ResumeRequest{Thread: asked.Thread, Answers: []Answer{to(name, "reject")}, By: "ana"})
		var first *AnsweredError
		if !errors.As(err, &first) || first.By != "ben" || first.Action != "approve" || !first.At.Equal(w.clock.now()) {
			t.Errorf("answering %q again: %v", name, err)
		}
	}
	version := asked.Version
	_, err = w.Resume(t.Context(), ResumeRequest{Thread: asked.Thread, Answers: []Answer{say("reject")}, IfVersion: &version})
	if !errors.Is(err, ErrAlreadyAnswered) {
		t.Errorf("answering the version that was answered: %v", err)
	}
	if _, err = w.Resume(t.Context(), ResumeRequest{Thread: asked.Thread, Answers: []Answer{say("reject")}}); !errors.Is(err, ErrNotWaiting) {
		t.Errorf("answering a thread that is done: %v", err)
	}
}

func TestARepeatedResponseIsAppliedOnce(t *testing.T) {
	eachStore(t, testARepeatedResponseIsAppliedOnce)
}

func testARepeatedResponseIsAppliedOnce(t *testing.T, w *world) {
	var r ran
	thread := w.start(gate(&r, passes), nil).Thread
	a := say("approve")
	a.ResponseID = "r1"
	for i := range 3 {
		out, err := w.Resume(t.Context(), ResumeRequest{Thread: thread, Answers: []Answer{a}})
		if err != nil || out.AlreadyApplied != (i > 0) || out.Status != checkpoint.Done {
			t.Fatalf("call %d: %v, %+v", i, err, out)
		}
	}
	if n := len(r.all()); n != 2 {
		t.Errorf("%d programs ran, want 2", n)
	}
}

func TestARefusedAnswerChangesNothing(t *testing.T) { eachStore(t, testARefusedAnswerChangesNothing) }

func testARefusedAnswerChangesNothing(t *testing.T, w *world) {
	q := plainQuestion
	q.Actions = []actions.Action{"approve", "edit"}
	q.RequireComment = []actions.Action{"approve"}
	q.ContentKey = "notes"
	asked := w.start(graph(node("ask", asks(q))), map[string]any{"notes": "text"})
	old := checkpoint.Version{Step: asked.Version.Step - 1}
	for name, r := range map[string]ResumeRequest{
		"unknown action": {Answers: []Answer{say("aprove")}},
		"not allowed":    {Answers: []Answer{say("reject")}},
		"no comment":     {Answers: []Answer{say("approve")}},
		"wrong type":     {Answers: []Answer{say("edit", map[string]any{"a": 1})}},
		"unknown name":   {Answers: []Answer{to("nobody", "edit", "x")}},
		"old version":    {Answers: []Answer{say("edit", "x")}, IfVersion: &old},
		"twice":          {Answers: []Answer{say("edit", "x"), to("ask", "edit", "y")}},
		"one of two bad": {Answers: []Answer{say("edit", "x"), to("nobody", "edit", "y")}},
	} {
		r.Thread = asked.Thread
		if err := w.Check(t.Context(), r); err == nil {
			t.Errorf("%s: Check accepts it", name)
		}
		if _, err := w.Resume(t.Context(), r); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	out, err := w.Open(t.Context(), asked.Thread)
	if err != nil || out.Version != asked.Version || len(out.Questions) != 1 || len(w.outcomes(asked.Thread)) != 0 {
		t.Errorf("something was written: %v, %+v", err, out)
	}
}

func TestAClaimIsRespected(t *testing.T) {
	w := newWorld(t)
	var r ran
	thread := w.start(gate(&r, passes), nil).Thread
	if err := w.store.Claim(t.Context(), thread, "ben", time.Hour); err != nil {
		t.Fatal(err)
	}
	request := ResumeRequest{Thread: thread, Answers: []Answer{say("approve")}, By: "ana"}
	var claim *ClaimedError
	if _, err := w.Resume(t.Context(), request); !errors.As(err, &claim) || claim.By != "ben" {
		t.Fatalf("another's claim: %v", err)
	}
	request.Steal = true
	if _, err := w.Resume(t.Context(), request); err != nil {
		t.Errorf("stealing: %v", err)
	}
	// The claim stands, but what keeps others from answering is that the thread has ended.
	request.Steal = false
	if _, err := w.Resume(t.Context(), request); errors.As(err, &claim) || err == nil {
		t.Errorf("after its end: %v", err)
	}
}

// cancelled is a program that is cancelled, by cause, while it runs.
func cancelled(cancel *context.CancelCauseFunc, cause error) RunnerFunc {
	return func(ctx context.Context, c *Call) (Result, error) {
		if *cancel == nil {
			return Result{}, nil
		}
		(*cancel)(cause)
		<-ctx.Done()
		return Result{}, ctx.Err()
	}
}

func TestCancelledBeforeTheFirstCommitPutsTheQuestionBack(t *testing.T) {
	eachStore(t, testCancelledBeforeTheFirstCommitPutsTheQuestionBack)
}

func testCancelledBeforeTheFirstCommitPutsTheQuestionBack(t *testing.T, w *world) {
	var r ran
	var cancel context.CancelCauseFunc
	asked := w.start(gate(&r, cancelled(&cancel, ErrCancelledByPerson)), nil)
	ctx, stop := context.WithCancelCause(t.Context())
	cancel = stop
	out, err := w.Resume(ctx, ResumeRequest{Thread: asked.Thread, Answers: []Answer{say("approve")}, By: "ana"})
	if err != nil || !out.WasCancelled || !out.Withdrawn || out.Status != checkpoint.Interrupted || out.Version != asked.Version {
		t.Fatalf("%v, %+v", err, out)
	}
	if diff := cmp.Diff(asked.Questions, out.Questions); diff != "" {
		t.Errorf("the question is not as it was:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"approve:applied", "approve:withdrawn"}, w.outcomes(asked.Thread)); diff != "" {
		t.Error(diff)
	}
	cancel = nil
	if out := w.answer(asked.Thread, say("reject", "no")); out.Status != checkpoint.Rejected {
		t.Errorf("the question cannot be answered otherwise: %+v", out)
	}
}

func TestAWithdrawnResponseIDIsNotApplied(t *testing.T) {
	w := newWorld(t)
	var r ran
	var cancel context.CancelCauseFunc
	asked := w.start(gate(&r, cancelled(&cancel, ErrCancelledByPerson)), nil)
	ctx, stop := context.WithCancelCause(t.Context())
	cancel = stop
	a := say("approve")
	a.ResponseID = "r1"
	if _, err := w.Resume(ctx, ResumeRequest{Thread: asked.Thread, Answers: []Answer{a}}); err != nil {
		t.Fatal(err)
	}
	if out, err := w.Resume(t.Context(), ResumeRequest{Thread: asked.Thread, Answers: []Answer{a}}); !errors.Is(err, checkpoint.ErrConflict) {
		t.Errorf("%v, %+v", err, out)
	}
}

func TestCancelledAfterACommitStaysThere(t *testing.T) {
	eachStore(t, testCancelledAfterACommitStaysThere)
}

func testCancelledAfterACommitStaysThere(t *testing.T, w *world) {
	var r ran
	var cancel context.CancelCauseFunc
	g := graph(node("ask", asks(plainQuestion), "one"), node("one", noted(&r, passes), "two"),
		node("two", noted(&r, cancelled(&cancel, ErrCancelledByPerson)), "three"), node("three", noted(&r, passes)))
	asked := w.start(g, nil)
	ctx, stop := context.WithCancelCause(t.Context())
	cancel = stop
	out, err := w.Resume(ctx, ResumeRequest{Thread: asked.Thread, Answers: []Answer{say("approve")}})
	if err != nil || !out.WasCancelled || out.Withdrawn || out.Status != checkpoint.Stalled || out.Steps != 1 {
		t.Fatalf("%v, %+v", err, out)
	}
	cancel = nil
	out, err = w.Resume(t.Context(), ResumeRequest{Thread: asked.Thread})
	if err != nil || out.Status != checkpoint.Done {
		t.Fatalf("carrying on: %v, %+v", err, out)
	}
	if diff := cmp.Diff([]string{"one@1", "two@1", "two@1", "three@1"}, r.all()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"approve:applied"}, w.outcomes(asked.Thread)); diff != "" {
		t.Error(diff)
	}
}

func TestAShutdownKeepsTheDecision(t *testing.T) { eachStore(t, testAShutdownKeepsTheDecision) }

func testAShutdownKeepsTheDecision(t *testing.T, w *world) {
	var r ran
	var cancel context.CancelCauseFunc
	asked := w.start(gate(&r, cancelled(&cancel, nil)), nil)
	ctx, stop := context.WithCancelCause(t.Context())
	cancel = stop
	out, err := w.Resume(ctx, ResumeRequest{Thread: asked.Thread, Answers: []Answer{say("approve")}, By: "ana"})
	if err != nil || out.WasCancelled || out.Status != checkpoint.Stalled {
		t.Fatalf("%v, %+v", err, out)
	}
	if _, err := w.Resume(t.Context(), ResumeRequest{Thread: asked.Thread, Answers: []Answer{to("ask", "reject")}}); !errors.Is(err, ErrAlreadyAnswered) {
		t.Errorf("a kept answer can be contradicted: %v", err)
	}
	cancel = nil
	out, err = w.engine(nil).Resume(t.Context(), ResumeRequest{Thread: asked.Thread})
	if err != nil || out.Status != checkpoint.Done {
		t.Fatalf("carrying on: %v, %+v", err, out)
	}
	if diff := cmp.Diff([]string{"approve:applied"}, w.outcomes(asked.Thread)); diff != "" {
		t.Error(diff)
	}
}

func TestCloseInterruptsWhatRuns(t *testing.T) {
	w := newWorld(t)
	started := make(chan struct{})
	g := graph(node("work", func(ctx context.Context, c *Call) (Result, error) {
		close(started)
		<-ctx.Done()
		return Result{}, ctx.Err()
	}))
	got := make(chan *Outcome)
	go func() {
		out, err := w.Start(context.Background(), w.request(g, nil))
		if err != nil {
			t.Error(err)
		}
		got <- out
	}()
	<-started
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.Close(ctx); err != nil {
		t.Fatal(err)
	}
	if out := <-got; out == nil || out.Status != checkpoint.Stalled {
		t.Errorf("%+v", out)
	}
	if _, err := w.Start(t.Context(), w.request(g, nil)); !errors.Is(err, ErrClosed) {
		t.Errorf("a closed engine starts: %v", err)
	}
}

// TestWhatHasNotBegunBeginsNoMore: a cancel also holds back the branches that still waited for a slot.
func TestWhatHasNotBegunBeginsNoMore(t *testing.T) {
	w := newWorld(t)
	var r ran
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := func(ctx context.Context, _ *Call) (Result, error) {
		cancel(ErrCancelledByPerson)
		return Result{}, ctx.Err()
	}
	g := graph(node("split", passes, "a", "b", "c"), node("a", noted(&r, stop)), node("b", noted(&r, passes)), node("c", noted(&r, passes)))
	g.MaxConcurrency = 1
	out, err := w.Start(ctx, w.request(g, nil))
	if err != nil || !out.WasCancelled || out.Status != checkpoint.Stalled {
		t.Fatalf("%v, %+v", err, out)
	}
	if diff := cmp.Diff([]string{"a@1"}, r.all()); diff != "" {
		t.Error(diff)
	}
}
