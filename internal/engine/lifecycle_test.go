package engine

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/memory"
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

// crashAt makes an engine whose goroutine ends at the n-th passing of a point, as a process does under SIGKILL.
func (w *world) crashAt(point string, n int) *Engine {
	var mu sync.Mutex
	return w.engine(func(o *Options) {
		o.CrashPoint = func(at string) {
			mu.Lock()
			defer mu.Unlock()
			if at == point {
				if n--; n == 0 {
					runtime.Goexit()
				}
			}
		}
	})
}

// lives calls f and reports whether it came back.
func lives(f func()) bool {
	came := make(chan bool, 1)
	go func() {
		defer func() {
			select {
			case came <- false:
			default:
			}
		}()
		f()
		came <- true
	}()
	return <-came
}

func TestACrashAtEveryPointLosesAndRepeatsNoDecision(t *testing.T) {
	for _, x := range []struct {
		point string
		n     int
		calls []string
	}{
		{"lease_taken", 1, []string{"work@1", "last@1"}},
		{"before_commit", 1, []string{"work@1", "work@1", "last@1"}},
		{"after_commit", 1, []string{"work@1", "last@1"}},
		{"before_commit", 2, []string{"work@1", "last@1", "last@1"}},
	} {
		eachStore(t, func(t *testing.T, w *world) {
			var r ran
			asked := w.start(gate(&r, passes), nil)
			e := w.crashAt(x.point, x.n)
			request := ResumeRequest{Thread: asked.Thread, Answers: []Answer{say("approve")}, By: "ana"}
			if lives(func() { e.Resume(context.Background(), request) }) {
				t.Fatalf("no crash at %s", x.point)
			}
			if _, err := w.Resume(t.Context(), ResumeRequest{Thread: asked.Thread}); !errors.Is(err, checkpoint.ErrLeased) {
				t.Errorf("before the lease ran out: %v", err)
			}
			w.clock.advance(time.Minute)
			if _, err := w.Resume(t.Context(), ResumeRequest{Thread: asked.Thread, Answers: []Answer{to("ask", "reject")}}); !errors.Is(err, ErrAlreadyAnswered) {
				t.Errorf("an accepted answer can be contradicted: %v", err)
			}
			if open, err := w.Open(t.Context(), asked.Thread); err != nil || open.Status != checkpoint.Stalled {
				t.Errorf("status after the crash: %v, %+v", err, open)
			}
			// A response that names no action answers nothing here: it carries on.
			out, err := w.Resume(t.Context(), ResumeRequest{Thread: asked.Thread, Answers: []Answer{{}}})
			if err != nil || out.Status != checkpoint.Done {
				t.Fatalf("taking over: %v, %+v", err, out)
			}
			if diff := cmp.Diff(x.calls, r.all()); diff != "" {
				t.Errorf("programs run (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]string{"approve:applied"}, w.outcomes(asked.Thread)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestPendingResultsAreNotRunAgain: siblings that had finished when the process died keep their results.
func TestPendingResultsAreNotRunAgain(t *testing.T) { eachStore(t, testPendingResultsAreNotRunAgain) }

func testPendingResultsAreNotRunAgain(t *testing.T, w *world) {
	var r ran
	died := make(chan struct{})
	slow := func(ctx context.Context, c *Call) (Result, error) {
		select {
		case <-died: // the second life
		default:
			<-ctx.Done()
		}
		return Result{Updates: map[string]Value{"slow": text("slow")}}, ctx.Err()
	}
	g := graph(node("split", passes, "a", "b", "c"), node("a", noted(&r, writes("a", 1)), "join"),
		node("b", noted(&r, slow), "join"), node("c", noted(&r, writes("c", 3)), "join"), node("join", noted(&r, passes)))
	g.Nodes[4].Join = JoinAll
	ctx, kill := context.WithCancel(t.Context())
	var stored sync.WaitGroup
	stored.Add(2)
	e := w.engine(func(o *Options) {
		o.CrashPoint = func(at string) {
			if at == "result_stored" {
				stored.Done()
			}
		}
	})
	go func() {
		stored.Wait()
		kill()
	}()
	out, err := e.Start(ctx, w.request(g, nil))
	if err != nil || out.Status != checkpoint.Stalled {
		t.Fatalf("%v, %+v", err, out)
	}
	close(died)
	thread := out.Thread
	out, err = w.Resume(t.Context(), ResumeRequest{Thread: thread})
	if err != nil || out.Status != checkpoint.Done {
		t.Fatalf("%v, %+v", err, out)
	}
	calls := r.all()
	slices.Sort(calls)
	if diff := cmp.Diff([]string{"a@1", "b@1", "b@1", "c@1", "join@1"}, calls); diff != "" {
		t.Error(diff)
	}
	if got := w.state(thread); got["a"] != "1" || got["c"] != "3" || got["slow"] != `"slow"` {
		t.Errorf("state %v", got)
	}
}

// TestALostLeaseNeverWritesAgain: a runner that slept past its lease, while another took over, commits nothing.
func TestALostLeaseNeverWritesAgain(t *testing.T) { eachStore(t, testALostLeaseNeverWritesAgain) }

func testALostLeaseNeverWritesAgain(t *testing.T, w *world) {
	var r ran
	var asleep atomic.Bool
	var taken *Outcome
	g := gate(&r, nil)
	g.Nodes[1].Runner = noted(&r, func(ctx context.Context, c *Call) (Result, error) {
		if asleep.CompareAndSwap(false, true) {
			w.clock.advance(time.Minute)
			out, err := w.engine(nil).Resume(context.Background(), ResumeRequest{Thread: c.Thread})
			if err != nil {
				t.Error(err)
			}
			taken = out
		}
		return Result{}, nil
	})
	asked := w.start(g, nil)
	out, err := w.Resume(t.Context(), ResumeRequest{Thread: asked.Thread, Answers: []Answer{say("approve")}})
	if !errors.Is(err, checkpoint.ErrConflict) {
		t.Fatalf("the sleeper wrote: %v, %+v", err, out)
	}
	now, err := w.Open(t.Context(), asked.Thread)
	if err != nil || now.Version != taken.Version || now.Status != checkpoint.Done {
		t.Errorf("%v, %+v", err, now)
	}
}

// TestCancelFromElsewhere: the holder learns it at its heartbeat, well before the lease ends.
func TestCancelFromElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorldOn(t, memory.New(memory.Options{}), newClock())
		w.o.Now, w.o.Sleep = nil, nil
		here, there := w.engine(nil), w.engine(nil)
		g := graph(node("ask", asks(plainQuestion), "work"), node("work", func(ctx context.Context, c *Call) (Result, error) {
			<-ctx.Done()
			return Result{}, ctx.Err()
		}))
		asked, err := here.Start(t.Context(), w.request(g, nil))
		if err != nil {
			t.Fatal(err)
		}
		got := make(chan *Outcome)
		go func() {
			out, err := here.Resume(context.Background(), ResumeRequest{Thread: asked.Thread, Answers: []Answer{say("approve")}})
			if err != nil {
				t.Error(err)
			}
			got <- out
		}()
		time.Sleep(time.Minute) // past several lease times: it is renewed
		if err := there.Cancel(t.Context(), asked.Thread, "ben"); err != nil {
			t.Fatal(err)
		}
		asking := time.Now()
		out := <-got
		if !out.WasCancelled || !out.Withdrawn || out.Status != checkpoint.Interrupted || time.Since(asking) > 5*time.Second {
			t.Errorf("after %s: %+v", time.Since(asking), out)
		}
		if err := there.Cancel(t.Context(), asked.Thread, "ben"); !errors.Is(err, checkpoint.ErrNotFound) {
			t.Errorf("cancelling what does not run: %v", err)
		}
	})
}

func TestParkedThreadsCostNoGoroutine(t *testing.T) {
	w := newWorld(t)
	g := graph(node("ask", asks(plainQuestion)))
	before := runtime.NumGoroutine()
	for range 10_000 {
		if out := w.start(g, nil); out.Status != checkpoint.Interrupted {
			t.Fatal(out.Status)
		}
	}
	if after := runtime.NumGoroutine(); after > before {
		t.Errorf("%d goroutines before, %d after", before, after)
	}
}

func TestNoStore(t *testing.T) {
	e := New(nil, Options{})
	out, err := e.Start(t.Context(), StartRequest{Graph: graph(node("a", writes("x", 1), "b"), node("b", writes("y", 2)))})
	if err != nil || out.Status != checkpoint.Done || string(out.Outputs) != `{"x":1,"y":2}` {
		t.Fatalf("%v, %+v", err, out)
	}
	_, err = e.Start(t.Context(), StartRequest{Graph: graph(node("ask", asks(plainQuestion)))})
	if !errors.Is(err, ErrNoStore) || !strings.Contains(err.Error(), "--store") {
		t.Errorf("a question: %v", err)
	}
	if _, err := e.Resume(t.Context(), ResumeRequest{Thread: "x"}); !errors.Is(err, ErrNoStore) {
		t.Errorf("a resume: %v", err)
	}
}
