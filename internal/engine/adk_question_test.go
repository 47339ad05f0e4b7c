package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// adkQuestions are the first half of section A: who waits for what.
func adkQuestions() []adkCase {
	return []adkCase{
		{[]int{1, 25}, "the second of three pauses; its answer is the input of the third, in the same thread", "", func(t *testing.T, w *world) {
			var r ran
			asked := w.start(graph(node("a", noted(&r, gives("a")), "b"), node("b", noted(&r, asks(plainQuestion)), "c"), node("c", inputs(&r))), nil)
			w.open(asked, "b")
			if out := w.elsewhere(asked.Thread, say("respond", "hello")); out.Status != checkpoint.Done || out.Thread != asked.Thread {
				t.Errorf("%+v", out)
			}
			r.was(t, "a@1", "b@1", `c@1 "hello"`)
		}},
		{[]int{2}, "a question carries its message and schema; the object that answers it is the output", "", func(t *testing.T, w *world) {
			var r ran
			asked := w.start(graph(node("ask", noted(&r, asks(numberForm())), "next"), node("next", inputs(&r))), nil)
			q := asked.Questions[0].Question
			if q.Message != "How many?" || q.Content != nil || !cmp.Equal(q.Schema, numberForm().Schema) {
				t.Errorf("asked %+v", q)
			}
			w.answer(asked.Thread, say("submit", map[string]any{"n": 7, "of": "eggs"}))
			r.was(t, "ask@1", `next@1 {"n":7,"of":"eggs"}`)
		}},
		{[]int{3, 18, 20}, "a program runs once more, with its input, its run id and the answer", "", func(t *testing.T, w *world) {
			var r ran
			asked := w.start(graph(node("a", gives("from a"), "agent"), agent(&r, asker("q"))), nil)
			if out := w.elsewhere(asked.Thread, say("respond", "yes")); out.Status != checkpoint.Done {
				t.Fatalf("%+v", out)
			}
			r.was(t, `agent@1 in "from a" answers [] open [] prior null`, `agent@1 in "from a" answers [q=respond:"yes"] open [] prior null`)
		}},
		{[]int{4, 5, 35}, "one question after the other, each turn another process; the last sees both answers and is delivered once", "", func(t *testing.T, w *world) {
			var r ran
			asked := w.start(graph(agent(&r, func(_ context.Context, c *Call) (Result, error) {
				if len(c.Resume) < 2 {
					return Result{Interrupts: keyed(fmt.Sprintf("q%d", len(c.Resume)+1))}, nil
				}
				return Result{Output: text("both")}, nil
			}, "end"), node("end", inputs(&r))), nil)
			w.open(asked, "agent.q1")
			w.open(w.elsewhere(asked.Thread, to("q1", "respond", "one")), "agent.q2")
			w.open(w.elsewhere(asked.Thread, to("q2", "respond", "two")))
			r.was(t, `agent@1 in {} answers [] open [] prior null`, `agent@1 in {} answers [q1=respond:"one"] open [] prior null`,
				`agent@1 in {} answers [q1=respond:"one" q2=respond:"two"] open [] prior null`, `end@1 "both"`)
		}},
		{[]int{6}, "a program with two questions runs again with each answer",
			"the seed's table: what re-runs does so at once with partial answers. Later versions of ADK wait for all that are the node's own; a program here waits by asking again", func(t *testing.T, w *world) {
				var r ran
				asked := w.start(graph(agent(&r, func(_ context.Context, c *Call) (Result, error) {
					return Result{Interrupts: keyed("q1", "q2")[len(c.Resume):]}, nil
				})), nil)
				w.open(w.elsewhere(asked.Thread, to("q1", "approve")), "agent.q2")
				w.open(w.elsewhere(asked.Thread, to("q2", "approve")))
				r.was(t, `agent@1 in {} answers [] open [] prior null`, `agent@1 in {} answers [q1=approve:true] open [q2] prior null`,
					`agent@1 in {} answers [q1=approve:true q2=approve:true] open [] prior null`)
			}},
		{[]int{7, 8}, "a plain node waits for both answers and then completes without running: a map of id and answer", "", func(t *testing.T, w *world) {
			var r ran
			asked := w.start(graph(node("form", noted(&r, several("a", "b")), "end"), node("end", inputs(&r))), nil)
			w.open(w.elsewhere(asked.Thread, to("a", "respond", "A")), "form.b")
			r.was(t, "form@1")
			w.elsewhere(asked.Thread, to("b", "respond", "B"))
			r.was(t, "form@1", `end@1 {"a":"A","b":"B"}`)
		}},
		{[]int{9}, "an output beside a question is stored and triggers nothing yet", "", func(t *testing.T, w *world) {
			var r ran
			asked := w.start(graph(agent(&r, func(_ context.Context, c *Call) (Result, error) {
				if len(c.Resume) > 0 {
					return Result{}, nil
				}
				return Result{Output: text("early"), Updates: map[string]Value{"x": text("held")}, Interrupts: keyed("q")}, nil
			}, "b"), node("b", inputs(&r))), nil)
			if w.state(asked.Thread)["x"] != "" {
				t.Errorf("state %v", w.state(asked.Thread))
			}
			w.elsewhere(asked.Thread, say("approve"))
			r.was(t, `agent@1 in {} answers [] open [] prior null`, `agent@1 in {} answers [q=approve:true] open [] prior "early"`, `b@1 "early"`)
		}},
		{[]int{16}, "every asking has an id of its own, a UUIDv7; the name its asker gave it is kept beside it",
			"an id given by the asker is the key: the id is always new, so that a key asked again in a loop is another question", func(t *testing.T, w *world) {
				asked := w.start(graph(node("s", passes, "a", "b"), node("a", several("mine")), node("b", asks(plainQuestion))), nil)
				w.open(asked, "a.mine", "b")
				for _, q := range asked.Questions {
					if id, err := uuid.Parse(q.ID); err != nil || id.Version() != 7 {
						t.Errorf("id %s: %v", q.ID, err)
					}
				}
				if q := asked.Questions; q[0].Key != "mine" || q[1].Key != "" || q[0].ID == q[1].ID {
					t.Errorf("%+v", q)
				}
				again := w.answer(asked.Thread, to("mine", "retry"))
				if w.open(again, "b", "a.mine"); again.Questions[1].ID == asked.Questions[0].ID {
					t.Error("the new question has the id of the old")
				}
			}},
		{[]int{17}, "a node that asks and fails has failed", "", func(t *testing.T, w *world) {
			out := w.start(graph(node("a", func(context.Context, *Call) (Result, error) {
				return Result{Interrupts: keyed("q")}, errors.New("boom")
			})), nil)
			if w.open(out); out.Status != checkpoint.Failed {
				t.Errorf("%+v", out)
			}
		}},
	}
}

// adkAnswers are the second half: what an answer may be.
func adkAnswers() []adkCase {
	// continued is what a question without a schema gives for data.
	continued := func(w *world, data any) string {
		ask := node("ask", asks(actions.Question{Message: "Well?", Actions: everyAction}))
		ask.Output = keeps("out")
		return w.state(w.answer(w.start(graph(ask), nil).Thread, say("continue", data)).Thread)["out"]
	}
	filled := func(w *world, data any) (*Outcome, error) {
		ask := node("ask", asks(numberForm()))
		ask.Output = keeps("out")
		asked := w.start(graph(ask), nil)
		return w.Resume(w.Context(), ResumeRequest{Thread: asked.Thread, Answers: []Answer{say("submit", data)}})
	}
	const noEnvelope = "data is the answer itself, so nothing is wrapped and nothing is unwrapped by guess: a value changes its type only where a schema asks for it"
	return []adkCase{
		{[]int{10, 11}, "the next node gets the bare text, an object unchanged", noEnvelope, func(t *testing.T, w *world) {
			for _, x := range []struct {
				data any
				want string
			}{{"hello world", `"hello world"`}, {map[string]any{"name": "Al", "age": 3}, `{"age":3,"name":"Al"}`}, {map[string]any{"result": "hello"}, `{"result":"hello"}`}} {
				if got := continued(w, x.data); got != x.want {
					t.Errorf("%v gave %s, want %s", x.data, got, x.want)
				}
			}
		}},
		{[]int{12}, "a text that looks like JSON stays a text without a schema, and becomes what a schema asks for", noEnvelope, func(t *testing.T, w *world) {
			for _, data := range []string{`{"approved": false}`, "42", "true", "plain"} {
				if got, want := continued(w, data), string(js(data)); got != want {
					t.Errorf("%s gave %s", want, got)
				}
			}
			out, err := filled(w, map[string]any{"n": "42", "of": "42"})
			if err != nil || w.state(out.Thread)["out"] != `{"n":42,"of":"42"}` {
				t.Errorf("%v, %+v", err, out)
			}
		}},
		{[]int{13}, "bad data is refused, the question named, and nothing is changed: plain, of a program, nested", "", func(t *testing.T, w *world) {
			program := func(context.Context, *Call) (Result, error) {
				return Result{Interrupts: []Ask{{Key: "q", Payload: js(numberForm())}}}, nil
			}
			for name, g := range map[string]*Graph{
				"ask":       graph(node("ask", asks(numberForm()))),
				"agent.q":   graph(rerun(node("agent", program))),
				"inner/ask": graph(inside("inner", graph(node("ask", asks(numberForm()))), nil)),
			} {
				asked := w.start(g, nil)
				_, err := w.Resume(t.Context(), ResumeRequest{Thread: asked.Thread, Answers: []Answer{say("submit", map[string]any{"n": "abc"})}})
				if err == nil || !strings.Contains(err.Error(), name+":") {
					t.Errorf("%s: %v", name, err)
				}
				now, err := w.Open(t.Context(), asked.Thread)
				if err != nil || now.Version != asked.Version || len(w.outcomes(asked.Thread)) != 0 {
					t.Errorf("%s: %v, it moved to %+v", name, err, now)
				}
			}
		}},
		{[]int{14}, "scalars are coerced to what the schema asks for", "", func(t *testing.T, w *world) {
			if out, err := filled(w, map[string]any{"n": "42"}); err != nil || w.state(out.Thread)["out"] != `{"n":42}` {
				t.Errorf("%v, %+v", err, out)
			}
		}},
		{[]int{15}, "after a refused answer a corrected one succeeds", "", func(t *testing.T, w *world) {
			var r ran
			asked := w.start(graph(node("ask", asks(numberForm()), "next"), node("next", inputs(&r))), nil)
			for _, n := range []any{"abc", 1.5, nil} {
				if _, err := w.Resume(t.Context(), ResumeRequest{Thread: asked.Thread, Answers: []Answer{say("submit", map[string]any{"n": n})}}); err == nil {
					t.Errorf("%v was accepted", n)
				}
			}
			w.answer(asked.Thread, say("submit", map[string]any{"n": 5}))
			r.was(t, `next@1 {"n":5}`)
		}},
	}
}
