package engine

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// besides is a graph in which one branch fails until it is mended while another asks.
func besides(mended *bool, q actions.Question) *Graph {
	bad := func(context.Context, *Call) (Result, error) {
		if !*mended {
			return Result{}, errors.New("boom")
		}
		return Result{}, nil
	}
	g := graph(node("bad", bad, "worked"), node("worked", writes("worked", true)), node("ask", asks(q), "said"), node("said", writes("said", true)))
	g.Start = []string{"bad", "ask"}
	return g
}

// TestCarryOnRunsWhatFailedAndAnswersNothing: at the root, in map items and in nested workflows, beside questions and beside
// timers, and together with an upgrade; the questions stay as they were, whatever they allow.
func TestCarryOnRunsWhatFailedAndAnswersNothing(t *testing.T) {
	sleeps := func(mended *bool) *Graph {
		g := besides(mended, plainQuestion)
		g.Nodes[2].Runner = RunnerFunc(func(_ context.Context, c *Call) (Result, error) {
			return Result{WakeAt: c.Now().Add(time.Hour)}, nil
		})
		return g
	}
	for name, c := range map[string]struct {
		build  func(mended *bool) *Graph
		status checkpoint.Status
		open   []string
	}{
		"root":   {func(m *bool) *Graph { return besides(m, plainQuestion) }, checkpoint.Interrupted, []string{"ask"}},
		"nested": {func(m *bool) *Graph { return graph(inside("sub", besides(m, plainQuestion), nil)) }, checkpoint.Interrupted, []string{"sub/ask"}},
		"items": {func(m *bool) *Graph { return graph(each("each", "list", besides(m, plainQuestion))) }, checkpoint.Interrupted,
			[]string{"each/0/ask", "each/1/ask"}},
		"timer": {sleeps, checkpoint.Sleeping, nil},
	} {
		for _, upgrade := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				w := newWorld(t)
				mended := false
				out := w.start(c.build(&mended), map[string]any{"list": []any{1, 2}})
				ids := js(idsOf(out))
				if out.Error == nil || out.Status != c.status {
					t.Fatalf("%s %v", out.Status, out.Error)
				}
				mended = true
				r := ResumeRequest{Thread: out.Thread, CarryOn: true, By: "ana"}
				if upgrade {
					d := w.shelf.put(c.build(&mended))
					r.Upgrade = &d
				}
				if err := w.Check(t.Context(), r); err != nil {
					t.Errorf("check: %v", err)
				}
				out, err := w.Resume(t.Context(), r)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(c.open, addressesOf(out)); diff != "" || out.Error != nil || out.Status != c.status {
					t.Errorf("%s %v %s", out.Status, out.Error, diff)
				}
				if got := js(idsOf(out)); string(got) != string(ids) {
					t.Errorf("the questions were %s and are %s", ids, got)
				}
				if got := w.outcomes(out.Thread); !upgrade && len(got) > 0 {
					t.Errorf("decisions %v", got)
				}
				_, err = w.Resume(t.Context(), ResumeRequest{Thread: out.Thread, CarryOn: true})
				if !errors.Is(err, ErrNotWaiting) || !strings.Contains(err.Error(), "nothing has failed") {
					t.Errorf("with nothing to carry on: %v", err)
				}
			})
		}
	}
}

func idsOf(out *Outcome) (ids []string) {
	for _, q := range out.Questions {
		ids = append(ids, q.ID)
	}
	return ids
}

// TestCarryOnTakesNoAnswers, and of the other threads those that it always carried on.
func TestCarryOnTakesNoAnswers(t *testing.T) {
	w := newWorld(t)
	mended := false
	out := w.start(besides(&mended, plainQuestion), nil)
	_, err := w.Resume(t.Context(), ResumeRequest{Thread: out.Thread, CarryOn: true, Answers: []Answer{say("approve")}})
	if err == nil || !strings.Contains(err.Error(), "answers nothing") {
		t.Errorf("%v", err)
	}
	failed := w.start(graph(besides(&mended, plainQuestion).Nodes[:2]...), nil)
	mended = true
	if out, err := w.Resume(t.Context(), ResumeRequest{Thread: failed.Thread, CarryOn: true}); err != nil || out.Status != checkpoint.Done {
		t.Errorf("%+v, %v", out, err)
	}
}

// TestABareAnswerThatIsRefusedNamesCarryOn: who says nothing to a thread that has a failure beside its question may have
// meant the failure.
func TestABareAnswerThatIsRefusedNamesCarryOn(t *testing.T) {
	w := newWorld(t)
	mended := false
	q := actions.Question{Kind: actions.Approval, Message: "Well?", Actions: []actions.Action{"approve"}}
	one := w.start(besides(&mended, q), nil)
	two := w.start(graph(inside("a", besides(&mended, q), nil), node("b", asks(q))), nil)
	three := besides(&mended, q)
	three.Nodes = append(three.Nodes, node("more", asks(q)))
	three.Start = append(three.Start, "more")
	several := w.start(three, nil)
	for _, out := range []*Outcome{one, two, several} {
		_, err := w.Resume(t.Context(), ResumeRequest{Thread: out.Thread, Answers: []Answer{{}}})
		if err == nil || !strings.Contains(err.Error(), "--carry-on") || !strings.Contains(err.Error(), "bad failed") {
			t.Errorf("%v", err)
		}
		_, err = w.Resume(t.Context(), ResumeRequest{Thread: out.Thread, Answers: []Answer{{Action: "skip"}}})
		if err == nil || strings.Contains(err.Error(), "--carry-on") {
			t.Errorf("an answer that says something: %v", err)
		}
	}
}
