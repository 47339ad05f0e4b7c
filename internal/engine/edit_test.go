package engine

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// rows lists a thread's decisions as reviewer action address data, with the steps that hold them.
func (w *world) rows(thread string) []string {
	w.Helper()
	at := map[string]string{}
	for c, err := range w.store.History(context.Background(), thread, false) {
		if err != nil {
			w.Fatal(err)
		}
		for _, id := range c.Decisions {
			at[id] += " " + string(c.Source)
		}
	}
	var rows []string
	for d, err := range w.store.Decisions(context.Background(), thread) {
		if err != nil {
			w.Fatal(err)
		}
		rows = append(rows, d.Reviewer+" "+d.Action+" "+d.Address+" "+string(d.Data)+at[d.ID])
	}
	return rows
}

// TestAnEditIsOnRecord: who changed the state, where and to what, in a row that its step holds and the chain covers.
func TestAnEditIsOnRecord(t *testing.T) {
	eachStore(t, func(t *testing.T, w *world) {
		asked := w.start(graph(node("ask", asks(plainQuestion))), map[string]any{"notes": "old"})
		version := asked.Version
		edit := EditRequest{Thread: asked.Thread, Updates: map[string]json.RawMessage{"notes": js("new")}, By: "ben"}
		if _, err := w.Edit(t.Context(), edit); err != nil {
			t.Fatal(err)
		}
		// The version that was edited is no version that was answered.
		_, err := w.Resume(t.Context(), ResumeRequest{Thread: asked.Thread, Answers: []Answer{say("approve")}, IfVersion: &version, By: "ana"})
		if !errors.Is(err, checkpoint.ErrConflict) || errors.Is(err, ErrAlreadyAnswered) {
			t.Errorf("answering what was shown before: %v", err)
		}
		w.answer(asked.Thread, say("approve"))
		want := []string{`ben edit  {"notes":"new"} edit`, `ana approve ask  answer`}
		if diff := cmp.Diff(want, w.rows(asked.Thread)); diff != "" {
			t.Error(diff)
		}
		info, err := w.store.Thread(t.Context(), asked.Thread)
		if err != nil {
			t.Fatal(err)
		}
		end := checkpoint.Chain{Count: info.Decisions, Last: info.DecisionHash}
		if err := checkpoint.VerifyChain(asked.Thread, w.store.Decisions(t.Context(), asked.Thread), end); err != nil {
			t.Error(err)
		}
	})
}

// TestAnEditReachesEveryFrame: a nested workflow and a map item are named by their address or path; the question that
// reviews a key of theirs shows it changed, and their siblings are untouched.
func TestAnEditReachesEveryFrame(t *testing.T) {
	for _, name := range []string{"sub/each/1", "sub/each/1/", "main@1/sub@1/each@1/[1]"} {
		eachStore(t, func(t *testing.T, w *world) {
			q := plainQuestion
			q.ContentKey, q.Actions = "draft", []actions.Action{"approve", "edit"}
			body := graph(node("write", writes("draft", "old"), "review"), node("review", asks(q)))
			m := each("each", "list", body)
			m.Map.Result = func(s Scope) (Value, error) { v, _ := s.Lookup("draft"); return v, nil }
			asked := w.start(graph(inside("sub", graph(m), map[string]any{"list": []int{7, 8}})), nil)
			before := asked.Questions[0].ShownHash
			out, err := w.Edit(t.Context(), EditRequest{Thread: asked.Thread, Frame: name, Updates: map[string]json.RawMessage{"draft": js("new")}, By: "ben"})
			if err != nil {
				t.Fatal(err)
			}
			if got := string(out.Questions[1].Question.Content); got != `"new"` || out.Questions[0].ShownHash != before {
				t.Errorf("shown is %s, and its sibling %s", got, out.Questions[0].Question.Content)
			}
			out = w.answer(asked.Thread, to("sub/each/0/review", "approve"), to("sub/each/1/review", "approve"))
			if got := w.state(asked.Thread)["sub"]; out.Status != checkpoint.Done || got != `{"each":["old","new"],"list":[7,8]}` {
				t.Errorf("%s: %s", out.Status, got)
			}
			if got := w.rows(asked.Thread)[0]; got != `ben edit sub/each/1 {"draft":"new"} edit` {
				t.Error(got)
			}
		})
	}
}

// TestARefusedEditChangesNothing: what is no frame at work, no key, or not a key of that frame.
func TestARefusedEditChangesNothing(t *testing.T) {
	w := newWorld(t)
	body := graph(node("review", asks(plainQuestion)))
	whole := graph(each("each", "list", body))
	body.Keys, whole.Keys = []string{"draft"}, []string{"list", "each", "notes"}
	asked := w.start(whole, map[string]any{"list": []int{7}})
	for _, x := range []struct{ frame, key, says string }{
		{"each/1", "x", "each/0"},
		{"each", "x", "each/0"},
		{"each/0", "list", "around it"},
		{"each/0", "item", "around it"},
		{"each/0", "index", "around it"},
		{"each/0", "@epoch", "no state key"},
		{"each/0", "notes", "around it"},
		{"each/0", "darft", `no state key of each/0; did you mean "draft"?`},
		{"", "note", `no state key of workflow test; did you mean "notes"?`},
		{"", "draft", "no state key"},
		{"", "@epoch", "no state key"},
		{"", "", "no state key"},
	} {
		_, err := w.Edit(t.Context(), EditRequest{Thread: asked.Thread, Frame: x.frame, Updates: map[string]json.RawMessage{x.key: js(1)}, By: "ben"})
		if err == nil || !strings.Contains(err.Error(), x.says) {
			t.Errorf("%s %q: %v", x.frame, x.key, err)
		}
	}
	if _, err := w.Edit(t.Context(), EditRequest{Thread: asked.Thread, By: "ben"}); err == nil {
		t.Error("an edit of nothing")
	}
	if open, err := w.Open(t.Context(), asked.Thread); err != nil || open.Version != asked.Version || len(w.rows(asked.Thread)) > 0 {
		t.Errorf("something was written: %v, %+v", err, open)
	}
	w.answer(asked.Thread, say("approve"))
	_, err := w.Edit(t.Context(), EditRequest{Thread: asked.Thread, Updates: map[string]json.RawMessage{"x": js(1)}})
	if !errors.Is(err, ErrNotWaiting) {
		t.Errorf("an edit of a thread that is done: %v", err)
	}
}

// TestAnUpgradeWithoutAnAnswerAnswersNothing: put on another definition, a thread goes on only where nobody is asked.
func TestAnUpgradeWithoutAnAnswerAnswersNothing(t *testing.T) {
	open := actions.Question{Kind: actions.Suspend, Message: "Go on?", Actions: []actions.Action{"continue", "stop"}}
	for name, x := range map[string]struct {
		first  RunnerFunc
		answer []Answer
		status checkpoint.Status
	}{
		"asks, no answer":      {asks(open), nil, checkpoint.Interrupted},
		"asks, blank answer":   {asks(open), []Answer{{}}, checkpoint.Interrupted},
		"asks, continue":       {asks(open), []Answer{say("continue")}, checkpoint.Done},
		"sleeps, blank answer": {sleeps, []Answer{{}}, checkpoint.Sleeping},
		"sleeps, continue":     {sleeps, []Answer{say("continue")}, checkpoint.Done},
		"failed, blank answer": {fails, []Answer{{}}, checkpoint.Done},
		"failed, no answer":    {fails, nil, checkpoint.Done},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			thread := w.start(graph(node("first", x.first, "after"), node("after", writes("v", 1))), nil).Thread
			first := x.first
			if strings.HasPrefix(name, "failed") {
				first = passes
			}
			next := w.shelf.put(graph(node("first", first, "after"), node("after", writes("v", 2))))
			out, err := w.Resume(t.Context(), ResumeRequest{Thread: thread, Answers: x.answer, Upgrade: &next, By: "ana"})
			if err != nil || out.Status != x.status || out.Fingerprint != next.Fingerprint {
				t.Fatalf("%v, %+v", err, out)
			}
			if rows := w.rows(thread); !strings.HasPrefix(rows[0], "ana upgrade ") || !strings.HasSuffix(rows[0], " upgrade") {
				t.Errorf("%q", rows)
			}
		})
	}
}

// fails is a program that always does.
func fails(context.Context, *Call) (Result, error) { return Result{}, errors.New("no luck") }
