package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// places puts a graph where a question may be asked: at the root, in a workflow, in an item of a map, in both. Its
// prefix is what addresses there begin with.
func places(g func() *Graph) map[string]*Graph {
	return map[string]*Graph{
		"":            g(),
		"sub/":        graph(inside("sub", g(), nil)),
		"each/0/":     graph(each("each", "list", g())),
		"sub/each/0/": graph(inside("sub", graph(each("each", "list", g())), map[string]any{"list": []int{1}})),
		"each/0/sub/": graph(each("each", "list", graph(inside("sub", g(), nil)))),
	}
}

func inPlaces(t *testing.T, g func() *Graph, test func(t *testing.T, w *world, out *Outcome, prefix string)) {
	for prefix, whole := range places(g) {
		t.Run(prefix, func(t *testing.T) {
			eachStore(t, func(t *testing.T, w *world) {
				test(t, w, w.start(whole, map[string]any{"list": []int{1}}), prefix)
			})
		})
	}
}

// TestWithdrawnQuestionsAnywhere: a program withdraws what it need not know any more; a key it withdraws and asks in one
// breath is another question; what it never asked cannot be withdrawn and hurts nobody.
func TestWithdrawnQuestionsAnywhere(t *testing.T) {
	inPlaces(t, func() *Graph {
		return graph(rerun(node("agent", func(_ context.Context, c *Call) (Result, error) {
			switch {
			case len(c.Resume) == 0:
				return Result{Output: text("kept"), Interrupts: keyed("a", "b", "c")}, nil
			case len(c.Resume) == 1:
				return Result{Closed: []string{"b", "c", "never"}, Interrupts: keyed("c", "d")}, nil
			}
			return Result{Closed: c.PriorInterrupts}, nil
		})))
	}, func(t *testing.T, w *world, out *Outcome, prefix string) {
		at := prefix + "agent."
		w.open(out, at+"a", at+"b", at+"c")
		first := out.Questions[2].ID
		out = w.elsewhere(out.Thread, to(at+"a", "approve"))
		if w.open(out, at+"c", at+"d"); out.Questions[0].ID == first {
			t.Error("the question that was withdrawn is open again")
		}
		if _, err := w.Resume(t.Context(), ResumeRequest{Thread: out.Thread, Answers: []Answer{to(first, "approve")}}); !errors.Is(err, ErrUnknownQuestion) {
			t.Errorf("the withdrawn question took an answer: %v", err)
		}
		if out = w.elsewhere(out.Thread, to(at+"d", "approve")); out.Status != checkpoint.Done || len(out.Questions) != 0 {
			t.Errorf("%s, %v", out.Status, addressesOf(out))
		}
	})
}

// TestAFailureRouteBesideOpenQuestionsAnywhere: a program that fails with questions of its own open takes its failure
// route, and they are withdrawn; those of others stay.
func TestAFailureRouteBesideOpenQuestionsAnywhere(t *testing.T) {
	inPlaces(t, func() *Graph {
		failing := rerun(node("agent", func(_ context.Context, c *Call) (Result, error) {
			if len(c.Resume) == 0 {
				return Result{Interrupts: keyed("a", "b")}, nil
			}
			return Result{}, errors.New("boom")
		}))
		failing.Failure, failing.HasFailure = []string{"caught"}, true
		return graph(node("fan", passes, "agent", "other"), failing, node("other", several("k")), node("caught", several("k")))
	}, func(t *testing.T, w *world, out *Outcome, prefix string) {
		out = w.elsewhere(out.Thread, to(prefix+"agent.a", "approve"))
		w.open(out, prefix+"other.k", prefix+"caught.k")
		if out.Error != nil {
			t.Errorf("a failure that was caught is shown: %+v", out.Error)
		}
		out = w.elsewhere(out.Thread, to(prefix+"caught.k", "approve"), to(prefix+"other.k", "approve"))
		if out.Status != checkpoint.Done {
			t.Errorf("%+v", out)
		}
	})
}

// TestAttemptsSurviveAPauseAnywhere: what failed before a question counts after it, in another process too.
func TestAttemptsSurviveAPauseAnywhere(t *testing.T) {
	for prefix, attempts := range map[string]*[]int{"": {}, "sub/": {}, "each/0/": {}, "sub/each/0/": {}, "each/0/sub/": {}} {
		whole := places(func() *Graph {
			n := rerun(node("agent", func(_ context.Context, c *Call) (Result, error) {
				*attempts = append(*attempts, c.Attempt)
				switch {
				case c.Attempt == 1 || len(c.Resume) > 0:
					return Result{}, errors.New("no luck")
				}
				return Result{Interrupts: keyed("q")}, nil
			}))
			n.Retry.MaxAttempts = 4
			return graph(n)
		})[prefix]
		w := newWorld(t)
		out := w.start(whole, map[string]any{"list": []int{1}})
		w.open(out, prefix+"agent.q")
		out = w.elsewhere(out.Thread, say("approve"))
		if diff := cmp.Diff([]int{1, 2, 2, 3, 4}, *attempts); diff != "" || out.Status != checkpoint.Failed || out.Error.Attempts != 4 {
			t.Errorf("%q: %s, %+v, attempts %v", prefix, out.Status, out.Error, *attempts)
		}
	}
}

// TestRoundsAnywhere: each retry links the new question to the one before; a question asked by somebody else meanwhile
// is its first.
func TestRoundsAnywhere(t *testing.T) {
	for _, routed := range []bool{false, true} {
		inPlaces(t, func() *Graph {
			review := node("review", several("k"))
			if routed {
				review.Routes = map[string][]string{"retry": {"draft"}}
			}
			return graph(node("draft", passes, "review"), review)
		}, func(t *testing.T, w *world, out *Outcome, prefix string) {
			for round := 2; round <= 4; round++ {
				before := out.Questions[0]
				feedback := fmt.Sprint("feedback ", round)
				out = w.elsewhere(out.Thread, say("retry", feedback))
				w.open(out, prefix+"review.k")
				q := out.Questions[0]
				want := &checkpoint.Previous{ID: before.ID, Feedback: feedback, By: "ana"}
				if diff := cmp.Diff(want, q.Previous); diff != "" || q.Round != round || !strings.HasSuffix(q.Path, fmt.Sprint("review@", round)) {
					t.Errorf("routed %v, round %d of %s: %s", routed, q.Round, q.Path, diff)
				}
			}
			if out = w.elsewhere(out.Thread, say("approve")); out.Status != checkpoint.Done {
				t.Errorf("%+v", out)
			}
		})
	}
}

// TestItemsBeginAsSoonAsThereIsRoom: an item that goes on after its answer waits no more, and another may begin beside it.
func TestItemsBeginAsSoonAsThereIsRoom(t *testing.T) {
	w := newWorld(t)
	n := each("each", "list", graph(node("ask", asks(plainQuestion), "slow"), node("slow", passes, "slower"), node("slower", passes)))
	n.Map.MaxParallel, n.Map.MaxWaiting = 2, 1
	out := w.start(graph(n), map[string]any{"list": []int{1, 2, 3, 4}})
	w.open(out, "each/0/ask", "each/1/ask")
	out = w.elsewhere(out.Thread, to("each/1/ask", "approve"))
	w.open(out, "each/0/ask") // as many wait as may, and nobody begins
	w.elsewhere(out.Thread, to("each/0/ask", "approve"))
	steps := w.history(out.Thread)
	at := func(run string) int {
		return slices.IndexFunc(steps, func(line string) bool { return strings.Contains(line, run) })
	}
	if began, went := at("each@1/[2]/ask@1"), at("each@1/[0]/slower@1"); began < 0 || began > went {
		t.Errorf("item 2 began in step %d, when item 0 had come to step %d:\n%s", began, went, strings.Join(steps, "\n"))
	}
}

// TestTheOrderOfAnswersDoesNotMatter: whoever answers first, in one call or in several, each in another process, the
// same nodes run the same number of times and the thread comes to the same state.
func TestTheOrderOfAnswersDoesNotMatter(t *testing.T) {
	build := func(r *ran) *Graph {
		form := node("form", noted(r, several("a", "b")), "join")
		form.Output = keeps("form")
		program := rerun(node("program", func(_ context.Context, c *Call) (Result, error) {
			if rec, ok := c.Resume["q"]; ok {
				return Result{Output: RawValue(rec.Value), Updates: map[string]Value{"program": RawValue(rec.Value)}}, nil
			}
			return Result{Interrupts: keyed("q")}, nil
		}, "join"))
		deep := inside("deep", graph(each("each", "list", graph(keysOf("item", "k", "then"), node("then", noted(r, passes))))), map[string]any{"list": []int{1, 2}}, "join")
		deep.Sub.Graph.Nodes[0].Map.Result = func(s Scope) (Value, error) { v, _ := s.Lookup("item"); return v, nil }
		join := node("join", inputs(r))
		join.Join = JoinAll
		return graph(node("fan", noted(r, passes), "form", "program", "deep"), form, program, deep, join)
	}
	all := []string{"form.a", "form.b", "program.q", "deep/each/0/item.k", "deep/each/1/item.k"}
	var first map[string]string
	var calls []string
	permutations(all, func(order []string) {
		for together := range 3 {
			w := newWorld(t)
			var r ran
			out := w.start(build(&r), nil)
			for rest := order; len(rest) > 0; {
				n := min(together+1, len(rest))
				var answers []Answer
				for _, name := range rest[:n] {
					answers = append(answers, to(name, "respond", "to "+name))
				}
				out = w.elsewhere(out.Thread, answers...)
				rest = rest[n:]
			}
			state, ran := w.state(out.Thread), slices.Sorted(slices.Values(r.all()))
			if first == nil {
				first, calls = state, ran
			}
			if diff := cmp.Diff(first, state) + cmp.Diff(calls, ran); out.Status != checkpoint.Done || diff != "" {
				t.Fatalf("%v, %d at a time: %s\n%s", order, together+1, out.Status, diff)
			}
		}
	})
	if len(calls) != 5 || first["deep"] != `{"each":[{"k":"to deep/each/0/item.k"},{"k":"to deep/each/1/item.k"}],"list":[1,2]}` {
		t.Errorf("ran %v to %v", calls, first)
	}
}

// permutations calls f with every order of list.
func permutations(list []string, f func([]string)) {
	var extend func(order, rest []string)
	extend = func(order, rest []string) {
		if len(rest) == 0 {
			f(order)
		}
		for i := range rest {
			extend(append(slices.Clone(order), rest[i]), slices.Concat(rest[:i], rest[i+1:]))
		}
	}
	extend(nil, list)
}
