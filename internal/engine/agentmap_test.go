package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// TestAgentMapDefects has, for each of the ten facts that matter most about AgentMap's resume, the behaviour that is right.
// What its users see of them, exit codes, prompts, lists, files that are told to be valid, is in the command line's
// script agentmap.txtar; what it makes of tokens and answers, line by line, in the golden tests of package actions.
func TestAgentMapDefects(t *testing.T) {
	for _, c := range []contractCase{
		{"1: of fifteen actions fourteen change nothing", "", eachActionHasItsEffect},
		{"2: a rejection takes the success route", "", rejectionsFail},
		{"3: a second human step cannot be answered", "", aSecondStepIsAnswered},
		{"4: cancelling a resume loses the question", "", testCancelledBeforeTheFirstCommitPutsTheQuestionBack},
		{"5: the stored question has no prompt, options or deadline", "", theStoredQuestionIsWhole},
		{"6: beside parallel branches, or asked by another kind of node, it is lost", "", anyNodeMayAsk},
		{"7: a resume that failed is a success", "", aFailedResumeSaysSo},
		{"8: what is completed or failed is resumed again, and two resumes race", "", whatIsNotWaitingIsNotAnswered},
		{"9: deadlines are never enforced, and nothing lists what waits", "", deadlinesAreKept},
		{"10: data near the limit is a success that runs nothing", "the tenth fact itself, examples that do not load, is about files: see the script, and TestDocumentedWorkflowsAreValid", oneLimit},
	} {
		t.Run(c.name, func(t *testing.T) { eachStore(t, c.run) })
	}
}

// eachActionHasItsEffect: what an action leads to, as one line, is another for each where it means something else.
func eachActionHasItsEffect(t *testing.T, w *world) {
	q := actions.Question{Kind: actions.Approval, Message: "Well?", ContentKey: "talk", Actions: everyAction,
		Options: []actions.OptionItem{{Value: js("a")}, {Value: js("b")}}}
	said := `{"role":"customer","text":"hello"}`
	human := `{"at":"2026-01-02T03:04:05Z","by":"ana","role":"human","text":"words"}`
	talk, more := "["+said+"]", "["+said+","+human+"]"
	data := map[actions.Action]any{"choose": 2, "edit": []any{"new"}, "save": nil, "skip": nil, "submit": map[string]any{"n": 1}, "approve": nil, "stop": nil, "cancel": nil}
	for action, want := range map[actions.Action]string{
		"approve": "done out=" + talk, "reject": "rejected", "choose": `done out="b"`, "respond": `done out="words"`,
		"edit": `done out=["new"] talk=["new"]`, "continue": `done out="words"`, "stop": "stopped", "retry": "interrupted review@2, round 2 after words",
		"skip": "done", "submit": `done out={"n":1}`, "cancel": "cancelled", "text_input": `done out="words"`, "save": "done out=" + talk,
		"reply": "interrupted talk=" + more + " review@2", "end": "done out=" + more + " talk=" + more,
	} {
		out := w.start(reviewGraph(q, nil), map[string]any{"talk": json.RawMessage(talk)})
		answer := say(action, "words")
		if d, special := data[action]; special {
			answer.Data = nil
			if d != nil {
				answer.Data = js(d)
			}
		}
		out = w.elsewhere(out.Thread, answer)
		got := string(out.Status)
		for _, key := range []string{"out", "talk"} {
			if v, ok := w.state(out.Thread)[key]; ok && !(key == "talk" && v == talk) {
				got += " " + key + "=" + v
			}
		}
		for _, open := range out.Questions {
			got += " " + strings.TrimPrefix(open.Path, rootPath+"/")
			if open.Previous != nil {
				got += fmt.Sprintf(", round %d after %s", open.Round, open.Previous.Feedback)
			}
		}
		if got != want {
			t.Errorf("%s:\n got %s\nwant %s", action, got, want)
		}
	}
}

func rejectionsFail(t *testing.T, w *world) {
	for _, x := range []struct {
		change func(*Node)
		status checkpoint.Status
		went   string
	}{{nil, checkpoint.Rejected, ""}, {withFailure, checkpoint.Done, "onfailure"}, {routed("reject", "elsewhere"), checkpoint.Done, "elsewhere"}} {
		out := w.start(reviewGraph(plainQuestion, x.change), nil)
		out = w.elsewhere(out.Thread, say("reject", "no"))
		state := w.state(out.Thread)
		if _, announced := state["after"]; announced || out.Status != x.status || x.went != "" && state[x.went] != "true" {
			t.Errorf("%s, state %v, want %s and %q", out.Status, state, x.status, x.went)
		}
	}
}

func aSecondStepIsAnswered(t *testing.T, w *world) {
	var r ran
	out := w.start(graph(node("one", asks(plainQuestion), "two"), node("two", asks(plainQuestion), "three"), node("three", asks(plainQuestion), "end"), node("end", inputs(&r))), nil)
	thread := out.Thread
	for _, step := range []string{"one", "two", "three"} {
		w.open(out, step)
		if out.Thread != thread || out.Status != checkpoint.Interrupted {
			t.Fatalf("%+v", out)
		}
		out = w.elsewhere(thread, say("respond", "at "+step))
	}
	if out.Status != checkpoint.Done {
		t.Errorf("%+v", out)
	}
	r.was(t, `end@1 "at three"`)
}

func theStoredQuestionIsWhole(t *testing.T, w *world) {
	q := actions.Question{Kind: actions.Choice, Title: "Size", Message: "Which one?", ContentKey: "draft", TimeoutMS: time.Hour.Milliseconds(),
		Options: []actions.OptionItem{{Value: js("s"), Label: "Small"}, {Value: js("l"), Label: "Large"}}, Context: []actions.Labelled{{Label: "for", Value: js("Ada")}}}
	out := w.start(reviewGraph(q, nil), map[string]any{"draft": "text"})
	open, err := w.engine(nil).Open(t.Context(), out.Thread)
	if err != nil || len(open.Questions) != 1 {
		t.Fatalf("%v, %+v", err, open)
	}
	got := open.Questions[0]
	want := q
	want.Content = js("text")
	if diff := cmp.Diff(want, got.Question); diff != "" {
		t.Errorf("(-asked +stored)\n%s", diff)
	}
	if got.Due == nil || !got.Due.Equal(w.clock.now().Add(time.Hour)) {
		t.Errorf("due %v", got.Due)
	}
	row, err := w.store.Thread(t.Context(), out.Thread)
	if err != nil || row.Title != "Size" || row.Questions != 1 || row.Node != "review" || row.Due == nil {
		t.Errorf("%v, the row %+v", err, row)
	}
}

// anyNodeMayAsk: whatever its kind is called, and whoever else runs, asks, fails or sleeps in the same step.
func anyNodeMayAsk(t *testing.T, w *world) {
	failures := 1
	ask := node("zzz", asks(plainQuestion))
	ask.Kind = "custom"
	out := w.start(graph(node("s", passes, "aaa", "zzz", "bad", "sleep"), node("aaa", writes("a", 1)), ask,
		node("bad", stops(&failures, passes)), node("sleep", sleeps)), nil)
	w.open(out, "zzz")
	w.open(w.elsewhere(out.Thread, say("approve")))
}

func aFailedResumeSaysSo(t *testing.T, w *world) {
	var r ran
	failures := 1
	asked := w.start(gate(&r, stops(&failures, passes)), nil)
	out := w.elsewhere(asked.Thread, say("approve"))
	row, err := w.store.Thread(t.Context(), asked.Thread)
	if err != nil || out.Status != checkpoint.Failed || out.Error == nil || out.Error.Message != "no luck" || row.Status != checkpoint.Failed || row.Lease != nil {
		t.Errorf("%v, %+v, row %+v", err, out, row)
	}
	if out = w.elsewhere(asked.Thread); out.Status != checkpoint.Done {
		t.Errorf("it is stuck: %+v", out)
	}
}

func whatIsNotWaitingIsNotAnswered(t *testing.T, w *world) {
	var r ran
	failures := 1
	failed := w.answer(w.start(gate(&r, stops(&failures, passes)), nil).Thread, say("approve"))
	done := w.answer(w.start(gate(&r, passes), nil).Thread, say("approve"))
	for name, out := range map[string]*Outcome{"completed": done, "failed": failed} {
		for _, answer := range []Answer{say("approve"), to("ask", "approve"), to("ask", "reject")} {
			_, err := w.engine(nil).Resume(t.Context(), ResumeRequest{Thread: out.Thread, Answers: []Answer{answer}, By: "ben"})
			if !errors.Is(err, ErrNotWaiting) && !errors.Is(err, ErrAlreadyAnswered) {
				t.Errorf("%s: %+v: %v", name, answer, err)
			}
		}
		if rows := w.outcomes(out.Thread); len(rows) != 1 {
			t.Errorf("%s: decisions %v", name, rows)
		}
	}
	if n := len(r.all()); n != 3 {
		t.Errorf("%d programs ran: %v", n, r.all())
	}
	testRacingResumesHaveOneWinner(t, w)
}

func deadlinesAreKept(t *testing.T, w *world) {
	asked := w.start(graph(node("ask", timed(time.Hour, "reject", "late"))), nil)
	patient := w.start(graph(node("ask", asks(plainQuestion))), nil)
	waiting := func() (ids []string) {
		page, err := w.store.Threads(t.Context(), checkpoint.Query{Status: []checkpoint.Status{checkpoint.Interrupted}})
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range page.Threads {
			ids = append(ids, row.Thread)
		}
		return ids
	}
	if diff := cmp.Diff([]string{asked.Thread, patient.Thread}, waiting()); diff != "" {
		t.Error(diff)
	}
	w.clock.advance(time.Hour)
	if swept, err := w.engine(nil).Sweep(context.Background(), false, nil); err != nil || len(swept) != 1 || swept[0].Status != checkpoint.Rejected {
		t.Errorf("%v, %+v", err, swept)
	}
	if diff := cmp.Diff([]string{patient.Thread}, waiting()); diff != "" {
		t.Error(diff)
	}
}

// oneLimit: data of exactly 64 KiB in compact UTF-8, however an encoder might escape it, is accepted and arrives; a
// byte more is refused before anything is written.
func oneLimit(t *testing.T, w *world) {
	for _, letter := range []string{"x", "é", "<"} {
		fits := strings.Repeat(letter, (actions.MaxSize-2)/len(letter))
		for _, x := range []struct {
			text string
			ok   bool
		}{{fits, true}, {fits + "xx", false}} {
			var r ran
			asked := w.start(graph(node("ask", asks(plainQuestion), "end"), node("end", inputs(&r))), nil)
			answer := say("respond")
			answer.Data = json.RawMessage(`"` + x.text + `"`)
			_, err := w.engine(nil).Resume(t.Context(), ResumeRequest{Thread: asked.Thread, Answers: []Answer{answer}})
			arrived := len(r.all()) == 1 && strings.Contains(r.all()[0], x.text)
			if (err == nil) != x.ok || arrived != x.ok || (len(w.outcomes(asked.Thread)) == 1) != x.ok {
				t.Errorf("%d bytes of %s: %v, arrived %v", len(answer.Data), letter, err, arrived)
			}
		}
	}
}
