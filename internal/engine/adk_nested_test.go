package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// The conformance cases of ADK that need a nested workflow or a map, by their numbers. Of ADK's children that a program
// runs as it goes (56 to 70) only those are here that a declared graph can say. Case 73 is decided otherwise here: when
// an item fails, those that run finish (TestFailingItemFailsTheMap).

// keysOf is a node that asks key as a named question, and completes with its answer.
func keysOf(name, key string, then ...string) *Node {
	n := node(name, several(key), then...)
	n.Output = keeps(name)
	return n
}

func TestAdkNested(t *testing.T) {
	t.Run("50, 53, 55: only the leaf's question is stored; its answer goes up once", func(t *testing.T) {
		eachStore(t, func(t *testing.T, w *world) {
			var r ran
			inner := inside("inner", graph(node("ask", asks(plainQuestion))), nil, "after")
			inner.Sub.Graph.Nodes[0].Output = keeps("said")
			out := w.start(graph(node("before", noted(&r, passes), "inner"), inner, node("after", inputs(&r))), nil)
			c, err := w.store.Latest(t.Context(), out.Thread)
			if err != nil || len(c.Interrupts) != 1 || c.Interrupts[0].Path != "main@1/inner@1/ask@1" {
				t.Fatalf("%v %+v", err, c.Interrupts)
			}
			w.answer(out.Thread, to(c.Interrupts[0].ID, "respond", "hello"))
			if diff := cmp.Diff([]string{"before@1", `after@1 {"said":"hello"}`}, r.all()); diff != "" {
				t.Error(diff)
			}
		})
	})
	t.Run("51: a nested join waits for both; what the first leads to goes on", func(t *testing.T) {
		w := newWorld(t)
		join := node("join", writes("joined", true))
		join.Join = JoinAll
		child := graph(node("fan", passes, "a", "b"), node("a", asks(plainQuestion), "then_a", "join"), node("then_a", writes("a", 1)), node("b", asks(plainQuestion), "join"), join)
		out := w.start(graph(inside("inner", child, nil)), nil)
		out = w.answer(out.Thread, to("inner/a", "approve"))
		c, _ := w.store.Latest(t.Context(), out.Thread)
		if string(c.Channels["@state:main@1/inner@1:a"]) != "1" || len(out.Questions) != 1 {
			t.Fatalf("%v", c.Channels)
		}
		if out = w.answer(out.Thread, to("inner/b", "approve")); out.Status != checkpoint.Done || w.state(out.Thread)["inner"] != `{"a":1,"joined":true}` {
			t.Errorf("%s %v", out.Status, w.state(out.Thread))
		}
	})
	t.Run("52: the answer is the input of the next node inside", func(t *testing.T) {
		w := newWorld(t)
		var r ran
		out := w.start(graph(inside("inner", graph(node("ask", asks(plainQuestion), "next"), node("next", inputs(&r))), nil)), nil)
		w.answer(out.Thread, say("respond", "hello"))
		if diff := cmp.Diff([]string{`next@1 "hello"`}, r.all()); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("13: bad data at depth is refused, named, and changes nothing", func(t *testing.T) {
		w := newWorld(t)
		form := actions.Question{Kind: actions.FormKind, Message: "how many?", Schema: js(map[string]any{
			"type": "object", "properties": map[string]any{"n": map[string]any{"type": "integer"}}})}
		out := w.start(graph(inside("inner", graph(node("ask", asks(form))), nil)), nil)
		_, err := w.Resume(t.Context(), ResumeRequest{Thread: out.Thread, Answers: []Answer{say("submit", map[string]any{"n": "abc"})}})
		if err == nil || !strings.Contains(err.Error(), "inner/ask") {
			t.Errorf("got %v", err)
		}
		if now, _ := w.Open(t.Context(), out.Thread); now.Version != out.Version {
			t.Errorf("it moved to %v", now.Version)
		}
	})
	t.Run("61, 64, 86: the same node in two places has two paths, and only the one that is answered resumes", func(t *testing.T) {
		w := newWorld(t)
		var r ran
		child := graph(agent(&r, asker("q")))
		out := w.start(graph(node("fan", passes, "x", "y"), inside("x", child, nil), inside("y", child, nil)), nil)
		out = w.answer(out.Thread, to("y/agent.q", "respond", "yes"))
		if got := addressesOf(out); len(got) != 1 || got[0] != "x/agent.q" {
			t.Fatalf("open are %v", got)
		}
		if calls := r.all(); len(calls) != 3 || !strings.HasPrefix(calls[2], "y@1/agent@1 ") {
			t.Errorf("ran %v", calls)
		}
	})
	t.Run("62, 65: three levels; two questions answered in one message", func(t *testing.T) {
		w := newWorld(t)
		middle := graph(node("fan", passes, "low", "beside"), inside("low", graph(keysOf("ask", "k")), nil), keysOf("beside", "k"))
		out := w.start(graph(inside("top", middle, nil)), nil)
		if diff := cmp.Diff([]string{"top/beside.k", "top/low/ask.k"}, slices.Sorted(slices.Values(addressesOf(out)))); diff != "" {
			t.Fatal(diff)
		}
		if _, err := w.Resume(t.Context(), ResumeRequest{Thread: out.Thread, Answers: []Answer{to("k", "approve")}}); !errors.Is(err, ErrUnknownQuestion) {
			t.Errorf("a key that two open questions have: %v", err)
		}
		out = w.answer(out.Thread, to("top/beside.k", "respond", "b"), to("top/low/ask.k", "respond", "a"))
		if want := `{"beside":{"k":"b"},"low":{"ask":{"k":"a"}}}`; w.state(out.Thread)["top"] != want {
			t.Errorf("%s %v", out.Status, w.state(out.Thread))
		}
	})
	t.Run("60: what finished with null inside does not run again", func(t *testing.T) {
		w := newWorld(t)
		var r ran
		child := graph(node("null", noted(&r, passes), "ask"), node("ask", asks(plainQuestion)))
		out := w.start(graph(inside("inner", child, nil)), nil)
		w.answer(out.Thread, say("approve"))
		if len(r.all()) != 1 {
			t.Error(r.all())
		}
	})
}

func TestAdkMap(t *testing.T) {
	// item asks for the even ones and gives back the odd ones.
	item := func(r *ran) *Graph {
		n := node("work", func(_ context.Context, c *Call) (Result, error) {
			r.note(c)
			v, _ := c.Scope.Lookup("item")
			if rec, ok := c.Resume["q"]; ok {
				return Result{Output: RawValue(rec.Value)}, nil
			}
			if v.Any().(int)%2 == 0 {
				return Result{Interrupts: keyed("q")}, nil
			}
			return Result{Output: v}, nil
		})
		n.RerunOnResume, n.Output = true, keeps("r")
		return graph(n)
	}
	result := func(s Scope) (Value, error) { v, _ := s.Lookup("r"); return v, nil }
	t.Run("71: the list is complete and in the order of the input", func(t *testing.T) {
		eachStore(t, func(t *testing.T, w *world) {
			var r ran
			n := each("each", "list", item(&r))
			n.Map.Result = result
			out := w.start(graph(n), map[string]any{"list": []int{2, 1}})
			out = w.answer(out.Thread, to("each/0/work.q", "respond", "two"))
			if got := w.state(out.Thread)["each"]; out.Status != checkpoint.Done || got != `["two",1]` || len(r.all()) != 3 {
				t.Errorf("%s %s after %v", out.Status, got, r.all())
			}
		})
	})
	t.Run("72: with one that may wait, none begins after the first question", func(t *testing.T) {
		w := newWorld(t)
		var r ran
		n := each("each", "list", item(&r))
		n.Map.Result, n.Map.MaxParallel, n.Map.MaxWaiting = result, 2, 1
		out := w.start(graph(n), map[string]any{"list": []int{1, 2, 4}})
		for i, want := range []string{"each/1/work.q", "each/2/work.q"} {
			if diff := cmp.Diff([]string{want}, addressesOf(out)); diff != "" {
				t.Fatalf("turn %d: %s", i, diff)
			}
			out = w.answer(out.Thread, to(want, "respond", fmt.Sprint("answer ", i)))
		}
		if got := w.state(out.Thread)["each"]; got != `[1,"answer 0","answer 1"]` {
			t.Errorf("%s %s", out.Status, got)
		}
	})
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
