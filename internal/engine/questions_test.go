package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// keyed are questions with keys.
func keyed(keys ...string) []Ask {
	var list []Ask
	for _, key := range keys {
		list = append(list, Ask{Key: key, Payload: js(plainQuestion)})
	}
	return list
}

// form is a plain human node with several questions.
func several(keys ...string) RunnerFunc {
	return func(context.Context, *Call) (Result, error) { return Result{Interrupts: keyed(keys...)}, nil }
}

// agent is a program that asks, and hears its answers: it writes down what it is called with.
func agent(r *ran, run RunnerFunc, then ...string) *Node {
	n := node("agent", func(ctx context.Context, c *Call) (Result, error) {
		given := []string{}
		for _, key := range sortedKeys(c.Resume) {
			given = append(given, fmt.Sprintf("%s=%s:%s", key, c.Resume[key].Action, c.Resume[key].Value))
		}
		r.mu.Lock()
		r.calls = append(r.calls, fmt.Sprintf("%s in %s answers %v open %v prior %s",
			strings.TrimPrefix(c.Path, rootPath+"/"), c.Input.JSON(), given, c.PriorInterrupts, c.PriorOutput.JSON()))
		r.mu.Unlock()
		return run(ctx, c)
	}, then...)
	n.RerunOnResume = true
	return n
}

// TestRerunOnResume is the table of the seed document "Checkpoint and Resume Lifecycle".
func TestRerunOnResume(t *testing.T) {
	t.Run("false, some: stays WAITING", func(t *testing.T) {
		w := newWorld(t)
		asked := w.start(graph(node("form", several("a", "b"), "after"), node("after", writes("after", true))), nil)
		if diff := cmp.Diff([]string{"form.a", "form.b"}, addressesOf(asked)); diff != "" {
			t.Fatal(diff)
		}
		if q := asked.Questions[0]; q.ResumesNow || q.WaitsFor != 1 {
			t.Errorf("resumes now %v, waits for %d", q.ResumesNow, q.WaitsFor)
		}
		out := w.answer(asked.Thread, to("form.a", "respond", "yes"))
		if diff := cmp.Diff([]string{"form.b"}, addressesOf(out)); diff != "" || out.Status != checkpoint.Interrupted {
			t.Errorf("%s %s", out.Status, diff)
		}
		if diff := cmp.Diff([]string{"0 input", "1 step form@1:waiting", "2 answer"}, w.history(out.Thread)); diff != "" {
			t.Error(diff)
		}
		row, _ := w.store.Thread(t.Context(), out.Thread)
		if row.Answered != 1 || row.Questions != 1 {
			t.Errorf("the row says %d answered, %d open", row.Answered, row.Questions)
		}
	})
	t.Run("false, all: COMPLETED without running", func(t *testing.T) {
		w := newWorld(t)
		var r ran
		form := node("form", noted(&r, several("a", "b")))
		form.Output = keeps("out")
		asked := w.start(graph(form), nil)
		w.answer(asked.Thread, to("a", "respond", "yes"))
		out := w.answer(asked.Thread, to("b", "continue", 2))
		if got := w.state(out.Thread)["out"]; got != `{"a":"yes","b":2}` || out.Status != checkpoint.Done {
			t.Errorf("%s: %s", out.Status, got)
		}
		if len(r.all()) != 1 {
			t.Errorf("it ran %d times", len(r.all()))
		}
	})
	t.Run("true, some: runs again at once with partial inputs", func(t *testing.T) {
		w := newWorld(t)
		var r ran
		asked := w.start(graph(agent(&r, func(_ context.Context, c *Call) (Result, error) {
			return Result{Output: text("half"), Interrupts: keyed("a", "b")[len(c.Resume):]}, nil
		})), nil)
		id := asked.Questions[1].ID
		out := w.answer(asked.Thread, to("agent.a", "respond", "yes"))
		if len(out.Questions) != 1 || out.Questions[0].ID != id {
			t.Errorf("the open key did not keep its id: %+v", out.Questions)
		}
		if diff := cmp.Diff([]string{
			`agent@1 in {} answers [] open [] prior null`,
			`agent@1 in {} answers [a=respond:"yes"] open [b] prior "half"`,
		}, r.all()); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("true, all: runs again with all inputs", func(t *testing.T) {
		w := newWorld(t)
		var r ran
		asked := w.start(graph(agent(&r, func(_ context.Context, c *Call) (Result, error) {
			if len(c.Resume) == 2 {
				return Result{Output: text("whole")}, nil
			}
			return Result{Interrupts: keyed("a", "b")}, nil
		})), nil)
		out := w.answer(asked.Thread, to("a", "respond", "x"), to("b", "respond", "y"))
		if out.Status != checkpoint.Done {
			t.Fatalf("%+v", out)
		}
		if diff := cmp.Diff(`agent@1 in {} answers [a=respond:"x" b=respond:"y"] open [] prior null`, r.all()[1]); diff != "" || len(r.all()) != 2 {
			t.Error(diff, r.all())
		}
	})
}

// TestAnOpenKeyNotAskedAgainStaysOpen, unless the program withdraws it.
func TestAnOpenKeyNotAskedAgainStaysOpen(t *testing.T) {
	for _, withdraws := range []bool{false, true} {
		w := newWorld(t)
		var r ran
		asked := w.start(graph(agent(&r, func(_ context.Context, c *Call) (Result, error) {
			switch {
			case len(c.Resume) == 0:
				return Result{Interrupts: keyed("a", "b")}, nil
			case withdraws:
				return Result{Output: text("enough"), Closed: []string{"b"}}, nil
			}
			return Result{Output: text("enough")}, nil
		})), nil)
		out := w.answer(asked.Thread, to("a", "approve"))
		want := checkpoint.Interrupted
		if withdraws {
			want = checkpoint.Done
		}
		if out.Status != want {
			t.Errorf("withdraws %v: %s", withdraws, out.Status)
		}
	}
}

func TestOneAnswerMayEndSeveralQuestions(t *testing.T) {
	for action, want := range map[actions.Action]checkpoint.Status{
		"reject": checkpoint.Rejected, "cancel": checkpoint.Cancelled, "stop": checkpoint.Stopped, "retry": checkpoint.Interrupted,
		"respond": checkpoint.Done, // it has a route
	} {
		t.Run(string(action), func(t *testing.T) {
			w := newWorld(t)
			form := node("form", several("a", "b"))
			form.Routes = map[string][]string{"respond": nil}
			asked := w.start(graph(form), nil)
			out := w.answer(asked.Thread, to("a", action, "text"))
			if out.Status != want {
				t.Errorf("%s, want %s", out.Status, want)
			}
			for _, q := range out.Questions {
				if q.ID == asked.Questions[1].ID {
					t.Error("the other question is still open")
				}
			}
		})
	}
}

func TestSeveralAnswersAreAllOrNone(t *testing.T) {
	w := newWorld(t)
	asked := w.start(graph(node("form", several("a", "b"))), nil)
	_, err := w.Resume(t.Context(), ResumeRequest{Thread: asked.Thread, Answers: []Answer{to("a", "reject"), to("b", "approve")}})
	if !errors.Is(err, ErrUnknownQuestion) {
		t.Errorf("the first withdraws what the second answers: %v", err)
	}
	if rows := w.outcomes(asked.Thread); len(rows) != 0 {
		t.Errorf("written: %v", rows)
	}
	if _, err := w.Resume(t.Context(), ResumeRequest{Thread: asked.Thread, Answers: []Answer{say("approve")}}); !errors.Is(err, ErrWhichQuestion) {
		t.Errorf("a nameless answer to two questions: %v", err)
	}
}

func TestAProgramHearsARejection(t *testing.T) {
	w := newWorld(t)
	var r ran
	asked := w.start(graph(agent(&r, func(_ context.Context, c *Call) (Result, error) {
		if len(c.Resume) == 0 {
			return Result{Interrupts: keyed("ok")}, nil
		}
		return Result{Output: text("sorry")}, nil
	})), nil)
	if lead := asked.Questions[0].Leads["reject"]; !slices.Equal(lead.To, []string{"agent"}) || lead.Again || lead.Ends != "" {
		t.Errorf("lead %+v", lead)
	}
	out := w.answer(asked.Thread, to("ok", "reject", "too dear"))
	if out.Status != checkpoint.Done || !strings.Contains(r.all()[1], "ok=reject") {
		t.Errorf("%s, %v", out.Status, r.all())
	}
}

func TestARetryStartsAProgramAfresh(t *testing.T) {
	w := newWorld(t)
	var r ran
	asked := w.start(graph(agent(&r, func(_ context.Context, c *Call) (Result, error) {
		return Result{Interrupts: keyed("ok")}, nil
	})), nil)
	out := w.answer(asked.Thread, to("ok", "retry", "from the top"))
	if out.Status != checkpoint.Interrupted || out.Questions[0].Round != 2 || out.Questions[0].Previous.Feedback != "from the top" {
		t.Errorf("%+v", out.Questions)
	}
	if diff := cmp.Diff(`agent@2 in {} answers [] open [] prior null`, r.all()[1]); diff != "" {
		t.Error(diff)
	}
}

// TestARetryRoutedToAProducer: what waits downstream is superseded, arrivals from there are dropped, and the new
// question links to the old one.
func TestARetryRoutedToAProducer(t *testing.T) { eachStore(t, testARetryRoutedToAProducer) }

func testARetryRoutedToAProducer(t *testing.T, w *world) {
	var r ran
	content := plainQuestion
	content.ContentKey = "text"
	draft := node("draft", noted(&r, func(_ context.Context, c *Call) (Result, error) {
		feedback := ""
		answers, _ := c.Scope.Lookup("answers")
		if review, ok := answers.Any().(map[string]any)["review"].(map[string]any); ok {
			feedback = review["comment"].(string)
		}
		return Result{Updates: map[string]Value{"text": text("draft" + feedback)}}, nil
	}), "review", "legal", "fast")
	review := node("review", asks(content), "join")
	review.Routes = map[string][]string{"retry": {"draft"}}
	g := graph(draft, review, node("legal", asks(plainQuestion), "join"), node("fast", gives("fast"), "join"), node("join", inputs(&r)))
	g.Nodes[4].Join = JoinAll
	asked := w.start(g, nil)
	if len(asked.Questions) != 2 {
		t.Fatalf("%+v", asked.Error)
	}
	first := asked.Questions[0]
	out := w.answer(asked.Thread, to("review", "retry", ", shorter"))
	if diff := cmp.Diff([]string{"review", "legal"}, addressesOf(out)); diff != "" {
		t.Fatal(diff)
	}
	q := out.Questions[0]
	want := &checkpoint.Previous{ID: first.ID, Feedback: ", shorter", By: "ana", Content: js("draft")}
	if diff := cmp.Diff(want, q.Previous); diff != "" || q.Round != 2 || string(q.Question.Content) != `"draft, shorter"` {
		t.Errorf("round %d, %s, content %s", q.Round, diff, q.Question.Content)
	}
	if q := out.Questions[1]; q.ID == asked.Questions[1].ID || q.Path != "main@1/legal@2" || q.Round != 2 {
		t.Errorf("legal was not superseded: %+v", q.Interrupt)
	}
	if out := w.answer(asked.Thread, to("review", "approve"), to("legal", "approve")); out.Status != checkpoint.Done {
		t.Fatalf("%+v", out)
	}
	if diff := cmp.Diff([]string{"draft@1", "draft@2", `join@1 {"fast":"fast","legal":true,"review":"draft, shorter"}`}, r.all()); diff != "" {
		t.Error(diff)
	}
}

func TestIdempotencyKeys(t *testing.T) {
	w := newWorld(t)
	var keys []string
	broken := true
	g := graph(node("ask", asks(plainQuestion), "work"), node("work", func(_ context.Context, c *Call) (Result, error) {
		keys = append(keys, c.IdempotencyKey)
		if broken {
			return Result{}, errors.New("boom")
		}
		return Result{}, nil
	}))
	g.Nodes[1].Retry.MaxAttempts = 2
	thread := w.start(g, nil).Thread
	w.answer(thread, say("approve"))
	w.Resume(t.Context(), ResumeRequest{Thread: thread})
	if len(keys) != 4 || keys[0] != keys[1] || keys[0] != keys[2] || len(keys[0]) != 32 {
		t.Fatalf("repetitions have other keys: %v", keys)
	}
	if _, err := w.Edit(t.Context(), EditRequest{Thread: thread, Updates: map[string]json.RawMessage{"x": js(1)}, By: "ana"}); err != nil {
		t.Fatal(err)
	}
	broken = false
	w.Resume(t.Context(), ResumeRequest{Thread: thread})
	if keys[4] == keys[0] {
		t.Error("after an edit the key is the same")
	}
}
