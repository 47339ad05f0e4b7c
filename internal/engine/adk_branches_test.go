package engine

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// adkBranches is section C: parallel branches and joins.
func adkBranches() []adkCase {
	return []adkCase{
		{[]int{36}, "a slow branch completes while another waits", "", func(t *testing.T, w *world) {
			asked := make(chan struct{})
			a := node("a", func(context.Context, *Call) (Result, error) {
				defer close(asked)
				return Result{Interrupts: keyed("q")}, nil
			})
			slow := node("b", func(ctx context.Context, c *Call) (Result, error) { <-asked; return writes("b", 1)(ctx, c) }, "c")
			out := w.start(graph(node("s", passes, "a", "b"), a, slow, node("c", writes("c", 1))), nil)
			if w.open(out, "a.q"); w.state(out.Thread)["b"] != "1" || w.state(out.Thread)["c"] != "1" {
				t.Errorf("%s, %v", out.Status, w.state(out.Thread))
			}
		}},
		{[]int{37}, "what was done before the pause counts for the join, and is not run again", "", func(t *testing.T, w *world) {
			var r ran
			g := graph(node("s", passes, "a", "b"), node("a", noted(&r, gives("A")), "join"), node("b", asks(plainQuestion), "join"),
				node("join", inputs(&r), "d"), node("d", inputs(&r)))
			g.Nodes[3].Join = JoinAll
			asked := w.start(g, nil)
			r.was(t, "a@1")
			w.elsewhere(asked.Thread, say("respond", "B"))
			r.was(t, "a@1", `join@1 {"a":"A","b":"B"}`, `d@1 "join"`)
		}},
		{[]int{38}, "a join of two askers fires with the second answer, plain or of programs", "", func(t *testing.T, w *world) {
			for _, program := range []bool{false, true} {
				var r ran
				a, b := node("a", asks(plainQuestion), "join"), node("b", asks(plainQuestion), "join")
				if program {
					a, b = rerun(node("a", asker(""), "join")), rerun(node("b", asker(""), "join"))
				}
				g := graph(node("s", passes, "a", "b"), a, b, node("join", inputs(&r)))
				g.Nodes[3].Join = JoinAll
				asked := w.start(g, nil)
				w.open(w.elsewhere(asked.Thread, to("b", "respond", "B")), "a")
				r.was(t)
				w.elsewhere(asked.Thread, say("respond", "A"))
				r.was(t, `join@1 {"a":"A","b":"B"}`)
			}
		}},
		{[]int{39}, "a join is judged after the last answer of a call", "", func(t *testing.T, w *world) {
			var r ran
			g := graph(node("split", passes, "a", "b"), node("a", asks(plainQuestion), "join"), node("b", asks(plainQuestion), "join"), node("join", inputs(&r)))
			g.Nodes[3].Join = JoinAll
			asked := w.start(g, nil)
			if out := w.answer(asked.Thread, to("b", "respond", "B"), to("a", "respond", "A")); out.Status != checkpoint.Done {
				t.Fatalf("%+v", out)
			}
			r.was(t, `join@1 {"a":"A","b":"B"}`)
		}},
		{[]int{40}, "in a loop the second join is @2 and waits for new arrivals", "", adkLoopWithAJoin},
		{[]int{41}, "two triggers of one asking node give one question at a time", "", func(t *testing.T, w *world) {
			var r ran
			out := w.start(graph(node("s", passes, "a", "b"), node("a", gives("a"), "ask"), node("b", gives("b"), "ask"),
				node("ask", asks(plainQuestion), "end"), node("end", inputs(&r))), nil)
			for i := range 2 {
				if w.open(out, "ask"); out.Questions[0].Path != fmt.Sprintf("main@1/ask@%d", i+1) {
					t.Fatalf("%d: %+v", i, out.Questions)
				}
				out = w.elsewhere(out.Thread, say("respond", fmt.Sprint("answer ", i+1)))
			}
			r.was(t, `end@1 "answer 1"`, `end@2 "answer 2"`)
		}},
		{[]int{42}, "a waiting run holds no slot; buffered triggers lead to the next questions in a fixed order",
			"the order is that of the graph, in which every step takes its runs: the same whichever trigger came first", func(t *testing.T, w *world) {
				var r ran
				ask := func(name string) *Node {
					return node(name, func(ctx context.Context, c *Call) (Result, error) {
						inputs(&r)(ctx, c)
						return Result{Interrupts: []Ask{{Payload: js(plainQuestion)}}}, nil
					})
				}
				g := graph(node("s", passes, "a", "b", "c"), node("a", gives("a"), "y", "x"), node("b", gives("b"), "x", "y"), node("c", writes("c", 1)), ask("x"), ask("y"))
				g.MaxConcurrency = 1
				out := w.start(g, nil)
				if w.open(out, "x", "y"); w.state(out.Thread)["c"] != "1" {
					t.Errorf("%v", w.state(out.Thread))
				}
				out = w.elsewhere(out.Thread, to("y", "respond", "Y"), to("x", "respond", "X"))
				w.open(out, "x", "y")
				r.was(t, `x@1 "a"`, `y@1 "a"`, `x@2 "b"`, `y@2 "b"`)
			}},
		{[]int{43}, "of two predecessors that both completed, the target runs again with the one it began with", "", func(t *testing.T, w *world) {
			var r ran
			asked := w.start(graph(node("s", passes, "a", "b"), node("a", noted(&r, gives("a")), "agent"), node("b", noted(&r, gives("b")), "agent"), agent(&r, asker("q"))), nil)
			out := w.elsewhere(asked.Thread, say("respond", "1"))
			if calls := r.all(); len(calls) != 5 {
				t.Fatalf("%v", calls)
			}
			if diff := cmp.Diff([]string{`agent@1 in "a" answers [] open [] prior null`, `agent@1 in "a" answers [q=respond:"1"] open [] prior null`,
				`agent@2 in "b" answers [] open [] prior null`}, r.all()[2:]); diff != "" || out.Questions[0].Path != "main@1/agent@2" {
				t.Error(diff)
			}
		}},
		{[]int{44}, "each of three successors gets the answer", "", func(t *testing.T, w *world) {
			got := map[string]string{}
			asked := w.start(graph(node("ask", asks(plainQuestion), "a", "b", "c"), keepsInput("a"), keepsInput("b"), keepsInput("c")), nil)
			w.elsewhere(asked.Thread, say("respond", "x"))
			for key, v := range w.state(asked.Thread) {
				got[key] = v
			}
			if diff := cmp.Diff(map[string]string{"a": `"x"`, "b": `"x"`, "c": `"x"`}, got); diff != "" {
				t.Error(diff)
			}
		}},
		{[]int{45}, "who won a race before the pause has won it afterwards, and no racer runs again", "", func(t *testing.T, w *world) {
			var r ran
			asked := w.start(graph(node("s", passes, "a", "b"), node("a", noted(&r, gives("slow")), "a2"), node("a2", noted(&r, gives("slow")), "agent"),
				node("b", noted(&r, gives("quick")), "agent"), agent(&r, asker("q"))), nil)
			before := len(r.all())
			w.elsewhere(asked.Thread, say("respond", "yes"))
			if diff := cmp.Diff([]string{`agent@1 in "quick" answers [q=respond:"yes"] open [] prior null`, `agent@2 in "slow" answers [] open [] prior null`}, r.all()[before:]); diff != "" || before != 4 {
				t.Error(before, diff)
			}
		}},
	}
}

// keepsInput is a node that stores its input under its own name.
func keepsInput(name string) *Node {
	return node(name, func(_ context.Context, c *Call) (Result, error) {
		return Result{Updates: map[string]Value{name: c.Input}}, nil
	})
}

func adkLoopWithAJoin(t *testing.T, w *world) {
	var r ran
	join := node("join", inputs(&r))
	join.Join = JoinAll
	join.When = []Branch{{If: func(s Scope, _ Value) (bool, error) {
		n, _ := s.Lookup("n")
		return n.Any().(int) < 2, nil
	}, Then: []string{"split"}}}
	g := graph(node("split", writes("n", 1), "a", "b"), node("a", gives("a"), "join"), node("b", asks(plainQuestion), "join"), join)
	g.Channels["n"] = Add
	out := w.start(g, nil)
	out = w.elsewhere(out.Thread, say("respond", "b1"))
	r.was(t, `join@1 {"a":"a","b":"b1"}`) // a has come again, b has not
	if out = w.elsewhere(out.Thread, say("respond", "b2")); out.Status != checkpoint.Done {
		t.Fatalf("%+v", out)
	}
	r.was(t, `join@1 {"a":"a","b":"b1"}`, `join@2 {"a":"a","b":"b2"}`)
}

// adkRoutes is section D.
func adkRoutes() []adkCase {
	// router sets a route, with output v or without.
	router := func(v Value) *Node {
		n := node("router", func(context.Context, *Call) (Result, error) { return Result{Route: "left", Output: v}, nil })
		n.Routes = map[string][]string{"left": {"agent"}, "right": {"wrong"}}
		return n
	}
	routed := func(v Value, input string) func(*testing.T, *world) {
		return func(t *testing.T, w *world) {
			var r ran
			asked := w.start(graph(router(v), agent(&r, asker("q"), "end"), node("end", inputs(&r)), node("wrong", noted(&r, passes))), nil)
			w.elsewhere(asked.Thread, say("respond", "go"))
			r.was(t, `agent@1 in `+input+` answers [] open [] prior null`, `agent@1 in `+input+` answers [q=respond:"go"] open [] prior null`, `end@1 "go"`)
		}
	}
	return []adkCase{
		{[]int{46}, "a route without an output leads to a node that asks, and its answer goes on", "", routed(Value{}, "null")},
		{[]int{47}, "a route with an output does so too, and the output is the input", "", routed(text("out"), `"out"`)},
		{[]int{48}, "a route that a plain node set before it asked is followed once it is answered", "", func(t *testing.T, w *world) {
			var r ran
			ask := node("ask", func(context.Context, *Call) (Result, error) {
				return Result{Route: "up", Interrupts: []Ask{{Payload: js(plainQuestion)}}}, nil
			}, "down")
			ask.Routes = map[string][]string{"up": {"upstairs"}}
			asked := w.start(graph(ask, node("upstairs", inputs(&r)), node("down", inputs(&r))), nil)
			w.elsewhere(asked.Thread, say("respond", "go"))
			r.was(t, `upstairs@1 "go"`)
		}},
		{[]int{49}, "a node that gives nothing but a route has completed", "", func(t *testing.T, w *world) {
			var r ran
			g := graph(router(Value{}), node("agent", inputs(&r)), node("wrong", inputs(&r)))
			if out := w.start(g, nil); out.Status != checkpoint.Done {
				t.Errorf("%+v", out)
			}
			r.was(t, `agent@1 null`)
		}},
	}
}
