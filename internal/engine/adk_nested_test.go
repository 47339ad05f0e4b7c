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

// keysOf is a node that asks key as a named question, and completes with its answer.
func keysOf(name, key string, then ...string) *Node {
	n := node(name, several(key), then...)
	n.Output = keeps(name)
	return n
}

// adkNested is section E: nested workflows.
func adkNested() []adkCase {
	return []adkCase{
		{[]int{50, 53, 55}, "only the leaf's question is stored; its answer goes up once, and what came before is not run again", "", func(t *testing.T, w *world) {
			var r ran
			inner := inside("inner", graph(node("ask", asks(plainQuestion))), nil, "after")
			inner.Sub.Graph.Nodes[0].Output = keeps("said")
			out := w.start(graph(node("before", noted(&r, passes), "inner"), inner, node("after", inputs(&r))), nil)
			c, err := w.store.Latest(t.Context(), out.Thread)
			if err != nil || len(c.Interrupts) != 1 || c.Interrupts[0].Path != "main@1/inner@1/ask@1" {
				t.Fatalf("%v %+v", err, c.Interrupts)
			}
			w.elsewhere(out.Thread, to(c.Interrupts[0].ID, "respond", "hello"))
			r.was(t, "before@1", `after@1 {"said":"hello"}`)
		}},
		{[]int{51}, "a nested join waits for both; what the first leads to goes on", "", func(t *testing.T, w *world) {
			join := node("join", writes("joined", true))
			join.Join = JoinAll
			child := graph(node("fan", passes, "a", "b"), node("a", asks(plainQuestion), "then_a", "join"), node("then_a", writes("a", 1)), node("b", asks(plainQuestion), "join"), join)
			out := w.start(graph(inside("inner", child, nil)), nil)
			out = w.elsewhere(out.Thread, to("inner/a", "approve"))
			c, err := w.store.Latest(t.Context(), out.Thread)
			if w.open(out, "inner/b"); err != nil || string(c.Channels["@state:main@1/inner@1:a"]) != "1" {
				t.Fatalf("%v %v", err, c.Channels)
			}
			if out = w.elsewhere(out.Thread, to("inner/b", "approve")); out.Status != checkpoint.Done || w.state(out.Thread)["inner"] != `{"a":1,"joined":true}` {
				t.Errorf("%s %v", out.Status, w.state(out.Thread))
			}
		}},
		{[]int{52}, "the answer is the input of the next node inside", "", func(t *testing.T, w *world) {
			var r ran
			out := w.start(graph(inside("inner", graph(node("ask", asks(plainQuestion), "next"), node("next", inputs(&r))), nil)), nil)
			w.elsewhere(out.Thread, say("respond", "hello"))
			r.was(t, `next@1 "hello"`)
		}},
		{[]int{54}, "a task inside goes on with a text that names no question, until it is content", "", func(t *testing.T, w *world) {
			var r ran
			task := agent(&r, func(_ context.Context, c *Call) (Result, error) {
				if rec, ok := c.Resume["text"]; ok && string(rec.Value) != `""` {
					return Result{Output: RawValue(rec.Value)}, nil
				}
				return Result{Interrupts: keyed("text")}, nil
			})
			task.Output = keeps("said")
			out := w.start(graph(inside("inner", graph(task), nil)), nil)
			w.open(w.elsewhere(out.Thread, say("text_input", "")), "inner/agent.text")
			w.elsewhere(out.Thread, say("text_input", "Lisbon"))
			if got := w.state(out.Thread)["inner"]; got != `{"said":"Lisbon"}` || len(r.all()) != 3 {
				t.Errorf("%s after %v", got, r.all())
			}
		}},
	}
}

// adkChildren is section F: the children a program runs as it goes are nodes of a nested workflow here, and what the
// program would do between them is its edges.
func adkChildren() []adkCase {
	const declared = "a parent has no body that runs again: its children are declared, and those that completed stay so"
	return []adkCase{
		{[]int{56, 59}, "a child that asks completes with its answer, without running, and its parent with it", "", func(t *testing.T, w *world) {
			var r ran
			child := graph(node("ask", noted(&r, asks(plainQuestion))))
			child.Nodes[0].Output = keeps("said")
			out := w.start(graph(inside("parent", child, nil, "end"), node("end", inputs(&r))), nil)
			w.elsewhere(out.Thread, say("respond", "yes"))
			r.was(t, "parent@1/ask@1", `end@1 {"said":"yes"}`)
		}},
		{[]int{57, 60}, "children that completed before, with a value or with null, do not run again", declared, func(t *testing.T, w *world) {
			var r ran
			child := graph(node("value", noted(&r, gives(1)), "null"), node("null", noted(&r, passes), "ask"), node("ask", noted(&r, asks(plainQuestion))))
			out := w.start(graph(inside("parent", child, nil)), nil)
			w.elsewhere(out.Thread, say("approve"))
			r.was(t, "parent@1/value@1", "parent@1/null@1", "parent@1/ask@1")
		}},
		{[]int{58}, "two children that ask, one after the other: three turns with one question each", "", func(t *testing.T, w *world) {
			child := graph(keysOf("one", "k", "two"), keysOf("two", "k"))
			out := w.start(graph(inside("parent", child, nil)), nil)
			w.open(out, "parent/one.k")
			w.open(w.elsewhere(out.Thread, say("respond", "1")), "parent/two.k")
			w.open(w.elsewhere(out.Thread, say("respond", "2")))
			if got := w.state(out.Thread)["parent"]; got != `{"one":{"k":"1"},"two":{"k":"2"}}` {
				t.Error(got)
			}
		}},
		{[]int{61, 64}, "the same node in two places has two paths, and only the one that is answered goes on", "", func(t *testing.T, w *world) {
			var r ran
			child := graph(agent(&r, asker("q")))
			out := w.start(graph(node("fan", passes, "x", "y"), inside("x", child, nil), inside("y", child, nil)), nil)
			w.open(out, "x/agent.q", "y/agent.q")
			w.open(w.elsewhere(out.Thread, to("y/agent.q", "respond", "yes")), "x/agent.q")
			if calls := r.all(); len(calls) != 3 || !strings.HasPrefix(calls[2], "y@1/agent@1 ") {
				t.Errorf("ran %v", calls)
			}
		}},
		{[]int{62, 65}, "three levels; two questions answered in one call", "", func(t *testing.T, w *world) {
			middle := graph(node("fan", passes, "low", "beside"), inside("low", graph(keysOf("ask", "k")), nil), keysOf("beside", "k"))
			out := w.start(graph(inside("top", middle, nil)), nil)
			if diff := cmp.Diff([]string{"top/beside.k", "top/low/ask.k"}, slices.Sorted(slices.Values(addressesOf(out)))); diff != "" {
				t.Fatal(diff)
			}
			if _, err := w.Resume(t.Context(), ResumeRequest{Thread: out.Thread, Answers: []Answer{to("k", "approve")}}); !errors.Is(err, ErrUnknownQuestion) {
				t.Errorf("a key that two open questions have: %v", err)
			}
			out = w.elsewhere(out.Thread, to("top/beside.k", "respond", "b"), to("top/low/ask.k", "respond", "a"))
			if want := `{"beside":{"k":"b"},"low":{"ask":{"k":"a"}}}`; w.state(out.Thread)["top"] != want {
				t.Errorf("%s %v", out.Status, w.state(out.Thread))
			}
		}},
		{[]int{63}, "a parent that gives its child's answer as its own gives it once", "", func(t *testing.T, w *world) {
			var r ran
			child := graph(keysOf("ask", "k"))
			child.Output = func(s Scope) (Value, error) {
				v, _ := s.Lookup("ask")
				return known(v.Any().(map[string]any)["k"]), nil
			}
			out := w.start(graph(inside("parent", child, nil, "end"), node("end", inputs(&r))), nil)
			w.elsewhere(out.Thread, say("respond", "mine"))
			r.was(t, `end@1 "mine"`)
		}},
		{[]int{70}, "a parent that catches its child's failure may run it again", "", func(t *testing.T, w *world) {
			var r ran
			failures := 1
			parent := inside("parent", graph(node("child", noted(&r, stops(&failures, gives("well"))))), nil)
			parent.Failure, parent.HasFailure = []string{"parent"}, true
			if out := w.start(graph(parent), nil); out.Status != checkpoint.Done {
				t.Errorf("%+v", out.Error)
			}
			r.was(t, "parent@1/child@1", "parent@2/child@1")
		}},
	}
}

// adkMaps is section G: ADK's parallel worker.
func adkMaps() []adkCase {
	// item asks for the even ones and gives back the odd ones.
	item := func(r *ran) *Graph {
		n := rerun(node("work", func(_ context.Context, c *Call) (Result, error) {
			r.note(c)
			v, _ := c.Scope.Lookup("item")
			if rec, ok := c.Resume["q"]; ok {
				return Result{Output: RawValue(rec.Value)}, nil
			}
			if v.Any().(int)%2 == 0 {
				return Result{Interrupts: keyed("q")}, nil
			}
			return Result{Output: v}, nil
		}))
		n.Output = keeps("r")
		return graph(n)
	}
	result := func(s Scope) (Value, error) { v, _ := s.Lookup("r"); return v, nil }
	return []adkCase{
		{[]int{71}, "the list is complete and in the order of the input", "", func(t *testing.T, w *world) {
			var r ran
			n := each("each", "list", item(&r))
			n.Map.Result = result
			out := w.start(graph(n), map[string]any{"list": []int{2, 1}})
			out = w.elsewhere(out.Thread, to("each/0/work.q", "respond", "two"))
			if got := w.state(out.Thread)["each"]; out.Status != checkpoint.Done || got != `["two",1]` || len(r.all()) != 3 {
				t.Errorf("%s %s after %v", out.Status, got, r.all())
			}
		}},
		{[]int{72}, "with one that may wait, none begins after the first question", "", func(t *testing.T, w *world) {
			var r ran
			n := each("each", "list", item(&r))
			n.Map.Result, n.Map.MaxParallel, n.Map.MaxWaiting = result, 2, 1
			out := w.start(graph(n), map[string]any{"list": []int{1, 2, 4}})
			for i, want := range []string{"each/1/work.q", "each/2/work.q"} {
				w.open(out, want)
				out = w.elsewhere(out.Thread, to(want, "respond", fmt.Sprint("answer ", i)))
			}
			if got := w.state(out.Thread)["each"]; got != `[1,"answer 0","answer 1"]` {
				t.Errorf("%s %s", out.Status, got)
			}
		}},
		{[]int{73}, "when items fail, those that run finish, none begins, and the lowest index is reported",
			"ADK cancels the others; here nothing that was begun is thrown away, and carrying on tries the failed ones, and only those", func(t *testing.T, w *world) {
				var r ran
				broken := true
				n := each("each", "list", graph(node("work", noted(&r, func(ctx context.Context, c *Call) (Result, error) {
					if v, _ := c.Scope.Lookup("item"); broken && v.Any().(int) > 1 {
						return Result{}, fmt.Errorf("item %v is bad", v.Any())
					}
					return Result{}, nil
				}), "more"), node("more", noted(&r, passes))))
				n.Map.MaxParallel = 3
				out := w.start(graph(n), map[string]any{"list": []int{1, 2, 3, 4}})
				if out.Status != checkpoint.Failed || out.Error.Message != "item 2 is bad" {
					t.Fatalf("%s %+v", out.Status, out.Error)
				}
				first := slices.Sorted(slices.Values(r.all()))
				if diff := cmp.Diff([]string{"each@1/[0]/more@1", "each@1/[0]/work@1", "each@1/[1]/work@1", "each@1/[2]/work@1"}, first); diff != "" {
					t.Error(diff)
				}
				broken = false
				if out = w.elsewhere(out.Thread); out.Status != checkpoint.Done || len(r.all()) != 4+2*3 {
					t.Errorf("%s after %v", out.Status, r.all())
				}
			}},
	}
}

// TestPartialAnswersInsideAnItem: a program with several questions, inside a map inside a workflow, runs again with
// each answer, sees all it ever got, and keeps what is open.
func TestPartialAnswersInsideAnItem(t *testing.T) {
	w := newWorld(t)
	var r ran
	body := graph(agent(&r, func(_ context.Context, c *Call) (Result, error) {
		if len(c.Resume) == 2 {
			return Result{Output: text("both")}, nil
		}
		var open []Ask
		for _, key := range []string{"a", "b"} {
			if _, ok := c.Resume[key]; !ok {
				open = append(open, keyed(key)...)
			}
		}
		return Result{Output: text("half"), Interrupts: open}, nil
	}))
	out := w.start(graph(inside("sub", graph(each("each", "list", body)), map[string]any{"list": []int{1}})), nil)
	id := out.Questions[1].ID
	out = w.answer(out.Thread, to("sub/each/0/agent.a", "respond", "A"))
	if len(out.Questions) != 1 || out.Questions[0].ID != id {
		t.Fatalf("the open question changed: %+v", out.Questions)
	}
	out = w.answer(out.Thread, to("b", "respond", "B"))
	want := []string{
		`sub@1/each@1/[0]/agent@1 in 1 answers [] open [] prior null`,
		`sub@1/each@1/[0]/agent@1 in 1 answers [a=respond:"A"] open [b] prior "half"`,
		`sub@1/each@1/[0]/agent@1 in 1 answers [a=respond:"A" b=respond:"B"] open [] prior "half"`,
	}
	if diff := cmp.Diff(want, r.all()); out.Status != checkpoint.Done || diff != "" {
		t.Errorf("%s %v\n%s", out.Status, out.Error, diff)
	}
}
