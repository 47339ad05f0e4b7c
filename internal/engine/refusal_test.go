package engine

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// wrong is what a scope says of a node that ended badly.
type wrong struct {
	Message  string
	Ended    string
	By       string
	Comment  string
	Attempts int
}

func wrongAt(t *testing.T, raw, name string) wrong {
	t.Helper()
	var seen struct{ Errors map[string]wrong }
	if err := json.Unmarshal([]byte(raw), &seen); err != nil {
		t.Fatalf("seen is %s: %v", raw, err)
	}
	return seen.Errors[name]
}

// twoWaysOut lets every refusal be given with a reason.
var twoWaysOut = actions.Question{Kind: actions.Approval, Message: "Well?", Actions: []actions.Action{"approve", "reject", "cancel"}}

// TestAFailureRouteKnowsWhatCameToPass: whatever made a node take its failure route, the route knows how it ended, who
// ended it and why, at whatever depth that was.
func TestAFailureRouteKnowsWhatCameToPass(t *testing.T) {
	leaf := func() *Node { return node("leaf", asks(twoWaysOut)) }
	cases := map[string]struct {
		build  func() *Node // the node that takes its failure route
		answer Answer
		want   wrong
	}{
		"failed": {
			func() *Node {
				return node("one", func(context.Context, *Call) (Result, error) { return Result{}, errors.New("boom") })
			}, Answer{}, wrong{Message: "boom", Ended: "failed", Attempts: 1},
		},
		"rejected": {
			func() *Node { return node("one", asks(twoWaysOut)) }, say("reject", "too dear"),
			wrong{Message: "one was rejected by ana: too dear", Ended: "rejected", By: "ana", Comment: "too dear", Attempts: 1},
		},
		"cancelled without a word": {
			func() *Node { return node("one", asks(twoWaysOut)) }, say("cancel"),
			wrong{Message: "one was cancelled by ana", Ended: "cancelled", By: "ana", Attempts: 1},
		},
		"rejected in a nested workflow": {
			func() *Node { return inside("one", graph(leaf()), nil) }, say("reject", "too dear"),
			wrong{Message: "one/leaf was rejected by ana: too dear", Ended: "rejected", By: "ana", Comment: "too dear", Attempts: 1},
		},
		"cancelled two workflows down": {
			func() *Node { return inside("one", graph(inside("two", graph(leaf()), nil)), nil) }, say("cancel", "no use"),
			wrong{Message: "one/two/leaf was cancelled by ana: no use", Ended: "cancelled", By: "ana", Comment: "no use", Attempts: 1},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			n := c.build()
			n.Failure, n.HasFailure = []string{"caught"}, true
			out := w.start(graph(n, node("caught", sees("errors"))), nil)
			if c.answer.Action != "" {
				out = w.answer(out.Thread, c.answer)
			}
			if out.Status != checkpoint.Done {
				t.Fatalf("%s %v", out.Status, out.Error)
			}
			if diff := cmp.Diff(c.want, wrongAt(t, w.state(out.Thread)["seen"], "one")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestAnItemsResultKnowsWhoEndedIt: also where nothing catches the refusal, the result of the item is worked out with it.
func TestAnItemsResultKnowsWhoEndedIt(t *testing.T) {
	w := newWorld(t)
	n := each("each", "list", graph(inside("deep", graph(node("leaf", asks(twoWaysOut))), nil)))
	n.Map.Result = func(s Scope) (Value, error) {
		v, _ := s.Lookup("errors")
		return object(map[string]Value{"errors": v}), nil
	}
	out := w.start(graph(n), map[string]any{"list": []any{1}})
	out = w.answer(out.Thread, say("reject", "no"))
	var list []json.RawMessage
	if err := json.Unmarshal([]byte(w.state(out.Thread)["each"]), &list); err != nil || len(list) != 1 {
		t.Fatalf("%v %s", err, w.state(out.Thread)["each"])
	}
	want := wrong{Message: "each/0/deep/leaf was rejected by ana: no", Ended: "rejected", By: "ana", Comment: "no", Attempts: 1}
	if diff := cmp.Diff(want, wrongAt(t, string(list[0]), "deep")); diff != "" {
		t.Error(diff)
	}
}

// TestSuccessTakesTheErrorAway: for the node's own condition, for whatever comes after, and for who reads the thread
// again; it is still there while the node is tried once more.
func TestSuccessTakesTheErrorAway(t *testing.T) {
	eachStore(t, func(t *testing.T, w *world) {
		var before []string
		tries := 0
		flaky := node("flaky", func(_ context.Context, c *Call) (Result, error) {
			v, _ := c.Scope.Lookup("errors")
			before = append(before, string(object(map[string]Value{"errors": v}).JSON()))
			if tries++; tries == 1 {
				return Result{}, errors.New("boom")
			}
			return Result{}, nil
		}, "wrong")
		flaky.Failure, flaky.HasFailure = []string{"mend"}, true
		flaky.When = []Branch{{If: func(s Scope, _ Value) (bool, error) {
			v, _ := s.Lookup("errors")
			return string(v.JSON()) == "{}", nil
		}, Then: []string{"ask"}}}
		out := w.start(graph(flaky, node("mend", passes, "flaky"), node("wrong", passes),
			node("ask", asks(plainQuestion), "end"), node("end", sees("errors"))), nil)
		if len(before) != 2 || wrongAt(t, before[1], "flaky").Message != "boom" {
			t.Errorf("while it ran errors were %v", before)
		}
		w.Engine = w.engine(nil) // which knows only what was stored
		out = w.answer(out.Thread, say("continue"))
		if got := w.state(out.Thread)["seen"]; got != `{"errors":{}}` || out.Status != checkpoint.Done {
			t.Errorf("%s, errors are %s", out.Status, got)
		}
	})
}
