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

// inputs is a program that remembers the input of every run.
func inputs(r *ran) RunnerFunc {
	return func(_ context.Context, c *Call) (Result, error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.calls = append(r.calls, fmt.Sprintf("%s@%s %s", c.Node, c.Path[strings.LastIndexByte(c.Path, '@')+1:], c.Input.JSON()))
		return Result{Output: text(c.Node)}, nil
	}
}

// gives is a program with an output and nothing else.
func gives(v any) RunnerFunc {
	return func(context.Context, *Call) (Result, error) {
		value, err := ValueOf(v)
		return Result{Output: value}, err
	}
}

func TestJoins(t *testing.T) {
	for _, x := range []struct {
		join Join
		want []string
	}{
		{JoinEach, []string{`join@1 1`, `join@2 3`, `join@3 4`}},
		{JoinAll, []string{`join@1 {"a":1,"c":3,"d":4}`}},
		{JoinArrived, []string{`join@1 {"a":1,"c":3,"d":4}`}},
		{JoinStep, []string{`join@1 {"a":1}`, `join@2 {"c":3,"d":4}`}},
	} {
		t.Run(string(x.join), func(t *testing.T) {
			w := newWorld(t)
			var r ran
			g := graph(node("split", passes, "a", "b"), node("a", gives(1), "join"), node("b", gives(2), "c", "d"),
				node("c", gives(3), "join"), node("d", gives(4), "join"), node("join", inputs(&r)))
			g.Nodes[5].Join = x.join
			if out := w.start(g, nil); out.Status != checkpoint.Done {
				t.Fatalf("%+v", out)
			}
			if diff := cmp.Diff(x.want, r.all()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// branching is split -> a, b; a -> join; b -> join if cond, else END.
func branching(join Join, comes bool, r *ran) *Graph {
	b := node("b", gives(2))
	b.When = []Branch{{If: func(Scope, Value) (bool, error) { return comes, nil }, Then: []string{"join"}}}
	g := graph(node("split", passes, "a", "b"), node("a", gives(1), "join"), b, node("join", inputs(r)))
	g.Nodes[3].Join = join
	return g
}

func TestAJoinWithSomeMissingFailsAndNamesWhoNeverCame(t *testing.T) {
	w := newWorld(t)
	var r ran
	out := w.start(branching(JoinAll, false, &r), nil)
	if out.Status != checkpoint.Failed || out.Error == nil || !strings.Contains(out.Error.Message, "b never did") || !strings.Contains(out.Error.Message, "join: arrived") || out.Error.Node != "join" {
		t.Fatalf("%+v", out.Error)
	}
	again, err := w.Resume(t.Context(), ResumeRequest{Thread: out.Thread})
	if err != nil || again.Status != checkpoint.Failed || again.Error.Path != out.Error.Path {
		t.Errorf("carrying on: %v, %+v", err, again)
	}
	if len(r.all()) != 0 {
		t.Errorf("the join ran: %v", r.all())
	}
}

func TestArrivedRunsWithThoseThatCome(t *testing.T) {
	w := newWorld(t)
	var r ran
	if out := w.start(branching(JoinArrived, false, &r), nil); out.Status != checkpoint.Done {
		t.Fatalf("%+v", out)
	}
	if diff := cmp.Diff([]string{`join@1 {"a":1}`}, r.all()); diff != "" {
		t.Error(diff)
	}
}

func TestTwoWritersOfOneReplaceChannelAreBothNamed(t *testing.T) {
	w := newWorld(t)
	g := graph(node("split", passes, "a", "b"), node("a", writes("x", 1)), node("b", writes("x", 2)))
	out := w.start(g, nil)
	if out.Status != checkpoint.Failed || !strings.Contains(out.Error.Message, `a and b both wrote "x"`) {
		t.Fatalf("%+v", out.Error)
	}
	if x, ok := w.state(out.Thread)["x"]; ok {
		t.Errorf("x is %s", x)
	}
}

func TestReducers(t *testing.T) {
	list := func(v ...any) []any { return v }
	for _, x := range []struct {
		reducer Reducer
		before  any
		a, b    any
		want    string
	}{
		{Last, nil, 1, 2, `2`},
		{Append, list(0), list(1, 2), 3, `[0,1,2,3]`},
		{Append, nil, "a", list(), `["a"]`},
		{Add, 1, 2, 3.5, `6.5`},
		{Add, nil, 2, -5, `-3`},
		{Merge, map[string]any{"k": 1, "l": 1}, map[string]any{"k": 2}, map[string]any{"m": 3}, `{"k":2,"l":1,"m":3}`},
		{Union, list(1, "a"), list(1, 2), "a", `[1,"a",2]`},
	} {
		t.Run(string(x.reducer), func(t *testing.T) {
			w := newWorld(t)
			g := graph(node("split", passes, "a", "b"), node("a", writes("x", x.a)), node("b", writes("x", x.b)))
			g.Channels["x"] = x.reducer
			input := map[string]any{}
			if x.before != nil {
				input["x"] = x.before
			}
			out := w.start(g, input)
			if got := w.state(out.Thread)["x"]; got != x.want || out.Status != checkpoint.Done {
				t.Errorf("%s (%+v), want %s", got, out.Error, x.want)
			}
		})
	}
}

// TestAFailingConditionFailsItsRunOnly: the run's updates are not applied, its sibling's are.
func TestAFailingConditionFailsItsRunOnly(t *testing.T) {
	w := newWorld(t)
	a := node("a", writes("x", 1))
	a.When = []Branch{{If: func(Scope, Value) (bool, error) { return false, errors.New("amount is null") }}}
	out := w.start(graph(node("split", passes, "a", "b"), a, node("b", writes("y", 2), "c"), node("c", writes("z", 3))), nil)
	if out.Status != checkpoint.Failed || !strings.Contains(out.Error.Message, "amount is null") {
		t.Fatalf("%+v", out.Error)
	}
	if diff := cmp.Diff(map[string]string{"y": "2", "z": "3"}, w.state(out.Thread)); diff != "" {
		t.Error(diff)
	}
}

func TestAFailingOutputOfTheWorkflowFailsItsLastRun(t *testing.T) {
	w := newWorld(t)
	broken := true
	g := graph(node("a", writes("x", 1)))
	g.Output = func(s Scope) (Value, error) {
		if broken {
			return Value{}, errors.New("total is null")
		}
		x, _ := s.Lookup("x")
		return x, nil
	}
	out := w.start(g, nil)
	if out.Status != checkpoint.Failed || !strings.Contains(out.Error.Message, "total is null") {
		t.Fatalf("%+v", out)
	}
	broken = false
	out, err := w.Resume(t.Context(), ResumeRequest{Thread: out.Thread})
	if err != nil || out.Status != checkpoint.Done || string(out.Outputs) != "1" {
		t.Errorf("carried on: %v, %+v", err, out)
	}
}
