package engine

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// reviewed is a workflow in which every item of a map is prepared, reviewed and published in a workflow of its own.
func reviewed(r *ran) *Graph {
	item := graph(node("prepare", noted(r, passes), "review"), node("review", asks(plainQuestion), "publish"), node("publish", noted(r, passes)))
	n := each("each", "list", graph(inside("item", item, nil)))
	return graph(inside("sub", graph(n), map[string]any{"list": []string{"a", "b", "c"}}), node("last", noted(r, passes)))
}

// TestACrashAtEveryWriteOfNestedFrames kills the process at every passing of every named point while three items are
// answered in turn, and has others take over: no decision is lost, nothing that a commit held runs again, and what is left
// is what a run without crashes leaves.
func TestACrashAtEveryWriteOfNestedFrames(t *testing.T) {
	for _, point := range []string{"lease_taken", "before_commit", "after_commit", "result_stored"} {
		for n := 1; n <= 8; n++ {
			t.Run(fmt.Sprint(point, n), func(t *testing.T) {
				w := newWorld(t)
				var r ran
				out := w.start(reviewed(&r), nil)
				e := w.crashAt(point, n)
				for _, item := range []string{"1", "0", "2"} {
					request := ResumeRequest{Thread: out.Thread, Answers: []Answer{to("sub/each/"+item+"/item/review", "approve")}, By: "ana"}
					if lives(func() {
						if _, err := e.Resume(context.Background(), request); err != nil {
							t.Errorf("item %s: %v", item, err)
						}
					}) {
						continue
					}
					w.clock.advance(time.Minute)
					if _, err := w.Resume(t.Context(), ResumeRequest{Thread: out.Thread}); err != nil && !strings.Contains(err.Error(), "waits for an answer") && !strings.Contains(err.Error(), "done") {
						t.Fatal(err)
					}
				}
				if out, err := w.Open(t.Context(), out.Thread); err != nil || out.Status != checkpoint.Done {
					t.Fatalf("%v %+v", err, out)
				}
				calls := map[string]int{}
				for _, path := range r.all() {
					calls[path]++
				}
				for path, n := range calls {
					if n > 2 || n > 1 && point != "before_commit" {
						t.Errorf("%s ran %d times", path, n)
					}
				}
				if diff := cmp.Diff([]string{"approve:applied", "approve:applied", "approve:applied"}, w.outcomes(out.Thread)); diff != "" {
					t.Error(diff)
				}
				c, err := w.store.Latest(t.Context(), out.Thread)
				if err != nil {
					t.Fatal(err)
				}
				for name := range c.Channels {
					if strings.Contains(name, "/") {
						t.Errorf("%s is left of a finished frame", name)
					}
				}
			})
		}
	}
}

// TestCancelInsideAFrame: a run that a person cancels before anything was committed leaves the thread as it was, at any
// depth; its programs see the end of their context.
func TestCancelInsideAFrame(t *testing.T) {
	eachStore(t, func(t *testing.T, w *world) {
		started, cancelled := make(chan struct{}), make(chan struct{})
		slow := func(ctx context.Context, _ *Call) (Result, error) {
			close(started)
			<-ctx.Done()
			close(cancelled)
			return Result{}, ctx.Err()
		}
		body := graph(node("review", asks(plainQuestion), "slow"), node("slow", slow))
		asked := w.start(graph(inside("sub", graph(each("each", "list", body)), map[string]any{"list": []int{1}})), nil)
		go func() {
			<-started
			if err := w.Cancel(context.Background(), asked.Thread, "ana"); err != nil {
				t.Error(err)
			}
		}()
		out := w.answer(asked.Thread, say("approve"))
		<-cancelled
		// The answer was committed with the step that completed the review: the program is what is left to run.
		if !out.WasCancelled || out.Status != checkpoint.Stalled && !out.Withdrawn {
			t.Errorf("%+v", out)
		}
		c, err := w.store.Latest(t.Context(), asked.Thread)
		if err != nil {
			t.Fatal(err)
		}
		if out.Withdrawn && (c.Step != asked.Version.Step || c.Asks() != 1) {
			t.Errorf("withdrawn, and yet at step %d with %v", c.Step, c.Interrupts)
		}
	})
}
