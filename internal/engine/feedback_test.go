package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// told lists answers as key=action by whom: comment value.
func told(m map[string]AnswerRecord) []string {
	list := []string{}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		list = append(list, fmt.Sprintf("%s=%s by %s: %s %s", key, m[key].Action, m[key].By, m[key].Comment, m[key].Value))
	}
	return list
}

// heard is what a run is called with after a retry.
type heard struct {
	Run                 string
	Feedback, Discarded []string
}

// hears is a program that notes what it hears and asks for whatever of keys it has neither an answer nor a discarded one.
func hears(name string, calls *[]heard, reuse bool, keys ...string) *Node {
	n := node(name, func(_ context.Context, c *Call) (Result, error) {
		*calls = append(*calls, heard{c.Path[len(rootPath)+1:], told(c.Feedback), told(c.Discarded)})
		var res Result
		for _, ask := range keyed(keys...) {
			_, given := c.Resume[ask.Key]
			_, before := c.Discarded[ask.Key]
			if !given && !(reuse && before) {
				res.Interrupts = append(res.Interrupts, ask)
			}
		}
		return res, nil
	})
	n.RerunOnResume = true
	return n
}

// TestARetriedProgramHearsWhy: with every call of the run that the retry began, also after an answer and in another process,
// and it is offered what was accepted before.
func TestARetriedProgramHearsWhy(t *testing.T) {
	eachStore(t, func(t *testing.T, w *world) {
		var calls []heard
		out := w.start(graph(hears("agent", &calls, true, "a", "b", "c")), nil)
		w.answer(out.Thread, to("agent.b", "approve"))
		w.Engine = w.engine(nil)
		out = w.answer(out.Thread, to("agent.a", "retry", "FEEDBACK"))
		if diff := cmp.Diff([]string{"agent.a", "agent.c"}, addressesOf(out)); diff != "" {
			t.Error(diff)
		}
		w.Engine = w.engine(nil)
		w.answer(out.Thread, to("agent.a", "respond", "yes"))
		// A second retry keeps what the first discarded and nobody was asked again; not what it is about.
		out = w.answer(out.Thread, to("agent.c", "retry", "MORE"))
		feedback, b := []string{"a=retry by ana: FEEDBACK null"}, "b=approve by ana:  true"
		more := []string{"c=retry by ana: MORE null"}
		want := []heard{
			{"agent@1", []string{}, []string{}}, {"agent@1", []string{}, []string{}},
			{"agent@2", feedback, []string{b}}, {"agent@2", feedback, []string{b}},
			{"agent@3", more, []string{`a=respond by ana:  "yes"`, b}},
		}
		if diff := cmp.Diff(want, calls); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string{"agent.c"}, addressesOf(out)); diff != "" {
			t.Error(diff)
		}
	})
}

// TestARoutedRetryTellsWhereItWasGiven: a program that another node's retry leads to hears it under that node's address; one
// whose own waiting run that took away is offered its answers.
func TestARoutedRetryTellsWhereItWasGiven(t *testing.T) {
	w := newWorld(t)
	var calls []heard
	maker := hears("maker", &calls, false)
	maker.Then = []string{"form"}
	form := node("form", several("x", "y"))
	form.Routes = map[string][]string{"retry": {"maker"}}
	out := w.start(graph(maker, form), nil)
	out = w.answer(out.Thread, to("form.x", "retry", "again"))
	var own []heard
	self := hears("self", &own, false, "a", "b")
	self.Routes = map[string][]string{"retry": {"self"}}
	looped := w.start(graph(self), nil)
	w.answer(looped.Thread, to("a", "approve"))
	w.answer(looped.Thread, to("b", "retry", "no"))
	if diff := cmp.Diff([]heard{{"maker@1", []string{}, []string{}}, {"maker@2", []string{"form.x=retry by ana: again null"}, []string{}}}, calls); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(heard{"self@2", []string{"b=retry by ana: no null"}, []string{"a=approve by ana:  true"}}, own[len(own)-1]); diff != "" {
		t.Error(diff)
	}
	if out.Questions[0].Round != 2 {
		t.Errorf("round %d", out.Questions[0].Round)
	}
}

// TestWhoIsAskedAgainSeesTheEarlierAnswer: a question that had been answered when a retry discarded its run is a further
// round, which tells the answer; also of a plain form, and not once the node has completed.
func TestWhoIsAskedAgainSeesTheEarlierAnswer(t *testing.T) {
	var calls []heard
	for name, build := range map[string]func() *Node{
		"a program": func() *Node { return hears("ask", &calls, false, "a", "b") },
		"a form":    func() *Node { return node("ask", several("a", "b")) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			n := build()
			n.Then = []string{"ask"}
			first := w.start(graph(n), nil)
			w.answer(first.Thread, to("a", "respond", "yes"))
			out := w.answer(first.Thread, to("b", "retry", "no"))
			previous := map[string]*checkpoint.Previous{}
			for _, q := range out.Questions {
				if q.Round != 2 {
					t.Errorf("%s is round %d", q.Address, q.Round)
				}
				previous[q.Key] = q.Previous
			}
			want := map[string]*checkpoint.Previous{
				"a": {ID: first.Questions[0].ID, By: "ana", Action: string(actions.Respond), Value: js("yes")},
				"b": {ID: first.Questions[1].ID, By: "ana", Feedback: "no"},
			}
			if diff := cmp.Diff(want, previous); diff != "" {
				t.Error(diff)
			}
			w.answer(out.Thread, to("a", "approve"))
			out = w.answer(out.Thread, to("b", "approve")) // it completes, and asks anew
			for _, q := range out.Questions {
				if q.Previous != nil {
					t.Errorf("%s in a new run is linked: %+v", q.Address, q.Previous)
				}
			}
		})
	}
}

// TestASecretAnswerIsNotShownAgain: who is asked once more learns that it was answered, not with what.
func TestASecretAnswerIsNotShownAgain(t *testing.T) {
	w := newWorld(t)
	secret := actions.Question{Kind: actions.Text, Message: "Password?", Schema: js(map[string]any{"type": "string", "writeOnly": true}), Actions: everyAction}
	out := w.start(graph(node("ask", func(context.Context, *Call) (Result, error) {
		return Result{Interrupts: append(keyed("b"), Ask{Key: "a", Payload: js(secret)})}, nil
	})), nil)
	w.answer(out.Thread, to("a", "respond", "hunter2"))
	out = w.answer(out.Thread, to("b", "retry", "no"))
	for _, q := range out.Questions {
		if strings.Contains(string(js(q.Previous)), "hunter2") {
			t.Errorf("%s", js(q.Previous))
		}
		if q.Key == "a" && (q.Previous == nil || q.Previous.Action != "respond" || !strings.Contains(string(q.Previous.Value), "sha256")) {
			t.Errorf("%s", js(q.Previous))
		}
	}
}

// TestALinkNobodyTakesIsForgotten: a run that uses what was discarded asks that question no more; a later run of the node
// that does is no further round of it.
func TestALinkNobodyTakesIsForgotten(t *testing.T) {
	w := newWorld(t)
	var calls []heard
	n := hears("agent", &calls, true, "a", "b")
	n.Then = []string{"agent"}
	out := w.start(graph(n), nil)
	w.answer(out.Thread, to("a", "approve"))
	out = w.answer(out.Thread, to("b", "retry", "no"))
	if diff := cmp.Diff([]string{"agent.b"}, addressesOf(out)); diff != "" {
		t.Fatal(diff)
	}
	out = w.answer(out.Thread, to("b", "approve"))
	for _, q := range out.Questions {
		if q.Round > 1 || q.Previous != nil {
			t.Errorf("%s: round %d, %+v", q.Address, q.Round, q.Previous)
		}
	}
	if diff := cmp.Diff([]string{"agent.a", "agent.b"}, addressesOf(out)); diff != "" {
		t.Error(diff)
	}
}
