package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// inside is a node that runs a graph as a nested workflow.
func inside(name string, g *Graph, in map[string]any, then ...string) *Node {
	values := map[string]Value{}
	for key, v := range in {
		values[key], _ = ValueOf(v)
	}
	return &Node{
		Name: name, Kind: "workflow", Then: then, HasThen: true, Output: keeps(name),
		Sub: &SubGraph{Graph: g, In: func(Scope) (map[string]Value, error) { return values, nil }},
	}
}

// each is a node that runs a graph for each item of a state key.
func each(name, items string, g *Graph, then ...string) *Node {
	return &Node{
		Name: name, Kind: "map", Then: then, HasThen: true, Output: keeps(name),
		Map: &MapSpec{Body: g, Items: func(s Scope) (Value, error) { v, _ := s.Lookup(items); return v, nil }},
	}
}

// sees gives what a name is in its scope.
func sees(names ...string) RunnerFunc {
	return func(_ context.Context, c *Call) (Result, error) {
		seen := map[string]Value{}
		for _, name := range names {
			if v, ok := c.Scope.Lookup(name); ok {
				seen[name] = v
			}
		}
		return Result{Output: object(seen), Updates: map[string]Value{"seen": object(seen)}}, nil
	}
}

// stops is a program that fails until its number of failures is used up.
func stops(failures *int, then RunnerFunc) RunnerFunc {
	return func(ctx context.Context, c *Call) (Result, error) {
		if *failures > 0 {
			*failures--
			return Result{}, errors.New("no luck")
		}
		return then(ctx, c)
	}
}

func TestNestedWorkflowSeesItsInputAndGivesItsOutput(t *testing.T) {
	eachStore(t, func(t *testing.T, w *world) {
		child := graph(node("look", sees("given", "secret")))
		child.Output = func(s Scope) (Value, error) { v, _ := s.Lookup("seen"); return v, nil }
		g := graph(node("write", writes("secret", 1), "sub"), inside("sub", child, map[string]any{"given": 7}))
		out := w.start(g, nil)
		want := map[string]string{"secret": "1", "sub": `{"given":7}`}
		if diff := cmp.Diff(want, w.state(out.Thread)); out.Status != checkpoint.Done || diff != "" {
			t.Fatalf("%s %v: -want +got\n%s", out.Status, out.Error, diff)
		}
		c, err := w.store.Latest(t.Context(), out.Thread)
		if err != nil {
			t.Fatal(err)
		}
		for name := range c.Channels {
			if strings.Contains(name, "sub@1") {
				t.Errorf("the finished frame left %s", name)
			}
		}
	})
}

func TestQuestionAtDepthIsAnsweredFromOutside(t *testing.T) {
	eachStore(t, func(t *testing.T, w *world) {
		inner := graph(node("draft", writes("draft", "text"), "review"), node("review", asks(actions.Question{Kind: actions.Approval, Message: "ok?", ContentKey: "draft", Actions: []actions.Action{"approve", "edit", "retry", "reject"}})))
		g := graph(inside("outer", graph(inside("inner", inner, nil)), nil, "last"), node("last", writes("last", true)))
		out := w.start(g, nil)
		q := out.Questions[0]
		if q.Address != "outer/inner/review" || q.Path != "main@1/outer@1/inner@1/review@1" || string(q.Question.Content) != `"text"` {
			t.Fatalf("question %+v", q)
		}
		out = w.answer(out.Thread, to("outer/inner/review", actions.Edit, "better"))
		want := map[string]string{"last": "true", "outer": `{"inner":{"draft":"better"}}`}
		if diff := cmp.Diff(want, w.state(out.Thread)); out.Status != checkpoint.Done || diff != "" {
			t.Fatalf("%s: -want +got\n%s", out.Status, diff)
		}
	})
}

func TestMapKeepsOrderAndRunsFinishedItemsNeverAgain(t *testing.T) {
	eachStore(t, func(t *testing.T, w *world) {
		var r ran
		body := graph(node("check", noted(&r, sees("item", "index", "limit")), "decide"), &Node{Name: "decide", Kind: "human", Runner: asks(plainQuestion), Output: keeps("verdict")})
		g := graph(each("each", "list", body, "sum"), node("sum", passes))
		out := w.start(g, map[string]any{"list": []any{"a", "b", "c"}, "limit": 5})
		if got := addressesOf(out); !slices.Equal(got, []string{"each/0/decide", "each/1/decide", "each/2/decide"}) {
			t.Fatalf("questions %v", got)
		}
		out = w.answer(out.Thread, to("each/2/decide", actions.Approve))
		out = w.answer(out.Thread, to("each/0/decide", actions.Reject), to("each/1/decide", actions.Respond, "x"))
		want := `[{"seen":{"index":0,"item":"a","limit":5}},` +
			`{"seen":{"index":1,"item":"b","limit":5},"verdict":"x"},` +
			`{"seen":{"index":2,"item":"c","limit":5},"verdict":true}]`
		if got := w.state(out.Thread)["each"]; out.Status != checkpoint.Done || got != want {
			t.Fatalf("%s: %s", out.Status, got)
		}
		if got := r.all(); len(got) != 3 || !slices.Contains(got, "each@1/[1]/check@1") {
			t.Errorf("ran %v", got)
		}
	})
}

func TestEmptyMapAndNoList(t *testing.T) {
	w := newWorld(t)
	g := graph(each("each", "list", graph(node("n", passes))))
	if out := w.start(g, map[string]any{"list": []any{}}); out.Status != checkpoint.Done || w.state(out.Thread)["each"] != "[]" {
		t.Errorf("an empty list: %s %s", out.Status, w.state(out.Thread)["each"])
	}
	for _, bad := range []any{nil, map[string]any{"a": 1}, "text"} {
		out := w.start(g, map[string]any{"list": bad})
		if out.Status != checkpoint.Failed || !strings.Contains(out.Error.Message, "a map needs a list") {
			t.Errorf("%v: %s %v", bad, out.Status, out.Error)
		}
	}
}

func TestMapStartsFurtherItemsWhileOthersWait(t *testing.T) {
	for _, test := range []struct{ parallel, waiting, open int }{{1, 0, 5}, {2, 1, 2}, {1, 3, 3}, {1, 1, 1}} {
		t.Run(fmt.Sprint(test), func(t *testing.T) {
			w := newWorld(t)
			n := each("each", "list", graph(node("ask", asks(plainQuestion))))
			n.Map.MaxParallel, n.Map.MaxWaiting = test.parallel, test.waiting
			out := w.start(graph(n), map[string]any{"list": []any{1, 2, 3, 4, 5}})
			if len(out.Questions) != test.open {
				t.Fatalf("%d questions are open, want %d", len(out.Questions), test.open)
			}
			for len(out.Questions) > 0 {
				out = w.answer(out.Thread, to(out.Questions[0].ID, actions.Approve))
			}
			if out.Status != checkpoint.Done {
				t.Errorf("%s", out.Status)
			}
		})
	}
}

func TestMapSeesTheStateAsItWasWhenItBegan(t *testing.T) {
	eachStore(t, func(t *testing.T, w *world) {
		body := graph(node("ask", asks(plainQuestion), "look"), node("look", sees("shared")))
		g := graph(node("first", passes, "each", "other"), each("each", "list", body), node("other", writes("shared", "new")))
		out := w.start(g, map[string]any{"list": []any{1}, "shared": "old"})
		if got := w.state(out.Thread)["shared"]; got != `"new"` {
			t.Fatalf("shared is %s", got)
		}
		out = w.answer(out.Thread, say(actions.Approve))
		if got := w.state(out.Thread)["each"]; got != `[{"seen":{"shared":"old"}}]` {
			t.Errorf("the item saw %s", got)
		}
	})
}

func TestEndsTravelUp(t *testing.T) {
	review := func() *Node { return &Node{Name: "review", Kind: "human", Runner: asks(plainQuestion)} }
	caught := func() *Graph {
		outer := inside("outer", graph(inside("inner", graph(review()), nil)), nil, "on")
		outer.Failure, outer.HasFailure = []string{"caught"}, true
		return graph(outer, node("on", writes("on", 1)), node("caught", writes("caught", 1)))
	}
	for name, test := range map[string]struct {
		graph  *Graph
		action actions.Action
		status checkpoint.Status
		state  string
		lead   Lead
	}{
		"reject to the root":   {graph(inside("outer", graph(inside("inner", graph(review()), nil)), nil)), "reject", "rejected", "", Lead{Ends: "rejected"}},
		"cancel to the root":   {graph(inside("outer", graph(review()), nil)), "cancel", "cancelled", "", Lead{Ends: "cancelled"}},
		"reject, caught above": {caught(), "reject", "done", "caught", Lead{To: []string{"caught"}}},
		"cancel, caught above": {caught(), "cancel", "done", "caught", Lead{To: []string{"caught"}}},
		"stop is never caught": {caught(), "stop", "stopped", "", Lead{Ends: "stopped"}},
		"an end goes on":       {caught(), "approve", "done", "on", Lead{Ends: "done", Frame: "outer/inner"}},
		"a rejected item ends": {graph(each("each", "list", graph(review()))), "reject", "done", "each", Lead{Ends: "rejected", Frame: "each/0"}},
		"a stopped item":       {graph(each("each", "list", graph(review()))), "stop", "stopped", "", Lead{Ends: "stopped"}},
		"an item of workflows": {graph(each("each", "list", graph(inside("inner", graph(review()), nil)))), "cancel", "done", "each", Lead{Ends: "cancelled", Frame: "each/0"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			out := w.start(test.graph, map[string]any{"list": []any{1}})
			lead := out.Questions[0].Leads[test.action]
			out = w.answer(out.Thread, say(test.action))
			if out.Status != test.status || len(out.Questions) > 0 {
				t.Fatalf("%s with %v, want %s", out.Status, addressesOf(out), test.status)
			}
			if _, ok := w.state(out.Thread)[test.state]; test.state != "" && !ok {
				t.Errorf("state %v, want %s in it", w.state(out.Thread), test.state)
			}
			if diff := cmp.Diff(test.lead, lead); diff != "" {
				t.Errorf("the lead -want +got\n%s", diff)
			}
		})
	}
}

func TestFailingItemFailsTheMap(t *testing.T) {
	w := newWorld(t)
	var r ran
	body := graph(node("work", noted(&r, func(_ context.Context, c *Call) (Result, error) {
		item, _ := c.Scope.Lookup("item")
		if item.Any().(int) > 1 {
			return Result{}, fmt.Errorf("item %v is bad", item.Any())
		}
		return Result{}, nil
	}), "more"), node("more", noted(&r, passes), "ask"), node("ask", asks(plainQuestion)))
	n := each("each", "list", body)
	n.Map.MaxParallel = 3
	n.Failure, n.HasFailure = []string{"caught"}, true
	out := w.start(graph(n, node("caught", sees("errors"))), map[string]any{"list": []any{1, 2, 3, 4}})
	if out.Status != checkpoint.Done || len(out.Questions) != 0 {
		t.Fatalf("%s %v", out.Status, addressesOf(out))
	}
	if got := w.state(out.Thread)["seen"]; !strings.Contains(got, "[1]/work@1: item 2 is bad") {
		t.Errorf("the lowest index is not reported: %s", got)
	}
	if got := r.all(); !slices.Contains(got, "each@1/[0]/more@1") || slices.Contains(got, "each@1/[3]/work@1") {
		t.Errorf("running items finish and none begins: %v", got)
	}
}

func TestFailureThatNobodyCatchesIsTriedAgainAlone(t *testing.T) {
	eachStore(t, func(t *testing.T, w *world) {
		var r ran
		failures := 1
		body := graph(node("work", noted(&r, func(ctx context.Context, c *Call) (Result, error) {
			if item, _ := c.Scope.Lookup("item"); item.Any() == "b" {
				return stops(&failures, passes)(ctx, c)
			}
			return Result{}, nil
		})))
		n := each("each", "list", body)
		n.Map.MaxParallel = 1
		out := w.start(graph(inside("sub", graph(n), map[string]any{"list": []any{"a", "b", "c"}})), nil)
		if out.Status != checkpoint.Failed || out.Error.Path != "main@1/sub@1/each@1/[1]/work@1" {
			t.Fatalf("%s %+v", out.Status, out.Error)
		}
		if c, _ := w.store.Latest(t.Context(), out.Thread); !slices.Equal(c.Next, []string{"sub/each/1/work"}) {
			t.Errorf("next is %v", c.Next)
		}
		out = w.answer(out.Thread)
		if out.Status != checkpoint.Done {
			t.Fatalf("%s %+v", out.Status, out.Error)
		}
		want := []string{"sub@1/each@1/[0]/work@1", "sub@1/each@1/[1]/work@1", "sub@1/each@1/[1]/work@1", "sub@1/each@1/[2]/work@1"}
		if diff := cmp.Diff(want, r.all()); diff != "" {
			t.Errorf("ran -want +got\n%s", diff)
		}
	})
}

func TestFailingResultAndOutputAreTriedAgainWithoutAskingTwice(t *testing.T) {
	for _, action := range []actions.Action{actions.Approve, actions.Reject} {
		w := newWorld(t)
		broken := true
		n := each("each", "list", graph(node("ask", asks(plainQuestion))))
		n.Map.Result = func(s Scope) (Value, error) {
			if broken {
				return Value{}, errors.New("no result")
			}
			v, _ := s.Lookup("item")
			return v, nil
		}
		out := w.start(graph(n), map[string]any{"list": []any{"a"}})
		out = w.answer(out.Thread, say(action))
		if out.Status != checkpoint.Failed || out.Error.Message != "no result" {
			t.Fatalf("%s: %s %+v", action, out.Status, out.Error)
		}
		broken = false
		out = w.answer(out.Thread)
		if out.Status != checkpoint.Done || w.state(out.Thread)["each"] != `["a"]` {
			t.Errorf("%s: %s %v", action, out.Status, w.state(out.Thread))
		}
	}
}

func TestJoinsAndRetriesStayInTheirFrame(t *testing.T) {
	w := newWorld(t)
	join := node("join", writes("joined", 1))
	join.Join = JoinAll
	review := &Node{Name: "review", Kind: "human", Runner: asks(plainQuestion), Routes: map[string][]string{"retry": {"draft"}}, Then: []string{"join"}, HasThen: true}
	child := graph(node("fan", passes, "draft", "other"), node("draft", passes, "review"), review, node("other", passes, "join"), join)
	g := graph(inside("sub", child, nil))
	out := w.start(g, nil)
	out = w.answer(out.Thread, Answer{Action: "retry", Data: js(map[string]any{"comment": "again"})})
	q := out.Questions[0]
	if q.Path != "main@1/sub@1/review@2" || q.Round != 2 || q.Previous == nil {
		t.Fatalf("%+v", q.Interrupt)
	}
	if out = w.answer(out.Thread, say(actions.Approve)); out.Status != checkpoint.Done || w.state(out.Thread)["sub"] != `{"joined":1}` {
		t.Errorf("%s %v", out.Status, w.state(out.Thread))
	}
}

func TestRetryAroundANestWithdrawsAndLinksItsQuestions(t *testing.T) {
	w := newWorld(t)
	gate := &Node{Name: "gate", Kind: "human", Runner: asks(plainQuestion), Routes: map[string][]string{"retry": {"first"}}}
	g := graph(node("first", passes, "sub", "gate"), inside("sub", graph(node("ask", asks(plainQuestion))), nil), gate)
	out := w.start(g, nil)
	out = w.answer(out.Thread, to("gate", actions.Retry))
	var rounds []string
	for _, q := range out.Questions {
		rounds = append(rounds, fmt.Sprintf("%s %d", q.Path, q.Round))
	}
	slices.Sort(rounds)
	if diff := cmp.Diff([]string{"main@1/gate@2 2", "main@1/sub@2/ask@1 2"}, rounds); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestMapOverAWorkflowOfItsOwn(t *testing.T) {
	w := newWorld(t)
	child := graph(node("look", sees("n", "list")))
	n := each("each", "list", child)
	n.Map.In = func(s Scope) (map[string]Value, error) {
		v, _ := s.Lookup("item")
		return map[string]Value{"n": v}, nil
	}
	n.Map.Result = func(s Scope) (Value, error) {
		index, _ := s.Lookup("index")
		output, _ := s.Lookup("output")
		return object(map[string]Value{"i": index, "o": output}), nil
	}
	out := w.start(graph(n), map[string]any{"list": []any{7}})
	if got := w.state(out.Thread)["each"]; got != `[{"i":0,"o":{"n":7,"seen":{"n":7}}}]` {
		t.Errorf("%s %v: %s", out.Status, out.Error, got)
	}
}

func TestTimersAndDeadlinesInFrames(t *testing.T) {
	w := newWorld(t)
	nap := func(_ context.Context, c *Call) (Result, error) { return Result{WakeAt: c.Now().Add(time.Hour)}, nil }
	q := actions.Question{Kind: actions.Approval, Message: "ok?", TimeoutMS: time.Hour.Milliseconds() / 2, DefaultAction: actions.Reject}
	g := graph(each("each", "list", graph(node("nap", nap, "ask"), node("ask", asks(q)))))
	out := w.start(g, map[string]any{"list": []any{1, 2}})
	if out.Status != checkpoint.Sleeping {
		t.Fatal(out.Status)
	}
	w.clock.advance(time.Hour)
	if _, err := w.Sweep(t.Context(), false, nil); err != nil {
		t.Fatal(err)
	}
	if out, _ = w.Open(t.Context(), out.Thread); len(out.Questions) != 2 {
		t.Fatalf("%s %v", out.Status, addressesOf(out))
	}
	w.clock.advance(time.Hour)
	if _, err := w.Sweep(t.Context(), false, nil); err != nil {
		t.Fatal(err)
	}
	if out, _ = w.Open(t.Context(), out.Thread); out.Status != checkpoint.Done {
		t.Errorf("%s %v", out.Status, addressesOf(out))
	}
}

func TestForkAndUpgradeAtDepth(t *testing.T) {
	w := newWorld(t)
	asking := func(kind string) *Graph {
		ask := &Node{Name: "ask", Kind: kind, Runner: asks(plainQuestion)}
		return graph(inside("sub", graph(each("each", "list", graph(ask))), map[string]any{"list": []any{1, 2}}))
	}
	out := w.start(asking("human"), nil)
	fork, err := w.Fork(t.Context(), out.Thread, out.Version.Step, "fork", "ana")
	if err != nil || len(fork.Questions) != 2 || fork.Questions[0].ID == out.Questions[0].ID {
		t.Fatalf("%v %+v", err, fork)
	}
	same, other := w.shelf.put(asking("human")), w.shelf.put(asking("robot"))
	if _, err := w.Resume(t.Context(), ResumeRequest{Thread: "fork", Upgrade: &other}); !errors.Is(err, ErrWorkflowChanged) {
		t.Errorf("upgrade to another kind: %v", err)
	}
	answers := []Answer{to("sub/each/0/ask", actions.Approve), to("sub/each/1/ask", actions.Approve)}
	done, err := w.Resume(t.Context(), ResumeRequest{Thread: "fork", Upgrade: &same, Answers: answers})
	if err != nil || done.Status != checkpoint.Done {
		t.Fatalf("%v %+v", err, done)
	}
	if old, _ := w.Open(t.Context(), out.Thread); len(old.Questions) != 2 {
		t.Errorf("the old thread has %v", addressesOf(old))
	}
}

func TestGraphThatContainsItself(t *testing.T) {
	g := graph(node("n", passes))
	g.Nodes = append(g.Nodes, inside("sub", g, nil))
	g.Nodes[0].Then = []string{"sub"}
	if err := g.Check(); err == nil || !strings.Contains(err.Error(), "contains itself") {
		t.Errorf("got %v", err)
	}
}

func TestStepLimitEndsALoopAtDepth(t *testing.T) {
	w := newWorld(t)
	child := graph(node("a", passes, "b"), node("b", passes, "a"))
	g := graph(inside("sub", child, nil))
	g.StepLimit = 20
	out := w.start(g, nil)
	if out.Status != checkpoint.Stalled || out.Error == nil || !strings.Contains(out.Error.Message, "step limit") || out.Steps != 20 {
		t.Errorf("%s after %d: %v", out.Status, out.Steps, out.Error)
	}
}

func TestNestedWorkflowLimitsItsRuns(t *testing.T) { synctest.Test(t, limitsItsRuns) }

func limitsItsRuns(t *testing.T) {
	w := newWorld(t)
	var mu sync.Mutex
	now, most := 0, 0
	count := func(by int) {
		mu.Lock()
		defer mu.Unlock()
		now += by
		most = max(most, now)
	}
	child := graph(node("fan", passes, "a", "b", "c", "d"))
	child.MaxConcurrency = 2
	for _, name := range []string{"a", "b", "c", "d"} {
		child.Nodes = append(child.Nodes, node(name, func(context.Context, *Call) (Result, error) {
			count(1)
			defer count(-1)
			time.Sleep(time.Second) // of virtual time: all that may run are at it together
			return Result{}, nil
		}))
	}
	g := graph(inside("sub", child, nil))
	g.MaxConcurrency = 4
	if out := w.start(g, nil); out.Status != checkpoint.Done || most != 2 {
		t.Errorf("%s, %d at a time", out.Status, most)
	}
}

// TestWhatWaitsForItsWorkflowTakesNoPlace: a workflow that runs its nodes one by one does not keep another from running
// beside it.
func TestWhatWaitsForItsWorkflowTakesNoPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		took := map[string]time.Duration{}
		var mu sync.Mutex
		slow := func(_ context.Context, c *Call) (Result, error) {
			time.Sleep(time.Second)
			mu.Lock()
			defer mu.Unlock()
			took[c.Node] = time.Since(began)
			return Result{}, nil
		}
		narrow := graph(node("a", slow), node("b", slow), node("c", slow))
		narrow.Start, narrow.MaxConcurrency = []string{"a", "b", "c"}, 1
		first, second := inside("first", narrow, nil), inside("second", graph(node("x", slow)), nil)
		g := graph(first, second)
		g.Start, g.MaxConcurrency = []string{"first", "second"}, 2
		if out := newWorld(t).start(g, nil); out.Status != checkpoint.Done || took["x"] != time.Second || max(took["a"], took["b"], took["c"]) != 3*time.Second {
			t.Errorf("%s: %v", out.Status, took)
		}
	})
}

// TestFailureTravelsUpToWhoCatchesIt: over a workflow that has no failure route, past questions of siblings, once nothing
// below can go on by itself.
func TestFailureTravelsUpToWhoCatchesIt(t *testing.T) {
	w := newWorld(t)
	boom := func(context.Context, *Call) (Result, error) { return Result{}, errors.New("boom") }
	inner := graph(node("fan", passes, "leaf", "ask", "slow"), node("leaf", boom), node("ask", asks(plainQuestion)),
		node("slow", passes, "slower"), node("slower", writes("slower", 1)))
	outer := inside("outer", graph(inside("inner", inner, nil)), nil)
	outer.Failure, outer.HasFailure = []string{"caught"}, true
	out := w.start(graph(outer, node("caught", sees("errors"))), nil)
	if out.Status != checkpoint.Done || len(out.Questions) > 0 {
		t.Fatalf("%s %v %v", out.Status, out.Error, addressesOf(out))
	}
	if got := w.state(out.Thread)["seen"]; !strings.Contains(got, `"message":"inner@1: leaf@1: boom"`) {
		t.Errorf("errors are %s", got)
	}
	if steps := strings.Join(w.history(out.Thread), "\n"); !strings.Contains(steps, "slower@1:completed") {
		t.Errorf("what ran did not finish:\n%s", steps)
	}
}
