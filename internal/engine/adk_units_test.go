package engine

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// adkUnits is section H: one node run.
func adkUnits() []adkCase {
	return []adkCase{
		{[]int{74}, "a prior output and prior questions are there when it runs again, and new questions join them", "", func(t *testing.T, w *world) {
			var r ran
			asked := w.start(graph(agent(&r, func(_ context.Context, c *Call) (Result, error) {
				if len(c.Resume) == 0 {
					return Result{Output: text("half"), Interrupts: keyed("a", "b")}, nil
				}
				return Result{Interrupts: keyed("c")}, nil
			})), nil)
			w.open(w.elsewhere(asked.Thread, to("a", "approve")), "agent.b", "agent.c")
			if last := r.all()[1]; last != `agent@1 in {} answers [a=approve:true] open [b] prior "half"` {
				t.Error(last)
			}
		}},
		{[]int{76}, "a key asked twice is one question", "", func(t *testing.T, w *world) {
			w.open(w.start(graph(node("a", several("q", "q"))), nil), "a.q")
		}},
		{[]int{77}, "what is written beside a question is kept with it; progress writes nothing",
			"the updates of a run are merged once, when it completes: until then they are held with it, and a run that runs again replaces them", func(t *testing.T, w *world) {
				var r ran
				asked := w.start(graph(agent(&r, func(_ context.Context, c *Call) (Result, error) {
					c.Emit([]byte(`{"progress":1}`))
					if len(c.Resume) == 0 {
						return Result{Updates: map[string]Value{"x": text("first"), "only": text("first")}, Interrupts: keyed("q")}, nil
					}
					return Result{Updates: map[string]Value{"x": text("second")}}, nil
				})), nil)
				if got := w.state(asked.Thread); len(got) != 0 {
					t.Errorf("while it waits: %v", got)
				}
				w.elsewhere(asked.Thread, say("approve"))
				if diff := cmp.Diff(map[string]string{"x": `"second"`}, w.state(asked.Thread)); diff != "" {
					t.Error(diff)
				}
			}},
	}
}

// adkFailures is section I: failures beside questions.
func adkFailures() []adkCase {
	return []adkCase{
		{[]int{78}, "what failed runs again when the thread is carried on, and only that", "", func(t *testing.T, w *world) {
			var r ran
			failures := 1
			asked := w.start(graph(node("a", noted(&r, passes), "b", "c"), node("b", noted(&r, stops(&failures, writes("b", 1)))), node("c", noted(&r, passes))), nil)
			if asked.Status != checkpoint.Failed {
				t.Fatalf("%+v", asked)
			}
			before := r.all()
			if out := w.elsewhere(asked.Thread); out.Status != checkpoint.Done || w.state(out.Thread)["b"] != "1" {
				t.Errorf("%+v", out)
			}
			if got := r.all()[len(before):]; !slices.Equal(got, []string{"b@1"}) {
				t.Errorf("ran again: %v", got)
			}
		}},
		{[]int{79}, "an output with which it failed is ignored", "", func(t *testing.T, w *world) {
			var r ran
			failing := true
			asked := w.start(graph(agent(&r, func(context.Context, *Call) (Result, error) {
				if failing {
					return Result{Output: text("partial"), Updates: map[string]Value{"x": text("partial")}, Route: "r"}, errors.New("boom")
				}
				return Result{Output: text("whole")}, nil
			}, "end"), node("end", inputs(&r))), nil)
			failing = false
			w.elsewhere(asked.Thread)
			r.was(t, `agent@1 in {} answers [] open [] prior null`, `agent@1 in {} answers [] open [] prior null`, `end@1 "whole"`)
			if got := w.state(asked.Thread); len(got) != 0 {
				t.Errorf("state %v", got)
			}
		}},
		{[]int{80, 81}, "what failed with a question open goes on waiting, the failure shown; answered or carried on it runs with all answers it had", "", adkFailedBesideAQuestion},
		{[]int{82}, "a program that was cut off in the middle runs again", "", func(t *testing.T, w *world) {
			var r ran
			asked := w.start(graph(agent(&r, asker("q"))), nil)
			dying := w.crashAt("before_commit", 1)
			if lives(func() {
				dying.Resume(context.Background(), ResumeRequest{Thread: asked.Thread, Answers: []Answer{say("respond", "yes")}})
			}) {
				t.Fatal("it did not crash")
			}
			w.clock.advance(time.Minute)
			if out := w.elsewhere(asked.Thread); out.Status != checkpoint.Done {
				t.Errorf("%+v", out)
			}
			again := `agent@1 in {} answers [q=respond:"yes"] open [] prior null`
			r.was(t, `agent@1 in {} answers [] open [] prior null`, again, again)
		}},
		{[]int{83}, "a program that was answered and finished with null does not run again", "", func(t *testing.T, w *world) {
			var r ran
			g := graph(node("s", passes, "agent", "other"), agent(&r, func(_ context.Context, c *Call) (Result, error) {
				if len(c.Resume) > 0 {
					return Result{}, nil
				}
				return Result{Interrupts: keyed("q")}, nil
			}), node("other", asks(plainQuestion)))
			asked := w.start(g, nil)
			w.open(w.elsewhere(asked.Thread, to("q", "approve")), "other")
			w.open(w.elsewhere(asked.Thread, to("other", "approve")))
			if len(r.all()) != 2 {
				t.Errorf("%v", r.all())
			}
		}},
	}
}

func adkFailedBesideAQuestion(t *testing.T, w *world) {
	for _, carriedOn := range []bool{false, true} {
		var r ran
		broken := true
		failing := agent(&r, func(_ context.Context, c *Call) (Result, error) {
			switch {
			case len(c.Resume) == 0:
				return Result{Interrupts: keyed("a", "b")}, nil
			case broken:
				return Result{}, errors.New("boom")
			}
			return Result{Closed: []string{"b"}}, nil
		})
		asked := w.start(graph(node("s", noted(&r, passes), "agent", "other"), failing, node("other", asks(plainQuestion))), nil)
		out := w.elsewhere(asked.Thread, to("a", "respond", "yes"))
		if w.open(out, "agent.b", "other"); out.Status != checkpoint.Interrupted || out.Error == nil || out.Error.Message != "boom" {
			t.Fatalf("%s, %+v", out.Status, out.Error)
		}
		broken = false
		last := `[a=respond:"yes"] open [b]`
		if carriedOn {
			out = w.elsewhere(asked.Thread)
		} else {
			last = `[a=respond:"yes" b=respond:"too"] open []`
			out = w.elsewhere(asked.Thread, to("b", "respond", "too"))
		}
		w.open(out, "other")
		out = w.elsewhere(asked.Thread, say("approve"))
		if calls := r.all(); out.Status != checkpoint.Done || len(calls) != 4 || !strings.Contains(calls[3], last) {
			t.Errorf("carried on %v: %s, %v", carriedOn, out.Status, calls)
		}
	}
}

// adkConsent is section J: a tool's confirmation and its credential, which a program asks for like anything else.
func adkConsent() []adkCase {
	// tool asks for consent under key, and does the work with what it was given; a rejection is its output.
	tool := func(r *ran, key string, q actions.Question) RunnerFunc {
		return func(_ context.Context, c *Call) (Result, error) {
			rec, ok := c.Resume[key]
			switch {
			case !ok:
				return Result{Interrupts: []Ask{{Key: key, Payload: js(q)}}}, nil
			case rec.Action == actions.Reject:
				return Result{Output: known(map[string]any{"error": "rejected"})}, nil
			}
			r.note(c)
			return Result{Output: RawValue(rec.Value)}, nil
		}
	}
	return []adkCase{
		{[]int{84}, "with consent the tool runs, without it the program hears so; the model goes on in the same thread", "", func(t *testing.T, w *world) {
			for action, want := range map[actions.Action][]string{"approve": {"tool@1", `model@1 true`}, "reject": {`model@1 {"error":"rejected"}`}} {
				var r ran
				asked := w.start(graph(rerun(node("tool", tool(&r, "call", plainQuestion), "model")), node("model", inputs(&r))), nil)
				if out := w.elsewhere(asked.Thread, say(action)); out.Status != checkpoint.Done || out.Thread != asked.Thread {
					t.Errorf("%s: %+v", action, out)
				}
				r.was(t, want...)
			}
		}},
		{[]int{85}, "the payload of an answer reaches the tool", "", func(t *testing.T, w *world) {
			var r ran
			asked := w.start(graph(rerun(node("tool", tool(&r, "call", numberForm()), "model")), node("model", inputs(&r))), nil)
			w.elsewhere(asked.Thread, say("submit", map[string]any{"n": 3, "of": "days"}))
			r.was(t, "tool@1", `model@1 {"n":3,"of":"days"}`)
		}},
		{[]int{86}, "two branches that wait for consent are answered one at a time, the later first", "", func(t *testing.T, w *world) {
			var r ran
			asked := w.start(graph(node("fan", passes, "x", "y"), rerun(node("x", tool(&r, "call", plainQuestion))), rerun(node("y", tool(&r, "call", plainQuestion)))), nil)
			w.open(asked, "x.call", "y.call")
			w.open(w.elsewhere(asked.Thread, to("y.call", "approve")), "x.call")
			r.was(t, "y@1")
			w.open(w.elsewhere(asked.Thread, to("call", "approve")))
			r.was(t, "y@1", "x@1")
		}},
		{[]int{88}, "a credential is asked for once: the answer is kept, the function runs once, and a second with the same key asks nothing", "", func(t *testing.T, w *world) {
			var r ran
			function := func(_ context.Context, c *Call) (Result, error) {
				key, ok := c.Scope.Lookup("key")
				if rec, answered := c.Resume["auth"]; answered {
					key, ok = RawValue(rec.Value), true
				}
				if !ok {
					return Result{Interrupts: keyed("auth")}, nil
				}
				r.note(c)
				return Result{Updates: map[string]Value{"key": key}}, nil
			}
			asked := w.start(graph(rerun(node("first", function, "second")), rerun(node("second", function))), nil)
			if out := w.elsewhere(asked.Thread, say("respond", "s3cret")); out.Status != checkpoint.Done {
				t.Errorf("%+v", out)
			}
			r.was(t, "first@1", "second@1")
		}},
		{[]int{89}, "a text that names no question answers the only one there is", "", func(t *testing.T, w *world) {
			var r ran
			asked := w.start(graph(rerun(node("tool", tool(&r, "text", plainQuestion), "model")), node("model", inputs(&r))), nil)
			w.elsewhere(asked.Thread, say("text_input", "just a text"))
			r.was(t, "tool@1", `model@1 "just a text"`)
		}},
	}
}
