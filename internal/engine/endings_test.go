package engine

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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
