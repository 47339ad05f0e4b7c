package engine

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// expiring asks in a shape whose askers name the time by which they must have the answer.
func expiring(at time.Time) json.RawMessage {
	return json.RawMessage(`{"type":"RUN_FINISHED","outcome":{"type":"interrupt","interrupts":[{"id":"i","reason":"r","message":"Go?","expiresAt":"` + at.Format(time.RFC3339) + `"}]}}`)
}

func asksPayload(payload json.RawMessage) RunnerFunc {
	return func(context.Context, *Call) (Result, error) {
		return Result{Interrupts: []Ask{{Payload: payload}}}, nil
	}
}

// TestADeadlineOfTheOutsideWorld is due when its asker said, also where that is past already, and answers nothing.
func TestADeadlineOfTheOutsideWorld(t *testing.T) {
	eachStore(t, func(t *testing.T, w *world) {
		for name, left := range map[string]time.Duration{"an hour": time.Hour, "none": 0, "past": -time.Hour} {
			due := w.clock.now().Add(left)
			out := w.start(graph(node("ask", asksPayload(expiring(due)))), nil)
			row, err := w.store.Thread(t.Context(), out.Thread)
			if err != nil || row.Due == nil || !row.Due.Equal(due) || !out.Questions[0].Due.Equal(due) {
				t.Fatalf("%s: %v, due %v, want %s", name, err, row.Due, due)
			}
			if left > 0 {
				w.clock.advance(left - time.Second)
				if all, err := w.Sweep(t.Context(), false, nil); err != nil || len(all) != 0 {
					t.Errorf("%s: swept too early: %v, %+v", name, err, all)
				}
				w.clock.advance(time.Second)
			}
			all, err := w.Sweep(t.Context(), false, nil)
			if err != nil || len(all) != 1 || !all[0].Questions[0].Overdue || all[0].Status != checkpoint.Interrupted {
				t.Errorf("%s: %v, %+v", name, err, all)
			}
			if out := w.answer(out.Thread, say("approve")); out.Status != checkpoint.Done {
				t.Errorf("%s: %+v", name, out)
			}
		}
	})
}

// TestTheEarlierOfTwoTimesCounts: of the time for an answer, and a deadline.
func TestTheEarlierOfTwoTimesCounts(t *testing.T) {
	for _, x := range []struct{ timeout, deadline, want time.Duration }{
		{time.Hour, 2 * time.Hour, time.Hour}, {2 * time.Hour, time.Hour, time.Hour}, {time.Hour, -time.Hour, -time.Hour}, {0, time.Hour, time.Hour},
	} {
		w := newWorld(t)
		q, at := plainQuestion, w.clock.now().Add(x.deadline)
		q.TimeoutMS, q.Deadline = x.timeout.Milliseconds(), &at
		if out := w.start(graph(node("ask", asks(q))), nil); !out.Questions[0].Due.Equal(w.clock.now().Add(x.want)) {
			t.Errorf("%+v: due %s", x, out.Questions[0].Due)
		}
	}
}

// TestAForkKeepsADeadlineOfTheOutsideWorld: that clock is nobody's here to restart. What is past answers nothing in the
// fork, not even by default: who forked came to decide it.
func TestAForkKeepsADeadlineOfTheOutsideWorld(t *testing.T) {
	type asked struct {
		Due     time.Duration // from the fork on
		Overdue bool
	}
	for _, x := range []struct {
		name                     string
		timeout, deadline, after time.Duration
		want                     asked
	}{
		{"to come", 0, time.Hour, 50 * time.Minute, asked{10 * time.Minute, false}},
		{"past", 0, time.Hour, 2 * time.Hour, asked{-time.Hour, true}},
		{"past when it was asked", 0, -time.Hour, time.Hour, asked{-2 * time.Hour, true}},
		{"behind the time for an answer", time.Hour, 3 * time.Hour, time.Minute, asked{time.Hour, false}},
		{"before the end of that time in the fork", time.Hour, 90 * time.Minute, 50 * time.Minute, asked{40 * time.Minute, false}},
		{"past, and the time for an answer too", time.Hour, 2 * time.Hour, 5 * time.Hour, asked{-3 * time.Hour, true}},
	} {
		t.Run(x.name, func(t *testing.T) {
			w := newWorld(t)
			q, at := plainQuestion, w.clock.now().Add(x.deadline)
			q.TimeoutMS, q.Deadline, q.DefaultAction = x.timeout.Milliseconds(), &at, actions.Reject
			old := w.start(graph(node("ask", asks(q))), nil)
			w.clock.advance(x.after)
			fork, err := w.Fork(t.Context(), old.Thread, old.Version.Step, "", "ben")
			if err != nil {
				t.Fatal(err)
			}
			f := fork.Questions[0]
			if diff := cmp.Diff(x.want, asked{f.Due.Sub(w.clock.now()), f.Overdue}); diff != "" {
				t.Error(diff)
			}
			all, err := w.Sweep(t.Context(), false, nil)
			for _, swept := range all {
				if swept.Thread == fork.Thread {
					t.Errorf("the fork is answered: %+v", swept)
				}
			}
			if err != nil {
				t.Error(err)
			}
			if out := w.answer(fork.Thread, say("approve")); out.Status != checkpoint.Done {
				t.Errorf("%+v", out)
			}
		})
	}
}

// TestADeadlineMovesWithItsQuestion: an agent that asks again, because another question was answered, may name another
// time, or none; the clock of its question else goes on, and so does the time that it has for an answer.
func TestADeadlineMovesWithItsQuestion(t *testing.T) {
	for again, want := range map[time.Duration]time.Duration{time.Hour: time.Hour, 3 * time.Hour: 2 * time.Hour, -time.Hour: -time.Hour, 0: 2 * time.Hour} {
		w := newWorld(t)
		began := w.clock.now()
		n := node("agent", func(_ context.Context, c *Call) (Result, error) {
			q, at := plainQuestion, began.Add(time.Hour)
			if len(c.Resume) > 0 {
				at = began.Add(again)
			}
			if q.Deadline = &at; len(c.Resume) > 0 && again == 0 {
				q.Deadline = nil
			}
			open := []Ask{{Key: "timed", Payload: js(q), Timeout: 2 * time.Hour}}
			if len(c.Resume) == 0 {
				open = append(open, Ask{Key: "other", Payload: js(plainQuestion)})
			}
			return Result{Interrupts: open}, nil
		})
		n.RerunOnResume = true
		first := w.start(graph(n), nil)
		w.clock.advance(time.Minute)
		out := w.answer(first.Thread, Answer{Interrupt: first.Questions[1].ID, Action: "approve"})
		q := out.Questions[0]
		switch {
		case len(out.Questions) != 1 || q.ID != first.Questions[0].ID || !q.Asked.Equal(began):
			t.Errorf("%s: %+v", again, out.Questions)
		case q.Due == nil || !q.Due.Equal(began.Add(want)):
			t.Errorf("%s: due %v", again, q.Due)
		}
	}
}
