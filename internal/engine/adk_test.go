package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// The conformance cases of ADK that concern a declared graph without nesting and are not the subject of a test of
// their own elsewhere: by the numbers of the list kept with the design. Elsewhere are 6 to 8 (TestRerunOnResume), 33
// (TestARepeatedResponseIsAppliedOnce), 40 (TestALoopWithAJoinCountsNewArrivals), 39
// (TestJoinsAreJudgedAfterTheLastAnswerOfACall), 76 (TestAdkDuplicateKeysCollapse). Of case 6 the seed document's rule
// is kept, not that of later versions: a program with several questions of its own runs again with the first answer.

// asker is a program that asks key until it has an answer to it, and then gives the answer's value.
func asker(key string) RunnerFunc {
	return func(_ context.Context, c *Call) (Result, error) {
		if rec, ok := c.Resume[key]; ok {
			return Result{Output: RawValue(rec.Value)}, nil
		}
		return Result{Interrupts: keyed(key)}, nil
	}
}

func TestAdkSingleQuestion(t *testing.T) {
	t.Run("1, 2, 25: a plain node pauses, its answer is its output and the next node's input", func(t *testing.T) {
		w := newWorld(t)
		var r ran
		asked := w.start(graph(node("a", gives("a"), "b"), node("b", noted(&r, asks(plainQuestion)), "c"), node("c", inputs(&r))), nil)
		w.answer(asked.Thread, say("respond", "hello"))
		if diff := cmp.Diff([]string{"b@1", `c@1 "hello"`}, r.all()); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("3, 18, 20: a program runs once more, with its input, its run id and the answer", func(t *testing.T) {
		w := newWorld(t)
		var r ran
		asked := w.start(graph(node("a", gives("from a"), "agent"), agent(&r, asker("q"))), nil)
		if out := w.answer(asked.Thread, say("respond", "yes")); out.Status != checkpoint.Done {
			t.Fatalf("%+v", out)
		}
		if diff := cmp.Diff([]string{
			`agent@1 in "from a" answers [] open [] prior null`,
			`agent@1 in "from a" answers [q=respond:"yes"] open [] prior null`,
		}, r.all()); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("4, 5, 35: one question after the other, each turn another process; the last sees both answers", func(t *testing.T) {
		w := newWorld(t)
		var r ran
		g := graph(agent(&r, func(_ context.Context, c *Call) (Result, error) {
			if len(c.Resume) < 2 {
				return Result{Interrupts: keyed(fmt.Sprintf("q%d", len(c.Resume)+1))}, nil
			}
			return Result{Output: text("both")}, nil
		}))
		asked := w.start(g, nil)
		for _, q := range []string{"q1", "q2"} {
			if _, err := w.engine(nil).Resume(t.Context(), ResumeRequest{Thread: asked.Thread, Answers: []Answer{to(q, "respond", q)}}); err != nil {
				t.Fatal(err)
			}
		}
		if last := r.all()[2]; !strings.Contains(last, `[q1=respond:"q1" q2=respond:"q2"]`) || len(r.all()) != 3 {
			t.Error(r.all())
		}
	})
	t.Run("9: an output beside a question triggers nothing yet", func(t *testing.T) {
		w := newWorld(t)
		var r ran
		asked := w.start(graph(node("a", func(context.Context, *Call) (Result, error) {
			return Result{Output: text("early"), Updates: map[string]Value{"x": text("held")}, Interrupts: keyed("q")}, nil
		}, "b"), node("b", noted(&r, passes))), nil)
		if len(r.all()) != 0 || w.state(asked.Thread)["x"] != "" {
			t.Errorf("ran %v, state %v", r.all(), w.state(asked.Thread))
		}
		w.answer(asked.Thread, say("approve"))
		if len(r.all()) != 1 || w.state(asked.Thread)["x"] != `"held"` {
			t.Errorf("ran %v, state %v", r.all(), w.state(asked.Thread))
		}
	})
	t.Run("17: a node that asks and fails has failed", func(t *testing.T) {
		w := newWorld(t)
		out := w.start(graph(node("a", func(context.Context, *Call) (Result, error) {
			return Result{Interrupts: keyed("q")}, errors.New("boom")
		})), nil)
		if out.Status != checkpoint.Failed || len(out.Questions) != 0 {
			t.Errorf("%+v", out)
		}
	})
}

func TestAdkDuplicateKeysCollapse(t *testing.T) {
	w := newWorld(t)
	if out := w.start(graph(node("a", several("q", "q"))), nil); len(out.Questions) != 1 {
		t.Errorf("%d questions", len(out.Questions))
	}
}

func TestAdkLoops(t *testing.T) {
	t.Run("21, 22: a loop's runs are numbered, and each gets the latest input", func(t *testing.T) {
		w := newWorld(t)
		var r ran
		a := agent(&r, asker("q"), "b")
		asked := w.start(graph(a, node("b", func(_ context.Context, c *Call) (Result, error) {
			return Result{Output: text("b after " + c.Input.Any().(string))}, nil
		}, "agent")), nil)
		out := w.answer(asked.Thread, say("respond", "one"))
		if out.Status != checkpoint.Interrupted || out.Questions[0].Path != "main@1/agent@2" {
			t.Fatalf("%+v", out)
		}
		if last := r.all()[2]; last != `agent@2 in "b after one" answers [] open [] prior null` {
			t.Error(last)
		}
	})
	t.Run("23, 24: a review loop that reuses its key asks anew each round and ends", func(t *testing.T) {
		w := newWorld(t)
		review := node("review", several("verdict"))
		review.When = []Branch{{If: func(_ Scope, v Value) (bool, error) {
			return v.Any().(map[string]any)["verdict"] == "revise", nil
		}, Then: []string{"draft"}}}
		out := w.start(graph(node("draft", passes, "review"), review), nil)
		seen := map[string]bool{}
		for round := 1; round <= 3; round++ {
			q := out.Questions[0]
			if want := fmt.Sprintf("main@1/review@%d", round); q.Path != want || seen[q.ID] {
				t.Fatalf("round %d: %s, id seen %v", round, q.Path, seen[q.ID])
			}
			seen[q.ID] = true
			verdict := "revise"
			if round == 3 {
				verdict = "fine"
			}
			out = w.answer(out.Thread, say("respond", verdict))
		}
		if out.Status != checkpoint.Done {
			t.Errorf("%+v", out)
		}
	})
}

func TestAdkParallelBranches(t *testing.T) {
	t.Run("36: a slow branch completes while another waits", func(t *testing.T) {
		w := newWorld(t)
		out := w.start(graph(node("s", passes, "a", "b"), node("a", asks(plainQuestion)), node("b", writes("b1", 1), "c"), node("c", writes("c", 1))), nil)
		if out.Status != checkpoint.Interrupted || w.state(out.Thread)["c"] != "1" {
			t.Errorf("%s, %v", out.Status, w.state(out.Thread))
		}
	})
	t.Run("37, 38: a join waits for both answers and fires once; nothing finished runs again", func(t *testing.T) {
		w := newWorld(t)
		var r ran
		g := graph(node("s", noted(&r, passes), "a", "b", "c"), node("a", asks(plainQuestion), "join"), node("b", asks(plainQuestion), "join"),
			node("c", noted(&r, gives("c")), "join"), node("join", inputs(&r)))
		g.Nodes[4].Join = JoinAll
		asked := w.start(g, nil)
		w.answer(asked.Thread, to("b", "respond", "B"))
		if len(r.all()) != 2 {
			t.Errorf("after the first answer: %v", r.all())
		}
		w.answer(asked.Thread, say("respond", "A"))
		if diff := cmp.Diff([]string{"s@1", "c@1", `join@1 {"a":"A","b":"B","c":"c"}`}, r.all()); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("41, 43: two triggers of one asking node give one question at a time", func(t *testing.T) {
		w := newWorld(t)
		var r ran
		out := w.start(graph(node("s", passes, "a", "b"), node("a", gives("a"), "ask"), node("b", gives("b"), "ask"),
			node("ask", asks(plainQuestion), "end"), node("end", inputs(&r))), nil)
		for i := range 2 {
			if len(out.Questions) != 1 || out.Questions[0].Path != fmt.Sprintf("main@1/ask@%d", i+1) {
				t.Fatalf("%d: %+v", i, out.Questions)
			}
			out = w.answer(out.Thread, say("respond", fmt.Sprint("answer ", i+1)))
		}
		if diff := cmp.Diff([]string{`end@1 "answer 1"`, `end@2 "answer 2"`}, r.all()); diff != "" || out.Status != checkpoint.Done {
			t.Error(out.Status, diff)
		}
	})
	t.Run("42: a waiting run holds no slot", func(t *testing.T) {
		w := newWorld(t)
		g := graph(node("s", passes, "a", "b", "c"), node("a", asks(plainQuestion)), node("b", asks(plainQuestion)), node("c", writes("c", 1)))
		g.MaxConcurrency = 1
		out := w.start(g, nil)
		if diff := cmp.Diff([]string{"a", "b"}, addressesOf(out)); diff != "" || w.state(out.Thread)["c"] != "1" {
			t.Error(diff)
		}
	})
	t.Run("44: each of three successors gets the answer", func(t *testing.T) {
		w := newWorld(t)
		var r ran
		asked := w.start(graph(node("ask", asks(plainQuestion), "a", "b", "c"), node("a", inputs(&r)), node("b", inputs(&r)), node("c", inputs(&r))), nil)
		w.answer(asked.Thread, say("respond", "x"))
		if len(r.all()) != 3 || !strings.HasSuffix(r.all()[0], `"x"`) || !strings.HasSuffix(r.all()[2], `"x"`) {
			t.Error(r.all())
		}
	})
}

// TestAdkRoutes: 46 to 48: a route set before the pause, by another node or by the asking node itself, is not lost.
func TestAdkRoutes(t *testing.T) {
	w := newWorld(t)
	var r ran
	router := node("router", func(context.Context, *Call) (Result, error) { return Result{Route: "left", Output: text("out")}, nil })
	router.Routes = map[string][]string{"left": {"ask"}}
	ask := node("ask", func(_ context.Context, c *Call) (Result, error) {
		return Result{Route: "up", Interrupts: []Ask{{Payload: js(plainQuestion)}}}, nil
	})
	ask.Routes = map[string][]string{"up": {"upstairs"}}
	asked := w.start(graph(router, ask, node("upstairs", inputs(&r))), nil)
	w.answer(asked.Thread, say("respond", "go"))
	if diff := cmp.Diff([]string{`upstairs@1 "go"`}, r.all()); diff != "" {
		t.Error(diff)
	}
}

// TestAdkFailures: 78, 80, 81 and 83: what failed runs again with the answers it had; what waits goes on waiting; what
// finished with null does not run again.
func TestAdkFailures(t *testing.T) {
	w := newWorld(t)
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
	out := w.answer(asked.Thread, to("a", "respond", "yes"))
	if diff := cmp.Diff([]string{"agent.b", "other"}, addressesOf(out)); diff != "" || out.Status != checkpoint.Interrupted || out.Error == nil {
		t.Fatalf("%s, %+v, %s", out.Status, out.Error, diff)
	}
	broken = false
	out, err := w.Resume(t.Context(), ResumeRequest{Thread: asked.Thread})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"other"}, addressesOf(out)); diff != "" {
		t.Error(diff)
	}
	out = w.answer(asked.Thread, say("approve"))
	if calls := r.all(); out.Status != checkpoint.Done || len(calls) != 4 || !strings.Contains(calls[3], `[a=respond:"yes"] open [b]`) {
		t.Errorf("%s, %v", out.Status, calls)
	}
}
