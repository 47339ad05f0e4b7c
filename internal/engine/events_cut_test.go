package engine

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestEventsOfCancellation(t *testing.T) {
	for _, x := range []struct {
		cause  error
		reason string
		status string
	}{{ErrCancelledByPerson, "person withdrawn", "interrupted"}, {errShutdown, "shutdown", "stalled"}} {
		eachStore(t, func(t *testing.T, plain *world) {
			w := watch(plain)
			ctx, cancel := context.WithCancelCause(context.Background())
			g := graph(node("ask", asks(plainQuestion), "quick", "slow"), node("quick", passes), node("slow", func(ctx context.Context, _ *Call) (Result, error) {
				cancel(x.cause)
				<-ctx.Done()
				return Result{}, ctx.Err()
			}))
			g.MaxConcurrency = 1
			asked := w.begin(g, nil)
			w.forget()
			if _, err := w.e.Resume(ctx, ResumeRequest{Thread: asked.Thread, Answers: []Answer{say("approve")}, By: "ana"}); err != nil {
				t.Fatal(err)
			}
			reason, _, _ := strings.Cut(x.reason, " ")
			w.told("2 answered ask@1 approve ana at ask", "2 node_finished ask@1 COMPLETED approve", "2 step_started", "2 node_started quick@1", "2 node_started slow@1",
				"2 cancelled quick@1 "+reason, "2 cancelled slow@1 "+reason, "1 cancelled "+x.reason, "1 thread_rested "+x.status)
		})
	}
}

// TestEventsOfCancellationWithoutAStore: there is no thread that could rest.
func TestEventsOfCancellationWithoutAStore(t *testing.T) {
	heard := &listener{}
	e := New(nil, Options{Observer: heard})
	ctx, cancel := context.WithCancelCause(t.Context())
	_, err := e.Start(ctx, StartRequest{Graph: graph(node("slow", func(ctx context.Context, _ *Call) (Result, error) {
		cancel(errShutdown)
		<-ctx.Done()
		return Result{}, ctx.Err()
	}))})
	if !errors.Is(err, errShutdown) {
		t.Error(err)
	}
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	var types []string
	for _, line := range heard.take(t) {
		types = append(types, strings.Join(strings.Fields(line)[:2], " "))
	}
	want := []string{"0 thread_started", "1 step_started", "1 node_started", "1 cancelled", "0 cancelled", "0 failed"}
	if diff := cmp.Diff(want, types); diff != "" {
		t.Error(diff)
	}
}

func TestEventsOfATakeoverAfterACrash(t *testing.T) {
	eachStore(t, func(t *testing.T, plain *world) {
		w := watch(plain)
		g := graph(node("ask", asks(plainQuestion), "a", "b"), node("a", passes), node("b", passes))
		g.MaxConcurrency = 1
		asked := w.begin(g, nil)
		w.forget()
		if lives(func() {
			w.crashAt("before_commit", 1).Resume(context.Background(), ResumeRequest{Thread: asked.Thread, Answers: []Answer{say("approve")}, By: "ana"})
		}) {
			t.Fatal("no crash")
		}
		w.clock.advance(time.Minute)
		w.resume(asked.Thread)
		w.told("2 answered ask@1 approve ana at ask inherited", "2 node_finished ask@1 COMPLETED approve", "2 step_started", "2 node_started b@1",
			"2 node_finished a@1 COMPLETED", "2 node_finished b@1 COMPLETED", "2 step_committed answer", "2 thread_rested done")
	})
}
