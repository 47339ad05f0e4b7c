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
)

// adkCase is one or more of the 89 conformance cases of ADK's resume lifecycle, by the numbers of the list kept with the
// design, as a declared graph can say them.
type adkCase struct {
	numbers []int
	says    string
	instead string // why the outcome here is another than the original's; "" where it is the same
	run     func(t *testing.T, w *world)
}

// adkCases are all of them, by the sections of the list.
func adkCases() map[string][]adkCase {
	return map[string][]adkCase{
		"question": adkQuestions(), "answer": adkAnswers(), "identity": adkIdentity(), "thread": adkThreads(), "branches": adkBranches(),
		"routes": adkRoutes(), "nested": adkNested(), "children": adkChildren(), "map": adkMaps(), "units": adkUnits(),
		"failure": adkFailures(), "consent": adkConsent(),
	}
}

// adkNotExpressible are the cases that speak of what a declared graph does not have.
func adkNotExpressible() map[int]string {
	return map[int]string{
		32: "a response is one action and its data: there is no message with a text part that could stand beside it",
		66: "run ids are counted by the scheduler, and nobody chooses one (21 has the counting)",
		67: "no node runs another by a call: what a node leads to is declared, and checked when the file is loaded",
		68: "no node waits for an output to come: one that ends without output has completed with null, and what waits asks or sleeps",
		69: "no node is called, so no two calls can share one execution: a path is dispatched once",
		75: "a run asks by what it returns: there is no moment between its question and its end",
		87: "branches filter the history a model sees; a question here belongs to the path that asked it, wherever that runs",
	}
}

// TestAdk holds the engine to each case, over memory and SQLite.
func TestAdk(t *testing.T) {
	for section, cases := range adkCases() {
		t.Run(section, func(t *testing.T) {
			for _, c := range cases {
				name := strings.ReplaceAll(strings.Trim(fmt.Sprint(c.numbers), "[]"), " ", ", ")
				t.Run(name+": "+c.says, func(t *testing.T) { eachStore(t, c.run) })
			}
		})
	}
}

// TestAdkIsComplete counts: each of the 89 cases is tested or is listed with the reason why it cannot be, and none is both.
func TestAdkIsComplete(t *testing.T) {
	tested := map[int]bool{}
	for section, cases := range adkCases() {
		for _, c := range cases {
			for _, n := range c.numbers {
				tested[n] = true
			}
			if c.says == "" || c.run == nil || len(c.numbers) == 0 {
				t.Errorf("%s: a case without numbers, words or test: %v", section, c.numbers)
			}
		}
	}
	listed := adkNotExpressible()
	for n := 1; n <= 89; n++ {
		if tested[n] == (listed[n] != "") {
			t.Errorf("case %d: tested %v, listed as not expressible %v", n, tested[n], listed[n] != "")
		}
	}
	for n := range maps.Keys(tested) {
		if n < 1 || n > 89 {
			t.Errorf("there is no case %d", n)
		}
	}
}

// asker is a program that asks key until it has an answer to it, and then gives the answer's value.
func asker(key string) RunnerFunc {
	return func(_ context.Context, c *Call) (Result, error) {
		if rec, ok := c.Resume[key]; ok {
			return Result{Output: RawValue(rec.Value)}, nil
		}
		return Result{Interrupts: keyed(key)}, nil
	}
}

// rerun makes a node one whose program runs again with its answers.
func rerun(n *Node) *Node {
	n.RerunOnResume = true
	return n
}

// numberForm asks for an object with a whole number n.
func numberForm() actions.Question {
	return actions.Question{Kind: actions.FormKind, Message: "How many?", Schema: js(map[string]any{
		"type": "object", "properties": map[string]any{"n": map[string]any{"type": "integer"}, "of": map[string]any{"type": "string"}}})}
}

// elsewhere answers in another process.
func (w *world) elsewhere(thread string, answers ...Answer) *Outcome {
	w.Helper()
	out, err := w.engine(nil).Resume(context.Background(), ResumeRequest{Thread: thread, Answers: answers, By: "ana"})
	if err != nil {
		w.Fatalf("resume: %v", err)
	}
	return out
}

// was fails the test unless the calls were these, in this order.
func (r *ran) was(t *testing.T, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, r.all()); diff != "" {
		t.Errorf("what ran (-want +got):\n%s", diff)
	}
}

// open fails the test unless these are the open questions.
func (w *world) open(out *Outcome, want ...string) {
	w.Helper()
	if got := addressesOf(out); !slices.Equal(got, want) {
		w.Fatalf("%s, open are %v, want %v; %+v", out.Status, got, want, out.Error)
	}
}
