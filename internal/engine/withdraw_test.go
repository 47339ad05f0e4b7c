package engine

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// TestTheRouteOfAnAnswerOutranksOneSetBefore: a program may set a route beside its question, for the answers that
// complete it. An answer with a route of its own takes that, as the question says where it leads, whatever the action.
func TestTheRouteOfAnAnswerOutranksOneSetBefore(t *testing.T) {
	for _, action := range []actions.Action{"approve", "respond", "reject", "cancel", "skip", "continue", "text_input", "end", "reply"} {
		for _, routed := range []bool{true, false} {
			w := newWorld(t)
			ask := node("ask", func(context.Context, *Call) (Result, error) {
				return Result{Route: "publish", Interrupts: []Ask{{Payload: js(actions.Question{Message: "Well?", Actions: everyAction})}}}, nil
			}, "after")
			ask.Routes = map[string][]string{"publish": {"publish"}}
			want := "publish"
			if routed {
				ask.Routes[string(action)] = []string{"cleanup"}
				want = "cleanup"
			} else if action == "reject" || action == "cancel" || action == "reply" {
				continue // they do not complete the node
			}
			asked := w.start(graph(ask, node("publish", writes("went", "publish")), node("cleanup", writes("went", "cleanup")), node("after", writes("went", "after"))), nil)
			if len(asked.Questions) != 1 {
				t.Fatalf("%+v", asked)
			}
			lead := asked.Questions[0].Leads[action]
			answer := say(action, "text")
			if action == "skip" {
				answer = say(action)
			}
			out := w.answer(asked.Thread, answer)
			if got := w.state(out.Thread)["went"]; got != `"`+want+`"` {
				t.Errorf("%s, routed %v: went to %s, want %s", action, routed, got, want)
			}
			if diff := cmp.Diff(Lead{To: []string{want}}, lead); diff != "" {
				t.Errorf("%s, routed %v: the question said (-want +got)\n%s", action, routed, diff)
			}
		}
	}
}

// TestWhatARunHeldBesideACancelledQuestionIsGone: updates beside a question are merged once the run completes. A
// cancelled one does not, whether its action has a route or the failure route takes it.
func TestWhatARunHeldBesideACancelledQuestionIsGone(t *testing.T) {
	for action, kept := range map[actions.Action]bool{"cancel": false, "retry": false, "approve": true, "skip": true} {
		w := newWorld(t)
		ask := node("ask", func(context.Context, *Call) (Result, error) {
			return Result{Updates: map[string]Value{"x": text("held")}, Interrupts: []Ask{{Payload: js(plainQuestion)}}}, nil
		})
		ask.Routes = map[string][]string{string(action): nil}
		out := w.answer(w.start(graph(ask), nil).Thread, say(action))
		if _, got := w.state(out.Thread)["x"]; got != kept || out.Status != checkpoint.Done {
			t.Errorf("%s: %s, kept %v, want %v", action, out.Status, got, kept)
		}
	}
}

// TestAnAnswerThatEndsTheRunWithdrawsItsOtherQuestionsThoughItFails: what the answer led to may fail, an output
// expression, a condition, the result of an item. The run was answered all the same: nothing of it is open any more, and
// carrying on completes it as it was answered.
func TestAnAnswerThatEndsTheRunWithdrawsItsOtherQuestionsThoughItFails(t *testing.T) {
	for action, want := range map[actions.Action]checkpoint.Status{"respond": checkpoint.Done, "reject": checkpoint.Done, "cancel": checkpoint.Done} {
		eachStore(t, func(t *testing.T, w *world) {
			broken := true
			flaky := func(s Scope) (Value, error) {
				if broken {
					return Value{}, errors.New("no result")
				}
				v, _ := s.Lookup("answers")
				return known(v.Any().(map[string]any)["form"].(map[string]any)["a"].(map[string]any)["action"]), nil
			}
			form := node("form", several("a", "b"))
			form.Routes = map[string][]string{"respond": nil}
			n := each("each", "list", graph(form))
			n.Map.Result = flaky
			asked := w.start(graph(n), map[string]any{"list": []int{1}})
			out := w.answer(asked.Thread, to("a", action, "text"))
			if out.Status != checkpoint.Failed || len(out.Questions) != 0 {
				t.Errorf("%s: %s, open %v", action, out.Status, addressesOf(out))
			}
			if _, err := w.Resume(t.Context(), ResumeRequest{Thread: asked.Thread, Answers: []Answer{to("b", "approve")}}); err == nil {
				t.Errorf("%s: the withdrawn question took an answer", action)
			}
			broken = false
			out, err := w.engine(nil).Resume(t.Context(), ResumeRequest{Thread: asked.Thread})
			if err != nil || out.Status != want || w.state(out.Thread)["each"] != `["`+string(action)+`"]` {
				t.Errorf("%s: %v, %+v, %v", action, err, out, w.state(asked.Thread))
			}
		})
	}
}

// TestALinkToAnEarlierRoundEndsWithItsFrame: a question that a retry superseded and that was not asked again says
// nothing about one asked by the same node when the whole is run another time.
func TestALinkToAnEarlierRoundEndsWithItsFrame(t *testing.T) {
	for name, whole := range map[string]func(*Graph) *Node{
		"map":      func(g *Graph) *Node { return each("whole", "list", g, "again") },
		"workflow": func(g *Graph) *Node { return inside("whole", g, nil, "again") },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			drafts := 0
			draft := node("draft", func(context.Context, *Call) (Result, error) { drafts++; return Result{}, nil })
			draft.When = []Branch{{If: func(Scope, Value) (bool, error) { return drafts != 2, nil }, Then: []string{"review"}}}
			review := node("review", asks(plainQuestion))
			review.Routes = map[string][]string{"retry": {"draft"}}
			again := node("again", passes)
			again.When = []Branch{{If: func(Scope, Value) (bool, error) { return drafts == 2, nil }, Then: []string{"whole"}}}
			out := w.start(graph(whole(graph(draft, review)), again), map[string]any{"list": []int{1}})
			out = w.answer(out.Thread, say("retry", "shorter"))
			if len(out.Questions) != 1 || drafts != 3 {
				t.Fatalf("%s, %d drafts, %+v", out.Status, drafts, out.Error)
			}
			if q := out.Questions[0]; q.Previous != nil || q.Round != 0 {
				t.Errorf("round %d of %+v", q.Round, q.Previous)
			}
		})
	}
}

// TestWhatARunHoldsBetweenItsQuestions: a program that asks again goes on with what it set before: its route and output
// unless it gives others. Its updates are those of the last time, and the answer to a key it asks again counts no more.
func TestWhatARunHoldsBetweenItsQuestions(t *testing.T) {
	eachStore(t, func(t *testing.T, w *world) {
		var r ran
		turn := 0
		n := agent(&r, func(context.Context, *Call) (Result, error) {
			turn++
			switch turn {
			case 1:
				return Result{Output: text("early"), Route: "side", Updates: map[string]Value{"x": text("first")}, Interrupts: keyed("a", "b")}, nil
			case 2:
				return Result{Interrupts: keyed("a")}, nil // the answer to a will not do
			}
			return Result{Closed: []string{"a"}}, nil
		}, "then")
		n.Routes = map[string][]string{"side": {"side"}}
		out := w.start(graph(n, node("side", inputs(&r)), node("then", inputs(&r))), nil)
		again := w.elsewhere(out.Thread, to("a", "respond", "hm"))
		if w.open(again, "agent.b", "agent.a"); again.Questions[1].ID == out.Questions[0].ID {
			t.Error("a key asked again is the old question")
		}
		if out = w.elsewhere(out.Thread, to("b", "respond", "good")); out.Status != checkpoint.Done || len(w.state(out.Thread)) != 0 {
			t.Errorf("%s, state %v", out.Status, w.state(out.Thread))
		}
		r.was(t, `agent@1 in {} answers [] open [] prior null`, `agent@1 in {} answers [a=respond:"hm"] open [b] prior "early"`,
			`agent@1 in {} answers [b=respond:"good"] open [a] prior "early"`, `side@1 "early"`)
	})
}
