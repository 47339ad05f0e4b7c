package engine

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// contractCase is a case of another system's contract, by the name it has there.
type contractCase struct {
	name    string
	instead string // why the outcome here is another; "" where it is the same
	run     func(t *testing.T, w *world)
}

// TestAgentFlow holds the engine to AgentFlow's tests of its engine and to its rules of interrupts, whose hazards must not
// be here. Its tests of stores are in checkpointtest. Its registry of graphs, its queue of runs and its pool of workers
// have no counterpart: what they are for, one runner at a time and taking over from a dead one, leases do.
func TestAgentFlow(t *testing.T) {
	for section, cases := range map[string][]contractCase{
		"engine": agentFlowEngine(), "atomicity": agentFlowAtomicity(), "subgraph": agentFlowSubgraphs(), "hitl": agentFlowInterrupts(), "hazard": agentFlowHazards(),
	} {
		t.Run(section, func(t *testing.T) {
			for _, c := range cases {
				t.Run(c.name, func(t *testing.T) { eachStore(t, c.run) })
			}
		})
	}
}

func agentFlowEngine() []contractCase {
	return []contractCase{
		{"linear", "", func(t *testing.T, w *world) {
			var r ran
			w.start(graph(node("a", noted(&r, passes), "b"), node("b", noted(&r, passes), "c"), node("c", noted(&r, passes))), nil)
			r.was(t, "a@1", "b@1", "c@1")
		}},
		{"loop", "", func(t *testing.T, w *world) {
			if out := w.start(counting(3, 0), nil); out.Status != checkpoint.Done || w.state(out.Thread)["n"] != "3" {
				t.Errorf("%+v, %v", out, w.state(out.Thread))
			}
		}},
		{"fan-out is folded in the order of the graph", "", func(t *testing.T, w *world) {
			first := make(chan struct{})
			late := func(ctx context.Context, c *Call) (Result, error) { <-first; return writes("list", "a")(ctx, c) }
			early := func(ctx context.Context, c *Call) (Result, error) {
				defer close(first)
				return writes("list", "b")(ctx, c)
			}
			g := graph(node("s", passes, "b", "a"), node("a", late), node("b", early))
			g.Channels["list"] = Append
			if got := w.state(w.start(g, nil).Thread)["list"]; got != `["a","b"]` {
				t.Error(got)
			}
		}},
		{"history of two steps is 1, 2", "step 0 holds the input, so that a crash before the first result loses nothing", func(t *testing.T, w *world) {
			out := w.start(graph(node("a", passes, "b"), node("b", passes)), nil)
			if diff := cmp.Diff([]string{"0 input", "1 step a@1:completed", "2 step b@1:completed"}, w.history(out.Thread)); diff != "" {
				t.Error(diff)
			}
		}},
		{"interrupt and resume", "", func(t *testing.T, w *world) {
			var r ran
			asked := w.start(gate(&r, passes), nil)
			if out := w.elsewhere(asked.Thread, say("approve")); out.Status != checkpoint.Done {
				t.Errorf("%+v", out)
			}
			if diff := cmp.Diff([]string{"0 input", "1 step ask@1:waiting", "2 answer ask@1:completed work@1:completed", "3 step last@1:completed"}, w.history(asked.Thread)); diff != "" {
				t.Error(diff)
			}
		}},
		{"step limit", "reaching it is no error that throws the run away: the thread stays where it is and can be carried on", func(t *testing.T, w *world) {
			out := w.start(counting(7, 5), nil)
			if out.Status != checkpoint.Stalled || out.Steps != 5 || out.Error == nil || !strings.Contains(out.Error.Message, "step limit") {
				t.Fatalf("%+v", out)
			}
			if out = w.elsewhere(out.Thread); out.Status != checkpoint.Done || w.state(out.Thread)["n"] != "7" {
				t.Errorf("%+v", out)
			}
		}},
		{"a node without an outgoing edge", "it ends its branch; the loader of files asks for an edge where a route or condition may find none", func(t *testing.T, w *world) {
			if out := w.start(graph(&Node{Name: "a", Kind: "test", Runner: RunnerFunc(passes)}), nil); out.Status != checkpoint.Done {
				t.Errorf("%+v", out)
			}
		}},
		{"undeclared input and update", "which keys there are is for the loader of files to check; the engine refuses only those that are its own", func(t *testing.T, w *world) {
			if out := w.start(graph(node("a", writes("new", 1))), map[string]any{"other": 2}); w.state(out.Thread)["new"] != "1" || w.state(out.Thread)["other"] != "2" {
				t.Errorf("%v", w.state(out.Thread))
			}
			if out := w.start(graph(node("a", writes("@epoch", 1))), nil); out.Status != checkpoint.Failed {
				t.Errorf("%+v", out)
			}
		}},
	}
}

// counting is a loop that adds 1 to n until it is most.
func counting(most, limit int) *Graph {
	loop := node("loop", writes("n", 1))
	loop.When = []Branch{{If: func(s Scope, _ Value) (bool, error) { n, _ := s.Lookup("n"); return n.Any().(int) < most, nil }, Then: []string{"loop"}}}
	g := graph(loop)
	g.Channels["n"], g.StepLimit = Add, limit
	return g
}

func agentFlowAtomicity() []contractCase {
	const kept = "a failure holds back its own branch only: what its siblings did is kept, and they are not run again"
	return []contractCase{
		{"a failing sibling discards the step", kept, func(t *testing.T, w *world) {
			var r ran
			failures := 1
			g := graph(node("s", passes, "bad", "good"), node("bad", noted(&r, stops(&failures, writes("bad", 1)))), node("good", writes("good", 1)))
			out := w.start(g, nil)
			if diff := cmp.Diff(map[string]string{"good": "1"}, w.state(out.Thread)); out.Status != checkpoint.Failed || diff != "" {
				t.Errorf("%s %s", out.Status, diff)
			}
			if out = w.elsewhere(out.Thread); out.Status != checkpoint.Done || w.state(out.Thread)["bad"] != "1" {
				t.Errorf("%+v", out)
			}
			r.was(t, "bad@1", "bad@1")
		}},
		{"a failed step is not checkpointed", "that it failed, and how, is in the checkpoint; nothing it wrote is", func(t *testing.T, w *world) {
			out := w.start(graph(node("bad", func(context.Context, *Call) (Result, error) {
				return Result{Updates: map[string]Value{"x": text("half")}}, errors.New("boom")
			})), nil)
			c, err := w.store.Latest(t.Context(), out.Thread)
			if err != nil || c.Step != 1 || c.Error == nil || c.Error.Message != "boom" || len(w.state(out.Thread)) != 0 || !cmp.Equal(c.Next, []string{"bad"}) {
				t.Errorf("%v, %+v", err, c)
			}
		}},
		{"a whole run that is out of time keeps its last checkpoint, and a resume finishes it", "", func(t *testing.T, w *world) {
			out := timedOutAfterOneStep(t, w)
			if out.Status != checkpoint.Stalled || out.Version.Step != 1 || out.WasCancelled {
				t.Fatalf("%+v", out)
			}
			if out = w.elsewhere(out.Thread); out.Status != checkpoint.Done || w.state(out.Thread)["n"] != "2" {
				t.Errorf("%+v, %v", out, w.state(out.Thread))
			}
		}},
		{"a run that is in time is not hurt by its limit", "", func(t *testing.T, w *world) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			if out, err := w.Start(ctx, w.request(counting(2, 0), nil)); err != nil || out.Status != checkpoint.Done {
				t.Errorf("%v, %+v", err, out)
			}
		}},
	}
}

// timedOutAfterOneStep runs two steps, the second of which is out of time when it is first tried.
func timedOutAfterOneStep(t *testing.T, w *world) *Outcome {
	ctx, expire := context.WithCancelCause(t.Context())
	first := true
	g := graph(node("a", writes("n", 1), "b"), node("b", func(ctx context.Context, c *Call) (Result, error) {
		if first {
			first = false
			expire(context.DeadlineExceeded)
			return Result{}, ctx.Err()
		}
		return writes("n", 1)(ctx, c)
	}))
	g.Channels["n"] = Add
	out, err := w.Start(ctx, w.request(g, nil))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func agentFlowSubgraphs() []contractCase {
	child := func() *Graph {
		g := graph(node("add", writes("n", 1)))
		g.Channels["n"] = Add
		return g
	}
	return []contractCase{
		{"a key passed through is counted twice", "only the output leaves a frame, so nothing the parent gave comes back to be added again", func(t *testing.T, w *world) {
			sub := inside("sub", child(), map[string]any{"n": 10})
			sub.Output = func(_ Scope, v Value) (map[string]Value, error) {
				return map[string]Value{"n": known(v.Any().(map[string]any)["n"])}, nil
			}
			g := graph(sub)
			g.Channels["n"] = Last
			if got := w.state(w.start(g, map[string]any{"n": 10}).Thread)["n"]; got != "11" {
				t.Error(got)
			}
		}},
		{"output map", "", func(t *testing.T, w *world) {
			g := child()
			g.Output = func(s Scope) (Value, error) {
				v, _ := s.Lookup("n")
				return object(map[string]Value{"renamed": v}), nil
			}
			if got := w.state(w.start(graph(inside("sub", g, nil)), nil).Thread)["sub"]; got != `{"renamed":1}` {
				t.Error(got)
			}
		}},
		{"it sees mapped input only", "", func(t *testing.T, w *world) {
			g := graph(node("look", sees("given", "secret")))
			if got := w.state(w.start(graph(inside("sub", g, map[string]any{"given": 1})), map[string]any{"secret": 2}).Thread)["sub"]; got != `{"given":1,"seen":{"given":1}}` {
				t.Error(got)
			}
		}},
		{"it has a thread of its own", "it is a frame of its parent's thread and checkpoint: one resume answers at any depth, and nothing is orphaned", func(t *testing.T, w *world) {
			out := w.start(graph(inside("sub", graph(node("ask", asks(plainQuestion))), nil)), nil)
			page, err := w.store.Threads(t.Context(), checkpoint.Query{})
			if err != nil || len(page.Threads) != 1 || out.Questions[0].Path != "main@1/sub@1/ask@1" {
				t.Errorf("%v, %d threads, %+v", err, len(page.Threads), out.Questions)
			}
		}},
	}
}

func agentFlowInterrupts() []contractCase {
	permission := func() *Graph {
		ask := node("ask", asks(actions.Question{Kind: actions.Choice, Message: "May it?", Options: []actions.OptionItem{{Value: js("allow")}, {Value: js("deny")}}}), "tool")
		ask.When = []Branch{{If: func(_ Scope, v Value) (bool, error) { return v.Any() == "deny", nil }}}
		return graph(ask, node("tool", writes("used", true), "ask2"), node("ask2", asks(plainQuestion)))
	}
	return []contractCase{
		{"permission: allow, deny", "", func(t *testing.T, w *world) {
			for choice, want := range map[string]string{"allow": "true", "deny": ""} {
				if out := w.elsewhere(w.start(permission(), nil).Thread, say("choose", choice)); w.state(out.Thread)["used"] != want {
					t.Errorf("%s: %v", choice, w.state(out.Thread))
				}
			}
		}},
		{"permission: suspend, allow, suspend again, deny", "", func(t *testing.T, w *world) {
			out := w.elsewhere(w.start(permission(), nil).Thread, say("choose", "allow"))
			w.open(out, "ask2")
			if out = w.elsewhere(out.Thread, say("reject", "no")); out.Status != checkpoint.Rejected || w.state(out.Thread)["used"] != "true" {
				t.Errorf("%+v", out)
			}
		}},
		{"a resume value is used once", "", func(t *testing.T, w *world) {
			var r ran
			asked := w.start(graph(agent(&r, asker("q"), "agent")), nil)
			if w.open(w.elsewhere(asked.Thread, say("respond", "once")), "agent.q"); !strings.HasPrefix(r.all()[2], `agent@2 in "once" answers []`) {
				t.Error(r.all())
			}
		}},
		{"none, false, zero and the empty text are answers", "", func(t *testing.T, w *world) {
			for _, data := range []string{"null", "false", "0", `""`, "{}", "[]"} {
				var r ran
				asked := w.start(graph(agent(&r, asker("q"))), nil)
				if out := w.elsewhere(asked.Thread, say("continue", json.RawMessage(data))); out.Status != checkpoint.Done {
					t.Errorf("%s: %+v", data, out)
				}
				if want := `agent@1 in {} answers [q=continue:` + data + `] open [] prior null`; r.all()[1] != want {
					t.Errorf("%s: %s", data, r.all()[1])
				}
			}
		}},
		{"the interrupted step stays in history", "", func(t *testing.T, w *world) {
			var r ran
			asked := w.start(gate(&r, passes), nil)
			w.elsewhere(asked.Thread, say("approve"))
			for _, step := range []int64{1, 2} {
				c, err := w.store.Get(t.Context(), asked.Thread, step)
				if err != nil || c.Interrupted() != (step == 1) {
					t.Errorf("step %d: %v, %+v", step, err, c)
				}
			}
		}},
		{"resume without a thread, of one that ended, without a store", "", func(t *testing.T, w *world) {
			done := w.start(graph(node("a", passes)), nil)
			for thread, want := range map[string]error{"nobody": checkpoint.ErrNotFound, done.Thread: ErrNotWaiting} {
				for _, answers := range [][]Answer{nil, {say("continue")}, {say("stop")}} {
					if _, err := w.Resume(t.Context(), ResumeRequest{Thread: thread, Answers: answers}); !errors.Is(err, want) {
						t.Errorf("%s, %v: %v", thread, answers, err)
					}
				}
			}
			if rows := w.outcomes(done.Thread); len(rows) != 0 {
				t.Errorf("a resume of what had ended left %v", rows)
			}
			if _, err := New(nil, Options{}).Resume(t.Context(), ResumeRequest{Thread: "t"}); !errors.Is(err, ErrNoStore) {
				t.Errorf("without a store: %v", err)
			}
		}},
	}
}

// agentFlowHazards are what its source, and LangGraph's users, show to go wrong.
func agentFlowHazards() []contractCase {
	return []contractCase{
		{"two questions in one node never finish, and the second's answer goes to the first", "", func(t *testing.T, w *world) {
			var r ran
			asked := w.start(graph(node("form", noted(&r, several("one", "two")), "end"), node("end", inputs(&r))), nil)
			w.elsewhere(asked.Thread, to("two", "respond", "2"))
			w.elsewhere(asked.Thread, to("one", "respond", "1"))
			r.was(t, "form@1", `end@1 {"one":"1","two":"2"}`)
		}},
		{"of two nodes that ask in one step one is lost, and they fire again for ever", "", func(t *testing.T, w *world) {
			var r ran
			asked := w.start(graph(node("s", passes, "a", "b", "c"), node("a", noted(&r, asks(plainQuestion))), node("b", noted(&r, asks(plainQuestion))), node("c", writes("c", 1))), nil)
			if w.open(asked, "a", "b"); w.state(asked.Thread)["c"] != "1" {
				t.Error("what their finished sibling did is dropped")
			}
			w.open(w.elsewhere(asked.Thread, to("b", "approve")), "a")
			w.open(w.elsewhere(asked.Thread, say("approve")))
			if len(r.all()) != 2 {
				t.Errorf("ran %v", r.all())
			}
		}},
		{"a question inside a subgraph is swallowed", "", func(t *testing.T, w *world) {
			var r ran
			asked := w.start(graph(inside("sub", graph(node("ask", asks(plainQuestion))), nil, "after"), node("after", noted(&r, passes))), nil)
			w.open(asked, "sub/ask")
			r.was(t)
			w.open(w.elsewhere(asked.Thread, say("approve")))
			r.was(t, "after@1")
		}},
		{"of a failure and a question in one step one is lost", "", func(t *testing.T, w *world) {
			for _, first := range []string{"bad", "ask"} {
				failures := 1
				nodes := []*Node{node("s", passes, "bad", "ask"), node("bad", stops(&failures, writes("bad", 1))), node("ask", asks(plainQuestion))}
				if first == "ask" {
					nodes[1], nodes[2] = nodes[2], nodes[1]
				}
				out := w.start(graph(nodes...), nil)
				if w.open(out, "ask"); out.Status != checkpoint.Interrupted || out.Error == nil || out.Error.Node != "bad" {
					t.Errorf("%s first: %s, %+v", first, out.Status, out.Error)
				}
				if out = w.elsewhere(out.Thread, say("approve")); out.Status != checkpoint.Failed {
					t.Errorf("%s first: answered, %s", first, out.Status)
				}
				if out = w.elsewhere(out.Thread); out.Status != checkpoint.Done || w.state(out.Thread)["bad"] != "1" {
					t.Errorf("%s first: carried on, %+v", first, out)
				}
			}
		}},
		{"of two concurrent resumes both write", "", testRacingResumesHaveOneWinner},
		{"starting a thread that exists overwrites its steps", "", func(t *testing.T, w *world) {
			var r ran
			asked := w.start(gate(&r, passes), nil)
			before := w.history(asked.Thread)
			request := w.request(graph(node("other", passes)), nil)
			request.Thread = asked.Thread
			if _, err := w.Start(t.Context(), request); !errors.Is(err, checkpoint.ErrConflict) {
				t.Errorf("%v", err)
			}
			if diff := cmp.Diff(before, w.history(asked.Thread)); diff != "" {
				t.Error(diff)
			}
		}},
		{"a payload that is no JSON fails when it is stored, and the suspension with it", "the run fails, and says which question; the thread is kept", func(t *testing.T, w *world) {
			out := w.start(graph(node("ask", func(context.Context, *Call) (Result, error) {
				return Result{Interrupts: []Ask{{Key: "q", Payload: json.RawMessage("{1, 2}")}}}, nil
			})), nil)
			if w.open(out); out.Status != checkpoint.Failed || !strings.Contains(out.Error.Message, `"q" is not JSON`) {
				t.Errorf("%+v", out)
			}
		}},
		{"a crash before the first commit leaves nothing to resume", "step 0 is committed before anything runs", func(t *testing.T, w *world) {
			request := w.request(graph(node("a", writes("a", 1))), map[string]any{"in": 1})
			request.Thread = "thread-first"
			dying := w.crashAt("before_commit", 1)
			if lives(func() { dying.Start(context.Background(), request) }) {
				t.Fatal("it did not crash")
			}
			w.clock.advance(time.Minute)
			w.elsewhere(request.Thread)
			if diff := cmp.Diff(map[string]string{"a": "1", "in": "1"}, w.state(request.Thread)); diff != "" {
				t.Error(diff)
			}
		}},
		{"an answer that names none of several goes to the first, or to all", "", func(t *testing.T, w *world) {
			asked := w.start(graph(node("s", passes, "a", "b"), node("a", asks(plainQuestion)), node("b", asks(plainQuestion))), nil)
			if _, err := w.Resume(t.Context(), ResumeRequest{Thread: asked.Thread, Answers: []Answer{say("approve")}}); !errors.Is(err, ErrWhichQuestion) {
				t.Errorf("%v", err)
			}
		}},
		{"resuming at an old checkpoint silently takes the old answer", "", func(t *testing.T, w *world) {
			asked := w.start(graph(node("one", asks(plainQuestion), "two"), node("two", asks(plainQuestion), "three"), node("three", asks(plainQuestion))), nil)
			w.elsewhere(asked.Thread, say("respond", "first"))
			_, err := w.Resume(t.Context(), ResumeRequest{Thread: asked.Thread, Answers: []Answer{say("respond", "again")}, IfVersion: &asked.Version})
			if !errors.Is(err, checkpoint.ErrConflict) {
				t.Errorf("%v", err)
			}
			now, err := w.Open(t.Context(), asked.Thread)
			if err != nil || len(now.Questions) != 1 || now.Questions[0].Address != "two" {
				t.Errorf("%v, %+v", err, now)
			}
		}},
	}
}
