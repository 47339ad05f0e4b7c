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

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/memory"
)

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
