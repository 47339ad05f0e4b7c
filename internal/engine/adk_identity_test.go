package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// adkIdentity is section B as far as it concerns one run of a workflow: inputs and run ids.
func adkIdentity() []adkCase {
	return []adkCase{
		{[]int{19}, "the input of a first node is the original one, not the answer", "", func(t *testing.T, w *world) {
			var r ran
			asked := w.start(graph(agent(&r, asker("q"))), map[string]any{"say": "hi"})
			w.elsewhere(asked.Thread, say("respond", "yes"))
			r.was(t, `agent@1 in {"say":"hi"} answers [] open [] prior null`, `agent@1 in {"say":"hi"} answers [q=respond:"yes"] open [] prior null`)
		}},
		{[]int{21}, "the runs of a loop are numbered", "", func(t *testing.T, w *world) {
			var r ran
			turns := 0
			again := node("turn", noted(&r, func(context.Context, *Call) (Result, error) { turns++; return Result{}, nil }))
			again.When = []Branch{{If: func(Scope, Value) (bool, error) { return turns < 3, nil }, Then: []string{"turn"}}}
			w.start(graph(again), nil)
			r.was(t, "turn@1", "turn@2", "turn@3")
		}},
		{[]int{22}, "a loop through a question: the next run gets the latest input and asks again", "", func(t *testing.T, w *world) {
			var r ran
			asked := w.start(graph(agent(&r, asker("q"), "b"), node("b", func(_ context.Context, c *Call) (Result, error) {
				return Result{Output: text("b after " + c.Input.Any().(string))}, nil
			}, "agent")), nil)
			out := w.elsewhere(asked.Thread, say("respond", "one"))
			if w.open(out, "agent.q"); out.Questions[0].Path != "main@1/agent@2" || out.Questions[0].ID == asked.Questions[0].ID {
				t.Fatalf("%+v", out.Questions[0])
			}
			r.was(t, `agent@1 in {} answers [] open [] prior null`, `agent@1 in {} answers [q=respond:"one"] open [] prior null`,
				`agent@2 in "b after one" answers [] open [] prior null`)
		}},
		{[]int{23, 24}, "a review loop that reuses its key asks anew each round, and ends", "", func(t *testing.T, w *world) {
			review := node("review", several("verdict"))
			review.When = []Branch{{If: func(_ Scope, v Value) (bool, error) {
				return v.Any().(map[string]any)["verdict"] == "revise", nil
			}, Then: []string{"draft"}}}
			out := w.start(graph(node("draft", passes, "review"), review), nil)
			seen := map[string]bool{}
			for round := 1; round <= 3; round++ {
				q := out.Questions[0]
				if want := fmt.Sprintf("main@1/review@%d", round); len(out.Questions) != 1 || q.Path != want || seen[q.ID] {
					t.Fatalf("round %d: %s, id seen %v", round, q.Path, seen[q.ID])
				}
				seen[q.ID] = true
				verdict := "revise"
				if round == 3 {
					verdict = "fine"
				}
				out = w.elsewhere(out.Thread, say("respond", verdict))
			}
			if w.open(out); out.Status != checkpoint.Done {
				t.Errorf("%+v", out)
			}
		}},
		{[]int{34}, "carried on by nothing but its id, a thread has its original input", "", func(t *testing.T, w *world) {
			var r ran
			g := graph(agent(&r, asker("q")))
			request := w.request(g, map[string]any{"say": "hi"})
			request.Thread = "thread-0034"
			dying := w.crashAt("before_commit", 1)
			if lives(func() { dying.Start(context.Background(), request) }) {
				t.Fatal("it did not crash")
			}
			w.clock.advance(time.Minute)
			w.open(w.elsewhere(request.Thread), "agent.q")
			r.was(t, `agent@1 in {"say":"hi"} answers [] open [] prior null`, `agent@1 in {"say":"hi"} answers [] open [] prior null`)
		}},
	}
}

// adkThreads is section B as far as it concerns several runs of a workflow, which are threads here, and what does not
// answer a question.
func adkThreads() []adkCase {
	// unmoved fails the test unless the thread stands as it stood.
	unmoved := func(t *testing.T, w *world, was *Outcome) {
		t.Helper()
		now, err := w.Open(t.Context(), was.Thread)
		if err != nil || now.Version != was.Version || !slices.Equal(addressesOf(now), addressesOf(was)) || len(w.outcomes(was.Thread)) != 0 {
			t.Errorf("%v: it moved from %v to %+v", err, was.Version, now)
		}
	}
	return []adkCase{
		{[]int{26}, "after one that is complete another runs all nodes anew", "", func(t *testing.T, w *world) {
			var r ran
			g := gate(&r, passes)
			for range 2 {
				if out := w.answer(w.start(g, nil).Thread, say("approve")); out.Status != checkpoint.Done {
					t.Fatalf("%+v", out)
				}
			}
			r.was(t, "work@1", "last@1", "work@1", "last@1")
		}},
		{[]int{27}, "of two that wait, the older is answered and only that continues", "", func(t *testing.T, w *world) {
			var r ran
			g := gate(&r, passes)
			older, newer := w.start(g, nil), w.start(g, nil)
			if out := w.elsewhere(older.Thread, to(older.Questions[0].ID, "approve")); out.Status != checkpoint.Done {
				t.Fatalf("%+v", out)
			}
			r.was(t, "work@1", "last@1")
			unmoved(t, w, newer)
		}},
		{[]int{28}, "an earlier one that took another branch does not hold up a later one", "", func(t *testing.T, w *world) {
			choose := node("choose", passes)
			choose.When = []Branch{{If: func(s Scope, _ Value) (bool, error) { v, _ := s.Lookup("left"); return v.Any().(bool), nil }, Then: []string{"left"}}}
			choose.Then = []string{"right"}
			g := graph(choose, node("left", writes("went", "left")), node("right", asks(plainQuestion), "then"), node("then", writes("went", "right")))
			if out := w.start(g, map[string]any{"left": true}); out.Status != checkpoint.Done {
				t.Fatalf("%+v", out)
			}
			asked := w.start(g, map[string]any{"left": false})
			if out := w.elsewhere(asked.Thread, say("approve")); out.Status != checkpoint.Done || w.state(out.Thread)["went"] != `"right"` {
				t.Errorf("%+v", out)
			}
		}},
		{[]int{29}, "new input begins another thread and leaves the one that waits alone; under its id it is refused", "", func(t *testing.T, w *world) {
			var r ran
			g := gate(&r, passes)
			asked := w.start(g, nil)
			if other := w.start(g, map[string]any{"say": "hi"}); other.Thread == asked.Thread {
				t.Error("the new thread has the id of the old")
			}
			request := w.request(g, map[string]any{"say": "hi"})
			request.Thread = asked.Thread
			if _, err := w.Start(t.Context(), request); !errors.Is(err, checkpoint.ErrConflict) {
				t.Errorf("a thread was begun twice: %v", err)
			}
			unmoved(t, w, asked)
			r.was(t)
		}},
		{[]int{30}, "an answer to an unknown id is an error", "", func(t *testing.T, w *world) {
			var r ran
			asked := w.start(gate(&r, passes), nil)
			for _, name := range []string{"0192-nobody", "work", "ask.q", "main@1/ask@1"} {
				if _, err := w.Resume(t.Context(), ResumeRequest{Thread: asked.Thread, Answers: []Answer{to(name, "approve")}}); !errors.Is(err, ErrUnknownQuestion) {
					t.Errorf("%s: %v", name, err)
				}
			}
			unmoved(t, w, asked)
		}},
		{[]int{31}, "one call that answers questions of two threads is an error", "", func(t *testing.T, w *world) {
			var r ran
			g := gate(&r, passes)
			one, two := w.start(g, nil), w.start(g, nil)
			_, err := w.Resume(t.Context(), ResumeRequest{Thread: one.Thread, Answers: []Answer{
				to(one.Questions[0].ID, "approve"), to(two.Questions[0].ID, "approve")}})
			if !errors.Is(err, ErrUnknownQuestion) {
				t.Errorf("%v", err)
			}
			unmoved(t, w, one)
			unmoved(t, w, two)
			r.was(t)
		}},
		{[]int{33}, "the same answer sent again runs nothing and says that it was applied", "", testARepeatedResponseIsAppliedOnce},
	}
}
